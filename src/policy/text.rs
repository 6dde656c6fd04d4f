//! Removes disguises from text: invisible characters, look-alikes, quotes and backslashes.
//!
//! This is for rejecting only. For accepting, a text with a disguise is not plain.

use unicode_normalization::UnicodeNormalization;

/// Characters that a reader does not see or that move the text around them.
pub(crate) fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{00ad}' | '\u{034f}' | '\u{061c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffc}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}'
            | '\u{e000}'..='\u{f8ff}' | '\u{f0000}'..='\u{10ffff}')
        // Spaces other than U+0020.
        || (character.is_whitespace() && character != ' ')
}

/// The text without disguises, as a reader would read it.
pub(crate) fn unmasked(text: &str) -> String {
    text.nfkc()
        .filter_map(|character| match character {
            '\n' => Some('\n'),
            '\t' => Some(' '),
            other if other.is_whitespace() => Some(' '),
            other if is_hidden(other) => None,
            other if other.is_ascii() => Some(other),
            other => Some(look_alike(other).unwrap_or(other)),
        })
        .collect()
}

/// The same without the characters that a shell drops: quotes and backslashes.
pub(crate) fn unquoted(text: &str) -> String {
    unmasked(text)
        .chars()
        .filter(|character| !matches!(character, '\'' | '"' | '\\'))
        .collect()
}

/// The text with `{rm,-rf,x}` expanded, as the shell does before it looks for commands.
pub(crate) fn unbraced(text: &str) -> String {
    let mut spelt = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find('{') {
        let (before, braces) = rest.split_at(start);
        spelt.push_str(before);
        let end = braces.find('}').unwrap_or(0);
        let inner = braces.get(1..end).unwrap_or_default();
        if inner.contains(',') && !inner.contains([' ', '{', '\n']) {
            spelt.push_str(&inner.replace(',', " "));
            rest = braces.get(end + 1..).unwrap_or_default();
        } else {
            spelt.push('{');
            rest = braces.get(1..).unwrap_or_default();
        }
    }
    spelt.push_str(rest);
    spelt
}

/// The ASCII character that this one looks like.
pub(crate) fn look_alike(character: char) -> Option<char> {
    if matches!(
        character,
        '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{fe58}' | '\u{2043}'
    ) {
        return Some('-');
    }
    let prototype: String =
        unicode_security::skeleton(character.encode_utf8(&mut [0; 4])).collect();
    (' '..='~').find(|plain| {
        let mut buffer = [0; 4];
        plain.is_ascii_graphic()
            && unicode_security::skeleton(plain.encode_utf8(&mut buffer)).eq(prototype.chars())
    })
}

/// Whether a name cannot be misread. Letters of other languages are allowed, look-alikes of ASCII letters
/// are not.
pub(crate) fn is_plain_name(name: &str) -> bool {
    name.chars().all(|character| {
        matches!(character, ' '..='~')
            || (character.is_alphanumeric()
                && !is_hidden(character)
                && look_alike(character).is_none())
    }) && name.nfkc().eq(name.chars())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn disguises_come_off() {
        for (text, expected) in [
            ("r\u{200b}m -rf x", "rm -rf x"),
            ("ｒｍ －ｒｆ x", "rm -rf x"),
            ("rm –rf x", "rm -rf x"),
            ("gіt рush", "git push"),
            ("rm\u{a0}-rf\u{2003}x", "rm -rf x"),
            ("a\u{e0041}b\u{202e}c", "abc"),
            ("naïve 日本", "naïve 日本"),
        ] {
            assert_eq!(unmasked(text), expected, "{text}");
        }
        assert_eq!(unbraced("{rm,-rf,x}; {a} {b"), "rm -rf x; {a} {b");
        assert_eq!(unquoted("r''m \\-r\"f\" x"), "rm -rf x");
    }

    #[test]
    fn names_in_other_languages_are_plain_and_look_alikes_are_not() {
        for plain in ["src/main.rs", "docs/naïve.md", "日本.txt", "a b.txt"] {
            assert!(is_plain_name(plain), "{plain}");
        }
        for odd in ["sсr/main.rs", "a\u{200b}.rs", "ａ.rs", "x\u{202e}y", "a…b"] {
            assert!(!is_plain_name(odd), "{odd}");
        }
    }
}
