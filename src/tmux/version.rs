//! tmux versions.

use std::fmt;

/// A release: `3.3a`. A development version counts as the release that follows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct TmuxVersion {
    major: u32,
    minor: u32,
    /// `a` is 1; a release without a letter is 0.
    patch: u32,
}

impl TmuxVersion {
    /// `-N`, `new-session -e` and control clients without output need 3.2.
    pub(crate) const OLDEST: Self = Self {
        major: 3,
        minor: 2,
        patch: 0,
    };

    /// Parses the output of `tmux -V`: `tmux 3.3a`, `tmux next-3.8`, `tmux openbsd-7.4`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let word = text.trim().strip_prefix("tmux ")?;
        let number = word.strip_prefix("next-").unwrap_or(word);
        let (major, rest) = number.split_once('.')?;
        let digits = rest
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(rest.len());
        let (minor, letter) = rest.split_at(digits);
        Some(Self {
            major: major.parse().ok()?,
            minor: minor.parse().ok()?,
            patch: letter
                .bytes()
                .next()
                .filter(u8::is_ascii_lowercase)
                .map_or(0, |letter| u32::from(letter - b'a') + 1),
        })
    }
}

impl fmt::Display for TmuxVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)?;
        match self.patch.checked_sub(1).and_then(|n| u8::try_from(n).ok()) {
            Some(letter) => write!(f, "{}", char::from(b'a' + letter)),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_are_ordered() {
        let version = |text: &str| TmuxVersion::parse(text).unwrap();
        assert!(version("tmux 3.1c") < TmuxVersion::OLDEST);
        assert!(version("tmux 3.2a") > TmuxVersion::OLDEST);
        assert!(version("tmux 3.10") > version("tmux 3.9b"));
        assert!(version("tmux next-3.8") > version("tmux 3.7c"));
        assert_eq!(version("tmux 3.3a").to_string(), "3.3a");
        assert_eq!(TmuxVersion::parse("tmux openbsd-7.4"), None);
        assert_eq!(TmuxVersion::parse("zsh 5"), None);
    }
}
