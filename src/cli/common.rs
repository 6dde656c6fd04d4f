//! The options of every command.

use clap::Args;

/// How much is printed, and in which form.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Global options")]
pub(super) struct Common {
    /// Print JSON: one document, or one per line for a stream
    #[arg(long, global = true)]
    pub json: bool,
    /// Print only results and errors
    #[arg(short, long, global = true)]
    pub quiet: bool,
    /// Print more details, such as where a fact comes from
    #[arg(short, long, global = true)]
    pub verbose: bool,
    /// When to use colours
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub color: ColorWhen,
    /// What this machine is called where the command comes from
    #[arg(long, value_name = "HOST", hide = true)]
    pub via: Option<String>,
    /// The width of the terminal there
    #[arg(long, value_name = "N", hide = true)]
    pub columns: Option<u16>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum ColorWhen {
    Auto,
    Always,
    Never,
}
