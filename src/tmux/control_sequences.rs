//! Makes a capture safe to print on a terminal.

/// Keeps text, newlines, tabs and colours (SGR). Removes all other control sequences, control characters in
/// either encoding, and characters that change the direction of text.
pub(crate) fn without_control_sequences(capture: &str) -> String {
    let mut kept = String::with_capacity(capture.len());
    let mut rest = capture.chars().peekable();
    while let Some(character) = rest.next() {
        match character {
            '\u{1b}' => match rest.peek() {
                Some('[') => {
                    rest.next();
                    let mut parameters = String::new();
                    let mut end = None;
                    for next in rest.by_ref() {
                        if ('\u{40}'..='\u{7e}').contains(&next) {
                            end = Some(next);
                            break;
                        }
                        parameters.push(next);
                    }
                    let plain = parameters
                        .chars()
                        .all(|c| c.is_ascii_digit() || matches!(c, ';' | ':'));
                    if end == Some('m') && plain {
                        kept.push_str("\x1b[");
                        kept.push_str(&parameters);
                        kept.push('m');
                    }
                }
                // A string (title, hyperlink, device control) up to its terminator.
                Some(']' | 'P' | '_' | '^' | 'X') => {
                    let mut last = ' ';
                    for next in rest.by_ref() {
                        if next == '\u{7}' || (last == '\u{1b}' && next == '\\') {
                            break;
                        }
                        last = next;
                    }
                }
                _ => {
                    rest.next();
                }
            },
            '\n' | '\t' => kept.push(character),
            other if other.is_control() => {}
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {}
            other => kept.push(other),
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn colours_stay_and_everything_else_goes() {
        for (capture, expected) in [
            ("\x1b[1;31mred\x1b[0m\tx\n", "\x1b[1;31mred\x1b[0m\tx\n"),
            ("\x1b[4:3m~\x1b[m", "\x1b[4:3m~\x1b[m"),
            ("a\x1b[2Jb\x1b[3Jc\x1b[Hd", "abcd"),
            ("\x1b]2;title\x07x\x1b]8;;http://a\x1b\\y", "xy"),
            ("\u{9b}31mx\x07\u{202e}y", "31mxy"),
            ("\x1b[?1049hx\x1b[>4;1mx", "xx"),
            ("\x1bcx\x1b", "x"),
        ] {
            assert_eq!(without_control_sequences(capture), expected, "{capture:?}");
        }
    }

    proptest! {
        #[test]
        fn nothing_but_colours_is_ever_left(capture in "(\\PC|[\\x00-\\x9f]|\u{1b}\\[[0-9;]*[a-zA-Z])*") {
            let kept = without_control_sequences(&capture);
            prop_assert_eq!(without_control_sequences(&kept), kept.clone());
            for part in kept.split('\u{1b}').skip(1) {
                prop_assert!(part.starts_with('[') && part.contains('m'));
            }
        }
    }
}
