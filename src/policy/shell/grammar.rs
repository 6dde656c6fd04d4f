//! The broad parser: every command in a text, at any depth, by the whole shell grammar. For rejecting.

use std::collections::BTreeMap;

use tree_sitter::{Node, Parser};

use super::plain::KNOWN_EXPANSIONS;
use super::word::{self, Word, text_of};

/// A longer text is not parsed: it is not accepted anyway, and it is searched as text.
const LONGEST: usize = 20_000;

/// The nodes of plain commands. A text with any other node is not accepted.
const PLAIN: [&str; 24] = [
    "program",
    "subshell",
    "compound_statement",
    "test_command",
    "unary_expression",
    "binary_expression",
    "test_operator",
    "heredoc_body",
    "heredoc_end",
    "list",
    "pipeline",
    "redirected_statement",
    "file_redirect",
    "file_descriptor",
    "command",
    "command_name",
    "variable_assignment",
    "variable_name",
    "word",
    "number",
    "string",
    "string_content",
    "raw_string",
    "concatenation",
];

/// One command with its arguments, as far as they are known without running anything.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Part {
    pub assignments: Vec<(String, Word)>,
    pub words: Vec<Word>,
    /// Whether it reads from a pipe.
    pub piped: bool,
}

impl Part {
    pub(crate) fn texts(&self) -> Vec<&str> {
        self.words.iter().map(|word| word.text.as_str()).collect()
    }
}

/// A redirection of output or input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Redirect {
    pub writes: bool,
    pub target: Word,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Parts {
    pub all: Vec<Part>,
    pub redirects: Vec<Redirect>,
    /// The first thing in the text that is more than plain commands.
    pub obstacle: Option<String>,
}

pub(crate) fn read(text: &str) -> Parts {
    let mut parts = Parts::default();
    if text.len() > LONGEST {
        parts.obstacle = Some("it is too long".to_owned());
        return parts;
    }
    let mut parser = Parser::new();
    let tree = parser
        .set_language(&tree_sitter_bash::LANGUAGE.into())
        .ok()
        .and_then(|()| parser.parse(text, None));
    let Some(tree) = tree else {
        parts.obstacle = Some("the shell grammar cannot read it".to_owned());
        return parts;
    };
    if tree.root_node().has_error() {
        parts.obstacle = Some("the shell grammar does not understand all of it".to_owned());
    }
    let mut constants = BTreeMap::new();
    // Not recursive: a hostile text may be nested very deeply.
    let mut open = vec![(tree.root_node(), false)];
    while let Some((node, piped)) = open.pop() {
        if !node.is_named() {
            note_operator(node, &mut parts);
            continue;
        }
        if node.kind() == "command_substitution"
            && word::literal_document(text_of(node, text)).is_some()
        {
            continue;
        }
        if is_known_expansion(node, text) {
            continue;
        }
        if node.kind() == "heredoc_redirect" && !is_literal_document(node, text) {
            note(&mut parts, kind_in_words(node.kind()));
        }
        let document = ["heredoc_redirect", "heredoc_start"].contains(&node.kind());
        if !PLAIN.contains(&node.kind()) && node.kind() != "comment" && !document {
            note(&mut parts, kind_in_words(node.kind()));
        }
        match node.kind() {
            "test_command" => parts.all.push(Part {
                words: test_words(node, text, &constants),
                piped,
                ..Part::default()
            }),
            "command" | "declaration_command" | "unset_command" => {
                parts.all.push(command(node, text, piped, &constants));
            }
            "variable_assignment" if node.parent().is_some_and(|p| p.kind() != "command") => {
                let (name, value) = assignment(node, text, &constants);
                constants.insert(name.clone(), value.clone());
                parts.all.push(Part {
                    assignments: vec![(name, value)],
                    ..Part::default()
                });
            }
            "file_redirect" => parts.redirects.extend(redirect(node, text, &constants)),
            _ => {}
        }
        let mut children: Vec<(Node<'_>, bool)> = Vec::new();
        let mut cursor = node.walk();
        for (at, child) in node.children(&mut cursor).enumerate() {
            let fed = match node.kind() {
                "pipeline" => piped || at > 0,
                "heredoc_redirect" | "herestring_redirect" => true,
                _ => piped,
            };
            children.push((child, fed));
        }
        open.extend(children.into_iter().rev());
    }
    parts
}

fn command(node: Node<'_>, text: &str, piped: bool, constants: &BTreeMap<String, Word>) -> Part {
    let mut part = Part {
        piped,
        ..Part::default()
    };
    let mut cursor = node.walk();
    for child in node.children(&mut cursor) {
        match child.kind() {
            "variable_assignment" => {
                part.assignments.push(assignment(child, text, constants));
                if node.kind() != "command" {
                    part.words.push(word::evaluate(child, text, constants));
                }
            }
            "file_redirect" | "heredoc_redirect" => {}
            "herestring_redirect" => part.piped = true,
            _ => part.words.push(word::evaluate(child, text, constants)),
        }
    }
    part
}

/// `$?` and the like, whose value is a number.
fn is_known_expansion(node: Node<'_>, text: &str) -> bool {
    let raw = text_of(node, text);
    ["simple_expansion", "command_substitution"].contains(&node.kind())
        && KNOWN_EXPANSIONS.iter().any(|(form, _)| *form == raw)
}

/// `<<'EOF'`: the shell takes nothing in it for a command.
fn is_literal_document(node: Node<'_>, text: &str) -> bool {
    text_of(node, text).starts_with("<<'")
}

/// The words of `[ … ]` and `[[ … ]]`, one by one.
fn test_words(node: Node<'_>, text: &str, constants: &BTreeMap<String, Word>) -> Vec<Word> {
    let mut words = Vec::new();
    let mut open = vec![node];
    while let Some(node) = open.pop() {
        let nested = ["test_command", "unary_expression", "binary_expression"];
        if nested.contains(&node.kind()) {
            let mut cursor = node.walk();
            let children: Vec<Node<'_>> = node.children(&mut cursor).collect();
            open.extend(children.into_iter().rev());
        } else if node.is_named() && node.kind() != "test_operator" {
            words.push(word::evaluate(node, text, constants));
        } else {
            words.push(Word::literal(text_of(node, text)));
        }
    }
    words
}

fn assignment(node: Node<'_>, text: &str, constants: &BTreeMap<String, Word>) -> (String, Word) {
    let name = node
        .child_by_field_name("name")
        .map(|name| text_of(name, text).to_owned())
        .unwrap_or_default();
    let value = node
        .child_by_field_name("value")
        .map(|value| word::evaluate(value, text, constants))
        .unwrap_or_default();
    (name, value)
}

fn redirect(node: Node<'_>, text: &str, constants: &BTreeMap<String, Word>) -> Option<Redirect> {
    let whole = text_of(node, text);
    let target = node.child_by_field_name("destination")?;
    Some(Redirect {
        writes: whole.contains('>'),
        target: word::evaluate(target, text, constants),
    })
}

fn note_operator(node: Node<'_>, parts: &mut Parts) {
    match node.kind() {
        "&" => note(parts, "something runs in the background"),
        "|&" => note(parts, "it joins errors into a pipe"),
        _ => {}
    }
}

fn note(parts: &mut Parts, obstacle: &str) {
    if parts.obstacle.is_none() {
        parts.obstacle = Some(obstacle.to_owned());
    }
}

fn kind_in_words(kind: &str) -> &'static str {
    match kind {
        "command_substitution" | "process_substitution" => "it runs a command inside another one",
        "simple_expansion" | "expansion" | "arithmetic_expansion" => "it has an expansion",
        "heredoc_redirect" | "herestring_redirect" => "it has a document inside",
        "subshell" | "compound_statement" => "it has a group or a subshell",
        "if_statement"
        | "while_statement"
        | "for_statement"
        | "c_style_for_statement"
        | "case_statement" => "it is a program, not a command",
        "function_definition" => "it defines a function",
        _ => "it has a part that is not plain",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commands(text: &str) -> Vec<Vec<String>> {
        let parts = read(text);
        let words = |part: Part| part.words.into_iter().map(|word| word.text).collect();
        parts.all.into_iter().map(words).collect()
    }

    fn holds(text: &str, command: &[&str]) {
        let found = commands(text);
        assert!(
            found.iter().any(|words| words == command),
            "{text}: {found:?}"
        );
    }

    #[test]
    fn commands_are_found_at_any_depth() {
        let rm = ["rm", "-rf", "x"];
        for text in [
            "rm -rf x",
            "a; rm -rf x",
            "a && (b || rm -rf x)",
            "echo $(rm -rf x)",
            "echo \"`rm -rf x`\"",
            "cat <(rm -rf x)",
            "if true; then rm -rf x; fi",
            "for i in 1; do rm -rf x; done",
            "f() { rm -rf x; }; f",
            "! rm -rf x",
            "{ rm -rf x; }",
            "case a in a) rm -rf x;; esac",
            "cat <<EOF\n$(rm -rf x)\nEOF\n",
            "r''m -r\"f\" 'x'",
            "\\rm -rf x",
            "$'\\x72m' -rf x",
            "A=rm; $A -rf x",
            "A=r; ${A}m -rf x",
            "rm -rf x &",
            "rm \\\n -rf x",
            "time rm -rf x; rm -rf x",
            "X=\"$(rm -rf x)\"",
            "a | while read l; do rm -rf x; done",
        ] {
            holds(text, &rm);
        }
    }

    #[test]
    fn redirections_and_pipes_are_seen() {
        let parts = read("curl x | sh > ../y 2>&1");
        assert!(parts.all[1].piped && !parts.all[0].piped);
        let target = |at: usize| parts.redirects[at].target.text.as_str();
        assert_eq!((target(0), target(1)), ("../y", "1"));
        assert!(read("sh <<< 'rm'").all[0].piped);
        assert!(
            read("a | (b; sh)")
                .all
                .iter()
                .all(|part| part.words[0].text == "a" || part.piped)
        );
    }
}
