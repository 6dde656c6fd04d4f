//! The files that the shell puts in the place of a word with wildcards.

use std::path::Path;

use super::paths::{EntryKind, PathClass, PathContext, PathLists, absolute};

/// More names than this are not looked at one by one.
const MOST: usize = 4_000;

impl PathLists {
    /// The strictest class of what a word with wildcards stands for. A name that begins with `-` would be
    /// read as an option, so it makes the word odd.
    pub(super) fn class_of_glob(
        &self,
        given: &str,
        base: &Path,
        context: &PathContext<'_>,
    ) -> PathClass {
        let parts: Vec<&str> = given.trim_end_matches('/').split('/').collect();
        // `**` means different things to different shells; so does a wildcard that begins with a dot.
        let odd = |part: &&str| part.contains("**") || (part.starts_with('.') && is_pattern(part));
        if parts.iter().any(odd) {
            return PathClass::Odd;
        }
        let literal = parts.iter().take_while(|part| !is_pattern(part)).count();
        let mut found = vec![parts[..literal].join("/")];
        if given.starts_with('/') && found[0].is_empty() {
            found[0] = "/".to_owned();
        }
        let mut class = self.class_of(given, base, context);
        for (at, part) in parts.iter().enumerate().skip(literal) {
            let is_last = at + 1 == parts.len();
            let mut next = Vec::new();
            for prefix in &found {
                let here = if prefix.is_empty() { "." } else { prefix };
                let Some(directory) = absolute(here, base, context) else {
                    return PathClass::Odd;
                };
                for entry in context.resolver.entries(&directory).unwrap_or_default() {
                    if entry.name.starts_with('.') || !fits_part(part, &entry.name) {
                        continue;
                    }
                    if entry.name.starts_with('-') || next.len() >= MOST {
                        return PathClass::Odd;
                    }
                    if is_last || entry.kind != EntryKind::File {
                        next.push(match prefix.as_str() {
                            "" => entry.name,
                            "/" => format!("/{}", entry.name),
                            prefix => format!("{prefix}/{}", entry.name),
                        });
                    }
                }
            }
            found = next;
        }
        for name in &found {
            class = class.max(self.class_of(name, base, context));
        }
        class
    }
}

fn fits_part(part: &str, name: &str) -> bool {
    if is_pattern(part) {
        matches(part, name)
    } else {
        part == name
    }
}

fn is_pattern(part: &str) -> bool {
    part.contains(['*', '?', '['])
}

/// Whether a name may fit a pattern of the shell: a set of characters counts as any character.
pub(super) fn matches(pattern: &str, name: &str) -> bool {
    let mut pieces = Vec::new();
    let mut rest = pattern.chars();
    while let Some(letter) = rest.next() {
        match letter {
            '*' => pieces.push(Piece::Any),
            '?' => pieces.push(Piece::One),
            '[' => {
                let closed = rest
                    .as_str()
                    .char_indices()
                    .skip(1)
                    .find(|(_, c)| *c == ']');
                if let Some((end, _)) = closed {
                    rest = rest.as_str()[end + 1..].chars();
                }
                pieces.push(Piece::One);
            }
            other => pieces.push(Piece::This(other)),
        }
    }
    let name: Vec<char> = name.chars().collect();
    // `reached[n]`: the pieces so far can use up the first n characters.
    let mut reached = vec![false; name.len() + 1];
    reached[0] = true;
    for piece in pieces {
        let mut next = vec![false; name.len() + 1];
        for at in 0..=name.len() {
            match piece {
                Piece::Any => next[at] = reached[..=at].contains(&true),
                Piece::One => next[at] = at > 0 && reached[at - 1],
                Piece::This(letter) => {
                    next[at] = at > 0 && reached[at - 1] && name[at - 1] == letter
                }
            }
        }
        reached = next;
    }
    reached.last() == Some(&true)
}

#[derive(Clone, Copy)]
enum Piece {
    Any,
    One,
    This(char),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_fit_as_in_the_shell_or_more() {
        for (pattern, name) in [
            ("*.rs", "a.rs"),
            ("id_rs?", "id_rsa"),
            ("[ab]c", "ac"),
            ("a*b*c", "axxbyyc"),
            ("*", ""),
        ] {
            assert!(matches(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in [("*.rs", "a.rb"), ("?", "ab"), ("a", "b"), ("[ab]c", "ad")] {
            assert!(!matches(pattern, name), "{pattern} {name}");
        }
    }
}
