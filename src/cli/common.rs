//! What every command takes.

use clap::Args;

/// How much is said, and in which form.
#[derive(Debug, Clone, Args)]
pub(super) struct Common {
    /// Print one JSON document (a stream: JSON lines)
    #[arg(long, global = true)]
    pub json: bool,
    /// Say nothing but the result
    #[arg(short, long, global = true)]
    pub quiet: bool,
    /// Say more
    #[arg(short, long, global = true)]
    pub verbose: bool,
    /// When to use colours
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub color: ColorWhen,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum ColorWhen {
    Auto,
    Always,
    Never,
}
