//! The strict parser: commands that can be read in one way only.
//!
//! Only what it reads can be accepted: words, quotes without expansions, `&&`, `||`, `;`, `|`, line ends
//! and redirections to nowhere. It knows a small part of the shell on purpose. A text beyond that is not
//! an error; it is not plain.

/// A longer text is never accepted: it is also too long to read in a dialog.
const LONGEST: usize = 2_000;

/// One command with its arguments.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Simple {
    /// `NAME=value` before the program.
    pub assignments: Vec<(String, String)>,
    pub words: Vec<PlainWord>,
    /// Whether it reads the output of the command before it.
    pub piped: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct PlainWord {
    /// Without its quotes.
    pub text: String,
    /// Has an unquoted `*`, `?` or `[`.
    pub glob: bool,
    /// A part of it was quoted.
    pub quoted: bool,
}

/// The commands in order, and whether each runs only if the one before it succeeded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Plain {
    pub commands: Vec<Simple>,
    pub only_and: bool,
}

/// Parses the text; the reason where it is not plain.
pub(crate) fn read(text: &str) -> Result<Plain, &'static str> {
    if text.chars().count() > LONGEST {
        return Err("it is too long to be read at a glance");
    }
    let mut reader = Reader {
        rest: text,
        commands: Vec::new(),
        current: Simple::default(),
        only_and: true,
    };
    reader.all()?;
    if reader.commands.is_empty() {
        return Err("there is no command");
    }
    Ok(Plain {
        commands: reader.commands,
        only_and: reader.only_and,
    })
}

struct Reader<'t> {
    rest: &'t str,
    commands: Vec<Simple>,
    current: Simple,
    only_and: bool,
}

impl Reader<'_> {
    fn all(&mut self) -> Result<(), &'static str> {
        loop {
            self.rest = self.rest.trim_start_matches(' ');
            if self.take("\\\n") {
                continue;
            }
            let Some(next) = self.rest.chars().next() else {
                return self.end(Ending::Text);
            };
            if next == '#' {
                let end = self.rest.find('\n').unwrap_or(self.rest.len());
                self.rest = &self.rest[end..];
            } else if self.take("\n") {
                self.end(Ending::Line)?;
            } else if self.take("&&") {
                self.end(Ending::And)?;
            } else if self.take("||") {
                self.end(Ending::Other)?;
            } else if self.rest.starts_with("|&") {
                return Err("it joins errors into a pipe");
            } else if self.take("|") {
                self.end(Ending::Pipe)?;
            } else if self.rest.starts_with(";;") {
                return Err("it has a part that is not plain");
            } else if self.take(";") {
                self.end(Ending::Line)?;
            } else if self.redirection() {
                // Redirected to nowhere: nothing to keep.
            } else {
                self.word()?;
            }
        }
    }

    fn take(&mut self, token: &str) -> bool {
        match self.rest.strip_prefix(token) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn end(&mut self, ending: Ending) -> Result<(), &'static str> {
        let command = std::mem::take(&mut self.current);
        let empty = command.words.is_empty();
        let open = command.piped;
        if empty && !command.assignments.is_empty() {
            return Err("it sets a variable");
        }
        match ending {
            Ending::Line | Ending::Text if empty && !open => return Ok(()),
            _ if empty => return Err("an operator has nothing beside it"),
            Ending::Line | Ending::Other => self.only_and = false,
            Ending::And | Ending::Pipe | Ending::Text => {}
        }
        self.commands.push(command);
        self.current.piped = ending == Ending::Pipe;
        if matches!(ending, Ending::And | Ending::Other) {
            // A line end may follow these.
            self.rest = self.rest.trim_start_matches([' ', '\n']);
            if self.rest.is_empty() {
                return Err("an operator has nothing beside it");
            }
        }
        if ending == Ending::Pipe {
            self.rest = self.rest.trim_start_matches([' ', '\n']);
        }
        Ok(())
    }

    /// `2>&1`, `>/dev/null` and the like, as words of their own.
    fn redirection(&mut self) -> bool {
        const NOWHERE: [&str; 12] = [
            "2>&1",
            "1>&2",
            ">&2",
            "2>/dev/null",
            "2> /dev/null",
            "1>/dev/null",
            "1> /dev/null",
            "&>/dev/null",
            "&> /dev/null",
            ">/dev/null",
            "> /dev/null",
            "</dev/null",
        ];
        for form in NOWHERE {
            if let Some(rest) = self.rest.strip_prefix(form)
                && rest
                    .chars()
                    .next()
                    .is_none_or(|next| " \n;|&".contains(next))
            {
                self.rest = rest;
                return true;
            }
        }
        false
    }

    fn word(&mut self) -> Result<(), &'static str> {
        let mut word = PlainWord::default();
        let mut name_end = None;
        while let Some(next) = self.rest.chars().next() {
            match next {
                ' ' | '\n' | ';' | '|' => break,
                '&' if self.rest.starts_with("&&") => break,
                '\'' => {
                    let inner = self.rest.get(1..).unwrap_or_default();
                    let (quoted, rest) = inner.split_once('\'').ok_or("a quote is not closed")?;
                    word.text.push_str(checked(quoted)?);
                    word.quoted = true;
                    self.rest = rest;
                }
                '"' => {
                    word.quoted = true;
                    self.double(&mut word.text)?;
                }
                '\\' if self.rest.starts_with("\\\n") => break,
                '=' if name_end.is_none() && !word.quoted => {
                    name_end = Some(word.text.len());
                    self.push(&mut word, next);
                }
                '*' | '?' | '[' | ']' => {
                    word.glob = true;
                    self.push(&mut word, next);
                }
                // `HEAD@{1}`, never `{a,b}`.
                '{' | '}' if word.text.contains('@') && !self.rest.contains(',') => {
                    self.push(&mut word, next);
                }
                '#' | '_' | '.' | '/' | ':' | ',' | '@' | '%' | '+' | '-' | '^' | '~' | '=' => {
                    self.push(&mut word, next);
                }
                other if other.is_ascii_alphanumeric() => self.push(&mut word, next),
                '$' | '`' => return Err("it has an expansion"),
                '>' | '<' => return Err("it redirects into or from a file"),
                '&' => return Err("it runs something in the background"),
                '(' | ')' | '{' | '}' => return Err("it has a group or a subshell"),
                '\\' => return Err("it has a backslash"),
                _ => return Err("it has a character that is not plain"),
            }
        }
        let is_name = |name: &str| {
            name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
                && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        };
        match name_end {
            Some(end) if self.current.words.is_empty() && is_name(&word.text[..end]) => {
                let value = word.text[end + 1..].to_owned();
                self.current
                    .assignments
                    .push((word.text[..end].to_owned(), value));
            }
            _ => {
                if self.current.words.is_empty() && (word.quoted || word.glob || !ascii(&word)) {
                    return Err("the program is not named plainly");
                }
                self.current.words.push(word);
            }
        }
        Ok(())
    }

    fn push(&mut self, word: &mut PlainWord, character: char) {
        word.text.push(character);
        self.rest = &self.rest[character.len_utf8()..];
    }

    /// The text in double quotes. The only expansion that is allowed is a literal document,
    /// `"$(cat <<'EOF' … EOF)"`, as agents write commit messages.
    fn double(&mut self, text: &mut String) -> Result<(), &'static str> {
        self.rest = &self.rest[1..];
        if self.rest.starts_with("$(cat <<'") {
            return self.literal_document(text);
        }
        loop {
            let mut characters = self.rest.chars();
            let next = characters.next().ok_or("a quote is not closed")?;
            let after = characters.next();
            match next {
                '"' => {
                    self.rest = &self.rest[1..];
                    return Ok(());
                }
                '`' => return Err("it has an expansion"),
                '$' if !matches!(after, Some('"' | ' ' | '/' | '|' | ')')) => {
                    return Err("it has an expansion");
                }
                '\\' if matches!(after, Some('"' | '\\' | '$' | '`')) => {
                    text.extend(after);
                    self.rest = &self.rest[2..];
                }
                '\\' if after == Some('\n') => self.rest = &self.rest[2..],
                other => {
                    checked(other.encode_utf8(&mut [0; 4]))?;
                    text.push(other);
                    self.rest = &self.rest[other.len_utf8()..];
                }
            }
        }
    }

    fn literal_document(&mut self, text: &mut String) -> Result<(), &'static str> {
        const NOT_LITERAL: &str = "it has an expansion";
        let body = self.rest.strip_prefix("$(cat <<'").ok_or(NOT_LITERAL)?;
        let (mark, body) = body.split_once("'\n").ok_or(NOT_LITERAL)?;
        if mark.is_empty() || !mark.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
            return Err(NOT_LITERAL);
        }
        let mut at = 0;
        for line in body.split_inclusive('\n') {
            if line.trim_end_matches('\n') == mark {
                let rest = &body[at + line.len()..];
                let rest = rest.strip_prefix(")\"").ok_or(NOT_LITERAL)?;
                text.push_str(checked(&body[..at])?);
                self.rest = rest;
                return Ok(());
            }
            at += line.len();
        }
        Err(NOT_LITERAL)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    /// `;` or a line end.
    Line,
    And,
    Pipe,
    Other,
    Text,
}

fn ascii(word: &PlainWord) -> bool {
    word.text.is_ascii()
}

/// Quoted text may be in any language, but may have no control or hidden characters.
fn checked(text: &str) -> Result<&str, &'static str> {
    if text
        .chars()
        .all(|c| c == '\n' || !super::super::text::is_hidden(c))
    {
        Ok(text)
    } else {
        Err("it has an invisible character")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Result<Vec<Vec<String>>, &'static str> {
        read(text).map(|plain| {
            plain
                .commands
                .into_iter()
                .map(|command| command.words.into_iter().map(|word| word.text).collect())
                .collect()
        })
    }

    fn check(text: &str, expected: &[&[&str]]) {
        let found = words(text).unwrap_or_else(|reason| panic!("{text}: {reason}"));
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn plain_commands_are_taken_apart() {
        check("cargo test", &[&["cargo", "test"]]);
        check(
            "a && b || c; d | e\nf",
            &[&["a"], &["b"], &["c"], &["d"], &["e"], &["f"]],
        );
        check(
            "git commit -m 'a && b' -m \"c; \\\"d\\\"\"",
            &[&["git", "commit", "-m", "a && b", "-m", "c; \"d\""]],
        );
        check(
            "cargo test 2>&1 | tail -20",
            &[&["cargo", "test"], &["tail", "-20"]],
        );
        check(
            "# first\ncargo \\\n  build >/dev/null",
            &[&["cargo", "build"]],
        );
        check("a &&\n b", &[&["a"], &["b"]]);
        check("git show HEAD@{1}", &[&["git", "show", "HEAD@{1}"]]);
        check(
            "git commit -m \"$(cat <<'EOF'\nfix: it's $x\n\nEOFISH\nEOF\n)\" && ls",
            &[
                &["git", "commit", "-m", "fix: it's $x\n\nEOFISH\n"],
                &["ls"],
            ],
        );
        check("grep \"foo$\" a", &[&["grep", "foo$", "a"]]);
    }

    #[test]
    fn what_could_mean_more_is_not_plain() {
        for text in [
            "",
            "ls $HOME",
            "ls `pwd`",
            "echo \"$(id)\"",
            "ls > x",
            "ls >/dev/nullx",
            "cat < x",
            "ls &",
            "(ls)",
            "{ ls; }",
            "{rm,-rf,x}",
            "r\\m x",
            "'rm' x",
            "rm\u{200b} x",
            "echo 'a",
            "echo \"a",
            "ls |& cat",
            "&& ls",
            "ls &&",
            "ls |",
            "ls | | cat",
            "X=1",
            "X=1; ls",
            "ls;; ls",
            "a\tb",
            "echo 'x\u{202e}y'",
            "ls \u{a0}x",
            "рm -rf x",
            "! ls",
            "$'\\x72m' x",
            "*/x y",
            "echo \"$(cat <<'EOF'\nx\nEOF\n) $(id)\"",
            "echo \"$(cat <<'EOF'\nx\nEOF\nid)\"",
            "echo \"$(cat <<EOF\n$(id)\nEOF\n)\"",
        ] {
            assert!(words(text).is_err(), "{text:?} {:?}", words(text));
        }
        // These quotes are nested in an unexpected way, but it is one word, as in the shell.
        check(
            "echo '\"$(cat <<'EOF'\nrm -rf x\nEOF\n)\"'",
            &[&["echo", "\"$(cat <<EOF\nrm -rf x\nEOF\n)\""]],
        );
    }

    #[test]
    fn variables_before_a_program_are_set_apart() {
        let plain = read("RUST_LOG=debug cargo test A=b").unwrap();
        assert_eq!(
            plain.commands[0].assignments,
            [("RUST_LOG".to_owned(), "debug".to_owned())]
        );
        assert_eq!(plain.commands[0].words.len(), 3);
        assert!(plain.only_and);
        assert!(!read("a; b").unwrap().only_and);
    }
}
