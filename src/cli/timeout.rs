//! `biv timeout`

use std::time::Duration;

use clap::Args;
use serde_json::json;

use super::context::CommandResult;
use super::daemon::ensure;
use super::instance::InstanceArg;
use super::new::idle_timeout;
use super::output::Output;
use crate::engine::{Engine, IdleTimeout};

/// Pause an instance after some idle time
#[derive(Debug, Args)]
pub(super) struct TimeoutArgs {
    #[command(flatten)]
    pub instance: InstanceArg,
    /// 1m to 120m, or `off`
    #[arg(value_name = "DURATION|off")]
    pub timeout: Option<String>,
}

pub(super) fn run(args: &TimeoutArgs, engine: &Engine, output: &Output) -> CommandResult {
    let given = &args.instance.instance;
    let view = match args.timeout.as_deref().map(idle_timeout).transpose()? {
        Some(timeout) => {
            let view = engine.set_idle_timeout(given, timeout)?;
            if timeout != IdleTimeout::Off {
                // Only the daemon applies idle timeouts.
                ensure(engine, output);
            }
            view
        }
        None => engine.show(given)?,
    };
    let value =
        json!({ "id": view.id, "title": view.title, "idle_timeout_s": view.idle_timeout_s });
    let describe = || match view.idle_timeout_s {
        Some(seconds) => {
            let timeout = humantime::format_duration(Duration::from_secs(seconds));
            format!("`{}` is paused when it was idle for {timeout}.", view.title)
        }
        None => format!("`{}` is never paused for being idle.", view.title),
    };
    Ok(match args.timeout {
        Some(_) => output.done(&value, describe),
        None => output.result(&value, describe),
    })
}
