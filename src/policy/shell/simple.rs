//! Commands as the strict parser reads them.

/// One command with its arguments.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Simple {
    /// `NAME=value` before the program.
    pub assignments: Vec<(String, String)>,
    pub words: Vec<PlainWord>,
    /// Whether it reads the output of the command before it.
    pub piped: bool,
    /// Whether another command reads its output.
    pub feeds: bool,
    /// What stands between it and the command before it.
    pub joined: Joined,
    pub redirects: Vec<PlainRedirect>,
    /// How many groups begin before it, and whether each is a subshell.
    pub opens: Vec<bool>,
    /// How many groups end behind it.
    pub closes: usize,
}

/// When a command runs, after the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Joined {
    #[default]
    Always,
    /// If that one succeeded.
    And,
    /// If that one failed.
    Or,
    /// At the same time.
    Pipe,
}

/// A redirection. The target of `2>&1` is `1`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PlainRedirect {
    pub writes: bool,
    pub target: String,
}

impl Simple {
    /// Its words, without their quotes.
    pub(crate) fn texts(&self) -> Vec<&str> {
        self.words.iter().map(|word| word.text.as_str()).collect()
    }
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

/// The commands in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Plain {
    pub commands: Vec<Simple>,
}
