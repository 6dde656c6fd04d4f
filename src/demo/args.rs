//! The demo agent's command line.

use std::path::PathBuf;

use uuid::Uuid;

/// Act as the built-in demo agent
#[derive(Debug, clap::Args)]
pub(crate) struct DemoArgs {
    /// Keep session files in this directory, as `<session id>.jsonl`
    #[arg(long, value_name = "DIR")]
    pub sessions: PathBuf,

    /// Give the new session this id
    #[arg(long, value_name = "UUID", conflicts_with = "resume")]
    pub session_id: Option<Uuid>,

    /// Continue the session with this id
    #[arg(long, value_name = "UUID")]
    pub resume: Option<Uuid>,

    /// Begin with this prompt
    #[arg(value_name = "PROMPT")]
    pub prompt: Option<String>,
}
