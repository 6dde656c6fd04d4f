//! Classifies the words of a command: flags, their values, and the rest.

/// One word after the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Argument<'w> {
    Flag(&'w str),
    /// The free text of a flag, which is not checked: a commit message.
    FreeText(&'w str),
    Other(&'w str),
    /// A word after `--`. Most programs do not treat it as a flag, but some pass it on as one.
    Behind(&'w str),
}

/// Classifies the words. `free` are the flags whose value is free text; with `=` at the end, those that
/// take it only attached: `--pretty=`. A word that begins with `-` is never a value: which words a program
/// takes for values differs with what stands before them.
pub(super) fn arguments<'w>(words: &[&'w str], free: &[String]) -> Vec<Argument<'w>> {
    let mut found = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if *word == "--" {
            found.extend(words.by_ref().map(|word| Argument::Behind(word)));
            break;
        }
        if !is_flag(word) {
            found.push(Argument::Other(word));
            continue;
        }
        match value_of(word, free) {
            Value::None => found.push(Argument::Flag(word)),
            Value::Attached(flag, value) => {
                found.push(Argument::Flag(flag));
                found.push(Argument::FreeText(value));
            }
            Value::Next => {
                found.push(Argument::Flag(word));
                if words.as_slice().first().is_some_and(|next| !is_flag(next)) {
                    found.extend(words.next().map(|word| Argument::FreeText(word)));
                }
            }
        }
    }
    found
}

enum Value<'w> {
    None,
    Attached(&'w str, &'w str),
    Next,
}

fn value_of<'w>(word: &'w str, free: &[String]) -> Value<'w> {
    let known = |flag: &str| free.iter().any(|known| known == flag);
    if known(word) {
        return Value::Next;
    }
    if let Some((flag, value)) = word.split_once('=')
        && (known(flag) || known(&format!("{flag}=")))
    {
        return Value::Attached(flag, value);
    }
    if word.starts_with("--") || !word.is_ascii() {
        return Value::None;
    }
    // `-am text`, `-mtext`; behind more letters than these it is the name of a long flag: `-coverprofile`.
    for at in 1..word.len().min(4) {
        let letter = format!("-{}", &word[at..=at]);
        if known(&letter) {
            let (flag, value) = word.split_at(at + 1);
            return if value.is_empty() {
                Value::Next
            } else {
                Value::Attached(flag, value)
            };
        }
    }
    Value::None
}

pub(super) fn is_flag(word: &str) -> bool {
    word.len() > 1 && word.starts_with('-')
}

/// Whether a word gives this flag in any of its spellings: `--force`, `--forc`, `--force=x`, `-f` as part
/// of `-uf`; `--exec` where the flag is `-exec`, `--global-setup` where it is `--globalSetup`,
/// `--property:x`, `--config.key=x`. For rejecting: it rather matches too often.
pub(super) fn gives(word: &str, flag: &str) -> bool {
    let name = word.split('=').next().unwrap_or(word);
    if name == flag {
        return true;
    }
    let letter = |flag: &str| {
        let mut letters = flag.chars().skip(1);
        letters
            .next()
            .filter(|letter| *letter != '-' && letters.next().is_none())
    };
    if let Some(letter) = letter(flag) {
        return !name.starts_with("--") && name.chars().skip(1).any(|given| given == letter);
    }
    let (given, known) = (bare(name), bare(flag));
    if name.starts_with("--") {
        given.len() > 1 && known.starts_with(&given)
    } else {
        given == known
    }
}

/// A long flag without the characters in which spellings differ.
fn bare(name: &str) -> String {
    let name = name.split([':', '.']).next().unwrap_or(name);
    let letters = name.chars().filter(char::is_ascii_alphanumeric);
    letters.map(|letter| letter.to_ascii_lowercase()).collect()
}

/// Whether a word gives only flags of this list. `-#` stands for a number, as in `-20`. For accepting: a
/// flag must be in the list in exactly this spelling.
pub(super) fn is_among(word: &str, flags: &[String]) -> bool {
    let known = |flag: &str| flags.iter().any(|known| known == flag);
    let name = word.split('=').next().unwrap_or(word);
    if known(name) {
        return true;
    }
    let Some(letters) = name.strip_prefix('-').filter(|rest| !rest.starts_with('-')) else {
        return false;
    };
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if digits(letters) {
        return known("-#");
    }
    // `-n5`
    if letters.is_char_boundary(1) && digits(&letters[1..]) && known(&format!("-{}", &letters[..1]))
    {
        return true;
    }
    name.len() == word.len() && letters.chars().all(|letter| known(&format!("-{letter}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(flags: &[&str]) -> Vec<String> {
        flags.iter().map(|flag| (*flag).to_owned()).collect()
    }

    #[test]
    fn free_text_is_told_from_the_rest() {
        use Argument::{Behind, Flag, FreeText, Other};
        let free = list(&["-m", "--message"]);
        let check = |words: &[&'static str], expected: &[Argument<'static>]| {
            assert_eq!(arguments(words, &free), expected, "{words:?}");
        };
        check(&["-m", "x", "a"], &[Flag("-m"), FreeText("x"), Other("a")]);
        check(&["-am", "x"], &[Flag("-am"), FreeText("x")]);
        check(&["-mx"], &[Flag("-m"), FreeText("x")]);
        check(&["--message=x"], &[Flag("--message"), FreeText("x")]);
        check(&["--", "-m", "x"], &[Behind("-m"), Behind("x")]);
        check(&["-m", "-x"], &[Flag("-m"), Flag("-x")]);
        check(&["-m", "--", "x"], &[Flag("-m"), Behind("x")]);
        check(&["-a", "-", "b"], &[Flag("-a"), Other("-"), Other("b")]);
    }

    #[test]
    fn a_flag_is_recognised_in_every_spelling() {
        for word in ["--force", "--forc", "--force=yes", "-f", "-uf", "-fu"] {
            assert!(gives(word, "--force") || gives(word, "-f"), "{word}");
        }
        assert!(!gives("--foo", "--force") && !gives("-u", "-f") && !gives("--", "--force"));
        assert!(gives("-exec", "-exec") && !gives("-execdir", "-exec"));
        for (word, flag) in [
            ("--exec=x", "-exec"),
            ("--vettool", "-vettool"),
            ("-property:x=y", "--property"),
            ("--property:x=y", "--property"),
            ("--global-setup", "--globalSetup"),
            ("--config.script-shell=x", "--config"),
        ] {
            assert!(gives(word, flag), "{word}");
        }
    }

    #[test]
    fn a_value_may_have_to_be_attached() {
        use Argument::{Flag, FreeText, Other};
        let free = list(&["--pretty="]);
        assert_eq!(
            arguments(&["--pretty", "x"], &free),
            [Flag("--pretty"), Other("x")]
        );
        assert_eq!(
            arguments(&["--pretty=x"], &free),
            [Flag("--pretty"), FreeText("x")]
        );
    }

    #[test]
    fn only_what_is_listed_is_among_them() {
        let flags = list(&["-a", "-l", "-n", "-#", "--all"]);
        for word in ["-a", "-la", "-20", "-n5", "--all", "--all=x"] {
            assert!(is_among(word, &flags), "{word}");
        }
        for word in ["-x", "-lax", "--al", "--other", "-é"] {
            assert!(!is_among(word, &flags), "{word}");
        }
    }
}
