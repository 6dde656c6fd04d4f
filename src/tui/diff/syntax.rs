//! Colours for code, by families of languages: comments, strings, numbers and keywords.
//!
//! A lexer of this size is right for most lines, and a wrong colour harms nobody. A whole grammar for each
//! language would be larger than the rest of the program.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::tui) enum Class {
    Plain,
    Comment,
    Text,
    Number,
    Keyword,
    Type,
}

/// The end of a part of a line, in bytes, and its class.
pub(in crate::tui) type Part = (usize, Class);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::tui) struct Language {
    line_comments: &'static [&'static str],
    block_comment: Option<(&'static str, &'static str)>,
    quotes: &'static str,
    /// Begin and end a text that goes over several lines.
    long_quotes: &'static [&'static str],
    /// A single quote begins a character, or a lifetime.
    characters: bool,
    /// Capitalised words are types.
    types: bool,
    keywords: &'static [&'static str],
}

/// What is open at the end of a line: the sequence that closes it, and its class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in crate::tui) struct Open(Option<(&'static str, Class)>);

const C_WORDS: &[&str] = &[
    "abstract",
    "as",
    "async",
    "auto",
    "await",
    "bool",
    "boolean",
    "break",
    "byte",
    "case",
    "catch",
    "chan",
    "char",
    "class",
    "const",
    "constexpr",
    "continue",
    "crate",
    "default",
    "defer",
    "delete",
    "do",
    "double",
    "dyn",
    "else",
    "enum",
    "export",
    "extends",
    "extern",
    "false",
    "final",
    "finally",
    "float",
    "fn",
    "for",
    "from",
    "func",
    "function",
    "go",
    "goto",
    "if",
    "impl",
    "implements",
    "import",
    "in",
    "inline",
    "int",
    "interface",
    "internal",
    "is",
    "let",
    "long",
    "loop",
    "map",
    "match",
    "mod",
    "move",
    "mut",
    "namespace",
    "new",
    "nil",
    "null",
    "nullptr",
    "of",
    "operator",
    "override",
    "package",
    "private",
    "protected",
    "pub",
    "public",
    "range",
    "readonly",
    "ref",
    "return",
    "select",
    "self",
    "short",
    "signed",
    "sizeof",
    "static",
    "struct",
    "super",
    "switch",
    "template",
    "this",
    "throw",
    "throws",
    "trait",
    "true",
    "try",
    "type",
    "typedef",
    "typeof",
    "undefined",
    "union",
    "unsafe",
    "unsigned",
    "use",
    "using",
    "val",
    "var",
    "virtual",
    "void",
    "volatile",
    "when",
    "where",
    "while",
    "with",
    "yield",
];
const SCRIPT_WORDS: &[&str] = &[
    "and", "as", "assert", "async", "await", "begin", "break", "case", "class", "continue", "def",
    "del", "do", "done", "elif", "else", "elsif", "end", "ensure", "esac", "except", "exit",
    "export", "false", "False", "fi", "finally", "for", "from", "function", "global", "if",
    "import", "in", "is", "lambda", "local", "module", "nil", "None", "nonlocal", "not", "null",
    "or", "pass", "raise", "readonly", "require", "rescue", "return", "self", "set", "shift",
    "source", "then", "true", "True", "try", "unless", "until", "when", "while", "with", "yield",
];
const SQL_WORDS: &[&str] = &[
    "ADD",
    "ALL",
    "ALTER",
    "AND",
    "AS",
    "ASC",
    "BEGIN",
    "BETWEEN",
    "BY",
    "CASE",
    "COMMIT",
    "CREATE",
    "DEFAULT",
    "DELETE",
    "DESC",
    "DISTINCT",
    "DROP",
    "ELSE",
    "END",
    "EXISTS",
    "FROM",
    "FUNCTION",
    "GROUP",
    "HAVING",
    "IF",
    "IN",
    "INDEX",
    "INSERT",
    "INTO",
    "IS",
    "JOIN",
    "KEY",
    "LEFT",
    "LIKE",
    "LIMIT",
    "NOT",
    "NULL",
    "ON",
    "OR",
    "ORDER",
    "PRIMARY",
    "REFERENCES",
    "RETURN",
    "ROLLBACK",
    "SELECT",
    "SET",
    "TABLE",
    "THEN",
    "UNION",
    "UNIQUE",
    "UPDATE",
    "VALUES",
    "VIEW",
    "WHEN",
    "WHERE",
    "WITH",
    "and",
    "do",
    "else",
    "elseif",
    "end",
    "for",
    "function",
    "if",
    "in",
    "let",
    "local",
    "module",
    "nil",
    "not",
    "of",
    "or",
    "repeat",
    "return",
    "then",
    "type",
    "until",
    "where",
    "while",
];

const C: Language = Language {
    line_comments: &["//"],
    block_comment: Some(("/*", "*/")),
    quotes: "\"",
    long_quotes: &[],
    characters: true,
    types: true,
    keywords: C_WORDS,
};
const SCRIPT: Language = Language {
    line_comments: &["#"],
    block_comment: None,
    quotes: "\"'",
    long_quotes: &[],
    characters: false,
    types: false,
    keywords: SCRIPT_WORDS,
};
const PLAIN: Language = Language {
    line_comments: &[],
    block_comment: None,
    quotes: "",
    long_quotes: &[],
    characters: false,
    types: false,
    keywords: &[],
};

/// The language of a file, by its name.
pub(in crate::tui) fn language(path: &str) -> Language {
    let name = path.rsplit('/').next().unwrap_or(path);
    let ending = name.rsplit_once('.').map_or(name, |(_, ending)| ending);
    match ending.to_ascii_lowercase().as_str() {
        "rs" | "c" | "h" | "cc" | "cpp" | "cxx" | "hh" | "hpp" | "java" | "cs" | "zig"
        | "proto" | "m" | "mm" | "d" | "v" | "sv" => C,
        "go" | "js" | "mjs" | "cjs" | "jsx" | "ts" | "mts" | "tsx" | "kt" | "kts" | "swift"
        | "scala" | "dart" | "php" | "groovy" | "gradle" | "svelte" | "vue" | "jsonc" | "json5" => {
            Language {
                quotes: "\"'",
                long_quotes: &["`", "\"\"\""],
                characters: false,
                ..C
            }
        }
        "css" | "scss" | "less" => Language {
            quotes: "\"'",
            characters: false,
            types: false,
            keywords: &[],
            ..C
        },
        "py" | "pyi" | "bzl" | "star" => Language {
            long_quotes: &["\"\"\"", "'''"],
            types: true,
            ..SCRIPT
        },
        "rb" | "sh" | "bash" | "zsh" | "fish" | "pl" | "pm" | "r" | "jl" | "ex" | "exs" | "tcl"
        | "makefile" | "mk" | "cmake" | "dockerfile" | "justfile" | "nix" | "tf" | "hcl" => SCRIPT,
        "toml" | "yaml" | "yml" | "ini" | "conf" | "cfg" | "env" | "properties" | "gitignore"
        | "gitattributes" => Language {
            long_quotes: &["\"\"\""],
            keywords: &["true", "false", "null", "yes", "no", "on", "off"],
            ..SCRIPT
        },
        "json" | "lock" => Language {
            quotes: "\"",
            keywords: &["true", "false", "null"],
            ..PLAIN
        },
        "sql" | "lua" | "hs" | "elm" | "ada" | "adb" | "vhd" => Language {
            line_comments: &["--"],
            block_comment: Some(("/*", "*/")),
            quotes: "\"'",
            keywords: SQL_WORDS,
            ..PLAIN
        },
        "html" | "htm" | "xml" | "svg" | "xhtml" => Language {
            block_comment: Some(("<!--", "-->")),
            quotes: "\"",
            ..PLAIN
        },
        "el" | "clj" | "cljs" | "scm" | "lisp" | "rkt" => Language {
            line_comments: &[";"],
            quotes: "\"",
            keywords: &[
                "def", "defn", "defun", "fn", "if", "lambda", "let", "nil", "t",
            ],
            ..PLAIN
        },
        _ => PLAIN,
    }
}

/// The parts of a line. `open` is what the line before has left open.
pub(in crate::tui) fn parts(language: Language, line: &str, open: &mut Open) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    let mut add = |end: usize, class: Class| match parts.last_mut() {
        Some((last, known)) if *known == class => *last = end,
        _ if end > 0 => parts.push((end, class)),
        _ => {}
    };
    let mut at = 0;
    while let Some(rest) = line.get(at..).filter(|rest| !rest.is_empty()) {
        if let Some((close, class)) = open.0 {
            let end = rest.find(close).map(|found| found + close.len());
            at += end.unwrap_or(rest.len());
            add(at, class);
            if end.is_none() {
                return parts;
            }
            open.0 = None;
            continue;
        }
        if language
            .line_comments
            .iter()
            .any(|mark| begins_comment(line, at, mark))
        {
            add(line.len(), Class::Comment);
            return parts;
        }
        if let Some((begin, close)) = language.block_comment.filter(|it| rest.starts_with(it.0)) {
            at += begin.len();
            add(at, Class::Comment);
            open.0 = Some((close, Class::Comment));
            continue;
        }
        if let Some(quote) = language
            .long_quotes
            .iter()
            .find(|it| rest.starts_with(**it))
        {
            at += quote.len();
            add(at, Class::Text);
            open.0 = Some((quote, Class::Text));
            continue;
        }
        let Some(first) = rest.chars().next() else {
            return parts;
        };
        let (length, class) = token(language, rest, first);
        at += length;
        add(at, class);
    }
    parts
}

/// A `#` inside a word or behind `$` is none.
fn begins_comment(line: &str, at: usize, mark: &str) -> bool {
    let before = line.get(..at).and_then(|before| before.chars().next_back());
    line.get(at..).is_some_and(|rest| rest.starts_with(mark))
        && (mark != "#" || before.is_none_or(char::is_whitespace))
}

fn token(language: Language, rest: &str, first: char) -> (usize, Class) {
    if language.quotes.contains(first) {
        return (quoted(rest, first), Class::Text);
    }
    if first == '\'' && language.characters {
        // A character is short and closed; everything else is a lifetime.
        let length = quoted(rest, '\'');
        let inner = rest
            .get(1..length)
            .and_then(|text| text.strip_suffix('\''))
            .unwrap_or_default();
        let one = inner.chars().count() == 1 || (inner.starts_with('\\') && inner.len() <= 10);
        return if one {
            (length, Class::Text)
        } else {
            (1, Class::Plain)
        };
    }
    if first.is_ascii_digit() {
        let end =
            rest.find(|letter: char| !letter.is_alphanumeric() && letter != '.' && letter != '_');
        return (end.unwrap_or(rest.len()), Class::Number);
    }
    if first.is_alphabetic() || first == '_' {
        let end = rest.find(|letter: char| !letter.is_alphanumeric() && letter != '_');
        let word = rest.get(..end.unwrap_or(rest.len())).unwrap_or(rest);
        let class = match () {
            () if language.keywords.contains(&word) => Class::Keyword,
            () if language.types && first.is_uppercase() => Class::Type,
            () => Class::Plain,
        };
        return (word.len(), class);
    }
    (first.len_utf8(), Class::Plain)
}

/// The length of a quoted text, to the end of the line if it is not closed.
fn quoted(rest: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, letter) in rest.char_indices().skip(1) {
        if escaped {
            escaped = false;
        } else if letter == '\\' {
            escaped = true;
        } else if letter == quote {
            return at + letter.len_utf8();
        }
    }
    rest.len()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn shown(path: &str, lines: &[&str]) -> Vec<String> {
        let mut open = Open::default();
        let one = |line: &&str| {
            let mut from = 0;
            let mut text = String::new();
            for (end, class) in parts(language(path), line, &mut open) {
                let mark = match class {
                    Class::Plain => "",
                    Class::Comment => "c",
                    Class::Text => "t",
                    Class::Number => "n",
                    Class::Keyword => "k",
                    Class::Type => "T",
                };
                text.push_str(&format!("{mark}{}|", &line[from..end]));
                from = end;
            }
            text
        };
        lines.iter().map(one).collect()
    }

    #[test]
    fn each_family_has_its_comments_and_texts() {
        assert_eq!(
            shown(
                "a.rs",
                &["let x: &'a Str = 'b'; // \"no\"", "/* one", "two */ 0x1f"]
            ),
            [
                "klet| x: &'a |TStr| = |t'b'|; |c// \"no\"|",
                "c/* one|",
                "ctwo */| |n0x1f|"
            ]
        );
        assert_eq!(
            shown(
                "a.py",
                &["def f(): \"\"\"doc", "still\"\"\" # x", "a = '#'"]
            ),
            [
                "kdef| f(): |t\"\"\"doc|",
                "tstill\"\"\"| |c# x|",
                "a = |t'#'|"
            ]
        );
        assert_eq!(shown("x.sh", &["echo $# it's"]), ["echo $# it|t's|"]);
        assert_eq!(
            shown("x.json", &["{\"a\\\"b\": true}"]),
            ["{|t\"a\\\"b\"|: |ktrue|}|"]
        );
        assert_eq!(shown("notes.txt", &["if 1"]), ["if |n1|"]);
    }

    proptest! {
        #[test]
        fn every_byte_has_one_class(lines in prop::collection::vec("\\PC{0,40}", 0..6), ending in "rs|py|js|sql|html|el|x") {
            let mut open = Open::default();
            for line in &lines {
                let parts = parts(language(&format!("f.{ending}")), line, &mut open);
                let mut from = 0;
                for (end, _) in &parts {
                    prop_assert!(*end > from);
                    prop_assert!(line.is_char_boundary(*end));
                    from = *end;
                }
                prop_assert_eq!(from, line.len());
            }
        }
    }
}
