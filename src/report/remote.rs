//! Errors about exports on a remote: codes, exit statuses and hints.

use crate::engine::RemoteError;
use crate::model::ExportName;

/// The error code for scripts, and the exit status.
pub(super) fn kind(error: &RemoteError) -> (&'static str, u8) {
    match error {
        RemoteError::NoSuchRemote { .. } => ("no_such_remote", 3),
        RemoteError::TwoMeanings { .. } => ("ambiguous", 3),
        RemoteError::Several { .. } => ("ambiguous", 3),
        RemoteError::Taken { .. } => ("export_taken", 1),
        RemoteError::Empty { .. } | RemoteError::NoSuchExport { .. } => ("no_such_export", 3),
        RemoteError::NotEncrypted { .. } => ("encryption", 1),
        RemoteError::NotWhole => ("host_cut", 1),
    }
}

pub(super) fn hint(error: &RemoteError) -> String {
    match error {
        RemoteError::NoSuchRemote { .. } => {
            "`git remote` and `biv host list` name them; a directory must exist, and is written with a `/`"
                .to_owned()
        }
        RemoteError::TwoMeanings { .. } => {
            "give the address of the remote: `git remote -v` shows it".to_owned()
        }
        RemoteError::Taken { .. } => "`--replace` puts the new one in its place".to_owned(),
        RemoteError::Empty { .. } => {
            "`biv export INSTANCE --to REMOTE` puts one there".to_owned()
        }
        RemoteError::NoSuchExport { found, .. } => format!("there are {}", listed(found)),
        RemoteError::Several { found, .. } => format!("say which: {}", listed(found)),
        RemoteError::NotEncrypted { .. } => {
            "if you trust it, get the file itself and `biv import FILE`".to_owned()
        }
        RemoteError::NotWhole => "nothing was kept; run the command again".to_owned(),
    }
}

fn listed(names: &[ExportName]) -> String {
    const NAMED: usize = 10;
    let shown: Vec<String> = names.iter().take(NAMED).map(ToString::to_string).collect();
    match names.len().saturating_sub(NAMED) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}
