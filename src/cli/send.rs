//! `biv send`

use clap::Args;
use serde_json::json;

use super::context::CommandResult;
use super::daemon::{ensure, ensure_if_asleep};
use super::instance::InstanceArg;
use super::output::Output;
use super::progress::StepLine;
use super::prompt;
use crate::engine::{Engine, Sent};

/// Send a prompt; a busy agent gets it next
#[derive(Debug, Args)]
pub(super) struct SendArgs {
    #[command(flatten)]
    pub instance: InstanceArg,
    /// The prompt, or `-` to read it from standard input
    #[arg(allow_hyphen_values = true)]
    pub prompt: String,
    /// Wait for a busy agent instead of queueing the prompt
    #[arg(long)]
    pub now: bool,
    /// Type it as it is, also if the agent takes it for a command: `!ls`
    #[arg(long)]
    pub raw: bool,
}

pub(super) fn run(args: &SendArgs, engine: &Engine, output: &Output) -> CommandResult {
    let prompt = prompt::given(&args.prompt)?;
    ensure_if_asleep(&args.instance.instance, engine, output);
    let mut progress = StepLine::new(output, &args.instance.instance);
    let given = &args.instance.instance;
    let sent = match (args.now, args.raw) {
        (true, false) => {
            engine.send_now(given, &prompt, &mut progress)?;
            Sent::Typed
        }
        (true, true) => {
            engine.send_raw_now(given, &prompt, &mut progress)?;
            Sent::Typed
        }
        (false, false) => engine.send(given, &prompt, &mut progress)?,
        (false, true) => engine.send_raw(given, &prompt, &mut progress)?,
    };
    drop(progress);
    let queued = sent == Sent::Queued;
    if queued {
        // Only the daemon sends queued prompts.
        ensure(engine, output);
        output.say(&format!(
            "`{given}` is busy: it gets the prompt next. `biv queue {given}` shows it"
        ));
    }
    let told = json!({ "sent": !queued, "queued": queued, "bytes": prompt.len() });
    Ok(output.result(&told, String::new))
}
