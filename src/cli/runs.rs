//! `biv runs`

use clap::Args;
use serde_json::json;

use super::context::CommandResult;
use super::output::Output;
use super::table::{table, terminal_width};
use crate::engine::{Engine, RunHistory};

/// Show the run history of an instance
#[derive(Debug, Args)]
pub(super) struct RunsArgs {
    /// Title, id, or a unique prefix of either; killed ones too
    #[arg(value_name = "INSTANCE")]
    pub instance: String,
}

pub(super) fn run(args: &RunsArgs, engine: &Engine, output: &Output) -> CommandResult {
    let RunHistory { runs, unreadable } = engine.runs(&args.instance)?;
    for reason in &unreadable {
        output.say(&format!("a run is left out: {reason}"));
    }
    let json: Vec<serde_json::Value> = runs
        .iter()
        .map(|run| {
            let mut value = json!(run);
            // The format number of the file is not part of the JSON output.
            if let Some(fields) = value.as_object_mut() {
                fields.remove("format");
            }
            value
        })
        .collect();
    Ok(
        output.result(&json!({ "runs": json, "unreadable": unreadable }), || {
            let rows: Vec<Vec<String>> = runs
                .iter()
                .map(|run| {
                    vec![
                        run.run_id.to_string(),
                        run.state.name().to_owned(),
                        run.provider.clone(),
                        run.provider_session_ref.clone().unwrap_or_default(),
                        if run.resumable { "yes" } else { "no" }.to_owned(),
                        run.created_at.local_minute(),
                        run.updated_at.local_minute(),
                        run.exit_code
                            .map(|code| code.to_string())
                            .unwrap_or_default(),
                        run.restart_of_run_id
                            .as_ref()
                            .map(|id| format!("restart of {id}"))
                            .unwrap_or_default(),
                    ]
                })
                .collect();
            let headings = [
                "RUN",
                "STATE",
                "AGENT",
                "SESSION",
                "RESUMABLE",
                "BEGUN",
                "CHANGED",
                "EXIT",
                "LINKS",
            ];
            table(&headings, &rows, terminal_width())
        }),
    )
}
