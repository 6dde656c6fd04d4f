//! The value of a word of a command after the shell has removed its quotes.

use std::collections::BTreeMap;

use tree_sitter::Node;

use super::plain::KNOWN_EXPANSIONS;

/// Stands for a part that is known only when the command runs.
const UNKNOWN: char = '\u{fffd}';

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Word {
    pub text: String,
    /// Whether the text is the only possible value of the word.
    pub exact: bool,
}

impl Word {
    pub(crate) fn literal(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            exact: true,
        }
    }

    fn unknown() -> Self {
        Self {
            text: UNKNOWN.to_string(),
            exact: false,
        }
    }

    fn append(&mut self, other: &Self) {
        self.text.push_str(&other.text);
        self.exact &= other.exact;
    }
}

pub(super) fn evaluate(node: Node<'_>, text: &str, constants: &BTreeMap<String, Word>) -> Word {
    let raw = text_of(node, text);
    if let Some((_, number)) = KNOWN_EXPANSIONS.iter().find(|(form, _)| *form == raw)
        && ["simple_expansion", "command_substitution"].contains(&node.kind())
    {
        return Word::literal(*number);
    }
    match node.kind() {
        "word" | "number" | "extglob_pattern" | "regex" => Word::literal(unescaped(raw)),
        "raw_string" => Word::literal(raw.trim_start_matches('\'').trim_end_matches('\'')),
        "ansi_c_string" => Word::literal(decoded(
            raw.strip_prefix("$'")
                .and_then(|raw| raw.strip_suffix('\''))
                .unwrap_or(raw),
        )),
        "string" => quoted(node, text, constants),
        "simple_expansion" | "expansion" => known(raw, constants),
        "command_substitution" => literal_document(raw).map_or_else(Word::unknown, Word::literal),
        "command_name" | "concatenation" | "translated_string" => joined(node, text, constants),
        "variable_assignment" => Word::literal(raw),
        "process_substitution" | "arithmetic_expansion" => Word::unknown(),
        _ => Word {
            exact: false,
            ..Word::literal(raw)
        },
    }
}

fn joined(node: Node<'_>, text: &str, constants: &BTreeMap<String, Word>) -> Word {
    let mut whole = Word::literal("");
    let mut cursor = node.walk();
    for child in node.children(&mut cursor) {
        if node.kind() == "translated_string" && child.kind() == "$" {
            continue;
        }
        whole.append(&evaluate(child, text, constants));
    }
    whole
}

/// A double-quoted text. The grammar leaves out some blanks, so the parts between its expansions are
/// taken from the text itself.
fn quoted(node: Node<'_>, text: &str, constants: &BTreeMap<String, Word>) -> Word {
    let mut whole = Word::literal("");
    let mut at = node.start_byte() + 1;
    let mut cursor = node.walk();
    for child in node.named_children(&mut cursor) {
        if child.kind() == "string_content" {
            continue;
        }
        let between = text.get(at..child.start_byte()).unwrap_or_default();
        whole.text.push_str(&unescaped_in_quotes(between));
        whole.append(&evaluate(child, text, constants));
        at = child.end_byte();
    }
    let end = node.end_byte().saturating_sub(1).max(at);
    whole
        .text
        .push_str(&unescaped_in_quotes(text.get(at..end).unwrap_or_default()));
    whole
}

fn known(raw: &str, constants: &BTreeMap<String, Word>) -> Word {
    let name = raw
        .trim_start_matches('$')
        .trim_start_matches('{')
        .trim_end_matches('}');
    match constants.get(name) {
        // Only for rejecting: the variable may have changed in between.
        Some(word) => Word {
            exact: false,
            ..word.clone()
        },
        // An empty separator: `rm${IFS}-rf`.
        None if name == "IFS" => Word {
            exact: false,
            ..Word::literal(" ")
        },
        None => Word::unknown(),
    }
}

/// `$(cat <<'EOF' … EOF)`: a literal text.
pub(super) fn literal_document(raw: &str) -> Option<String> {
    let body = raw.strip_prefix("$(cat <<'")?.strip_suffix("\n)")?;
    let (mark, body) = body.split_once("'\n")?;
    let plain = !mark.is_empty() && mark.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let text = body.strip_suffix(mark)?;
    let ended = text.is_empty() || text.ends_with('\n');
    let once = !text.lines().any(|line| line == mark);
    (plain && ended && once).then(|| text.to_owned())
}

fn unescaped(raw: &str) -> String {
    let mut text = String::with_capacity(raw.len());
    let mut characters = raw.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => text.extend(characters.next().filter(|next| *next != '\n')),
            other => text.push(other),
        }
    }
    text
}

fn unescaped_in_quotes(raw: &str) -> String {
    let mut text = String::with_capacity(raw.len());
    let mut characters = raw.chars().peekable();
    while let Some(character) = characters.next() {
        match (character, characters.peek()) {
            ('\\', Some('"' | '\\' | '$' | '`')) => text.extend(characters.next()),
            ('\\', Some('\n')) => {
                characters.next();
            }
            _ => text.push(character),
        }
    }
    text
}

/// `$'…'`: the escapes of C.
fn decoded(raw: &str) -> String {
    let mut text = String::new();
    let mut characters = raw.chars().peekable();
    while let Some(character) = characters.next() {
        if character != '\\' {
            text.push(character);
            continue;
        }
        let Some(kind) = characters.next() else { break };
        let mut number = |radix: u32, most: usize, first: Option<char>| {
            let mut value = first.and_then(|digit| digit.to_digit(radix)).unwrap_or(0);
            for _ in 0..most {
                let Some(digit) = characters.peek().and_then(|digit| digit.to_digit(radix)) else {
                    break;
                };
                value = value.saturating_mul(radix).saturating_add(digit);
                characters.next();
            }
            char::from_u32(value)
        };
        match kind {
            'x' => text.extend(number(16, 2, None)),
            'u' => text.extend(number(16, 4, None)),
            'U' => text.extend(number(16, 8, None)),
            '0'..='7' => text.extend(number(8, 2, Some(kind))),
            'n' => text.push('\n'),
            't' => text.push('\t'),
            'r' => text.push('\r'),
            other => text.push(other),
        }
    }
    text
}

pub(super) fn text_of<'t>(node: Node<'_>, text: &'t str) -> &'t str {
    text.get(node.byte_range()).unwrap_or_default()
}
