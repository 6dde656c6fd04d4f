//! Commands for a control client, one line each.

/// One command as a line, each word quoted.
pub(super) fn line(words: &[&str]) -> String {
    let mut line = words
        .iter()
        .map(|word| quoted(word))
        .collect::<Vec<_>>()
        .join(" ");
    line.push('\n');
    line
}

fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '=' | '.' | '/');
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    let mut text = String::with_capacity(word.len() + 2);
    text.push('"');
    for character in word.chars() {
        match character {
            '\\' | '"' | '$' | '~' | ';' => {
                text.push('\\');
                text.push(character);
            }
            '\n' => text.push_str("\\n"),
            other if other.is_ascii_control() => {
                let code = u32::from(other);
                text.push('\\');
                for shift in [6, 3, 0] {
                    text.push(char::from_digit(code >> shift & 7, 8).unwrap_or('0'));
                }
            }
            other => text.push(other),
        }
    }
    text.push('"');
    text
}

/// Undoes the escapes of servers older than 3.4, which print backslashes, dollars and control characters
/// of a buffer as escapes.
pub(super) fn unescaped(shown: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(shown.len());
    let mut rest = shown;
    while let Some((&first, behind)) = rest.split_first() {
        rest = behind;
        if first != b'\\' {
            bytes.push(first);
            continue;
        }
        match behind {
            [b'\\' | b'$', after @ ..] => {
                bytes.push(behind[0]);
                rest = after;
            }
            [
                a @ b'0'..=b'3',
                b @ b'0'..=b'7',
                c @ b'0'..=b'7',
                after @ ..,
            ] => {
                bytes.push((a - b'0') << 6 | (b - b'0') << 3 | (c - b'0'));
                rest = after;
            }
            _ => bytes.push(b'\\'),
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_where_they_need_it() {
        assert_eq!(line(&["list-panes", "-a"]), "list-panes -a\n");
        assert_eq!(
            line(&[
                "display-message",
                "-t",
                "%1",
                "it's \"$HOME\" ~; \\ ü\n\u{1f}"
            ]),
            "display-message -t \"%1\" \"it's \\\"\\$HOME\\\" \\~\\; \\\\ ü\\n\\037\"\n"
        );
        assert_eq!(line(&["x", ""]), "x \"\"\n");
    }

    #[test]
    fn escapes_of_old_servers_are_taken_back() {
        for (shown, meant) in [
            (&br"a\\b \$HOME"[..], &br"a\b $HOME"[..]),
            (br"\033[31mred", b"\x1b[31mred"),
            ("ü 日本".as_bytes(), "ü 日本".as_bytes()),
            (br"end\", br"end\"),
            (br"\x \9", br"\x \9"),
        ] {
            assert_eq!(unescaped(shown), meant);
        }
    }
}
