//! Errors about hosts: codes, exit statuses and hints.

use crate::engine::{HostError, Trouble};

/// The error code for scripts, and the exit status.
pub(super) fn kind(error: &HostError) -> (&'static str, u8) {
    match error {
        HostError::Name(_) => ("usage", 2),
        HostError::NoSuchHost { .. } => ("no_such_host", 3),
        HostError::TwoMeanings { .. } => ("ambiguous", 3),
        HostError::HasInstances { .. } => ("host_has_instances", 4),
        HostError::NameTaken { .. } => ("host_taken", 1),
        HostError::File { .. } => ("configuration", 1),
        HostError::NoTerminalCommand { .. } => ("no_terminal", 1),
        HostError::TooLong { .. } => ("too_long", 1),
        HostError::Platform { .. } => ("host_platform", 1),
        HostError::NotWhole { .. } => ("host_cut", 1),
        HostError::Shallow { .. } => ("shallow", 1),
        HostError::Refused { .. } => ("host_refused", 1),
        HostError::Differs { .. } => ("host_differs", 1),
        HostError::NoAgent { .. } => ("agent_missing", 1),
        HostError::Elsewhere { .. } | HostError::ChangedThere { .. } => ("away", 4),
        HostError::NotFromHere { .. } => ("not_from_here", 1),
        HostError::TooLarge { .. } | HostError::SentTooMuch { .. } => ("host_too_large", 1),
        HostError::NotKept(_) => ("failed", 1),
        HostError::Malformed => ("usage", 2),
        HostError::Store(_) => ("state", 1),
        HostError::Process(_) => ("failed", 1),
        HostError::Trouble { trouble, .. } => match trouble {
            Trouble::Unreachable => ("host_unreachable", 1),
            Trouble::Slow { .. } => ("host_slow", 1),
            Trouble::NoProgram => ("host_without_biv", 1),
            Trouble::Version { .. } => ("host_version", 1),
            Trouble::Cut | Trouble::Stalled { .. } => ("host_cut", 1),
            Trouble::Nonsense | Trouble::TooMuch { .. } => ("host_answer", 1),
        },
    }
}

pub(super) fn hint(error: &HostError) -> String {
    match error {
        HostError::Name(_) => {
            "up to 32 letters, digits, `-`, `_` and `.`, such as `gpu-1`".to_owned()
        }
        HostError::NoSuchHost { known, .. } if known.is_empty() => {
            "`biv host add NAME DESTINATION` adds one".to_owned()
        }
        HostError::NoSuchHost { known, .. } => format!("known are {}", known.join(", ")),
        HostError::TwoMeanings { .. } => {
            "name the instance by its id; `biv list` shows it".to_owned()
        }
        HostError::HasInstances { name, .. } => {
            format!(
                "`biv drain {name} --to .` brings them back; `--force` forgets the host all the same"
            )
        }
        HostError::NameTaken { name } => {
            format!("choose another name, or `biv host remove {name}` first")
        }
        HostError::File { .. } => "mend the file; docs/hosts.md has every key".to_owned(),
        HostError::NoTerminalCommand { host } => {
            format!("set `connect_tty` in hosts/{host}.toml beside the configuration")
        }
        HostError::TooLong { .. } => {
            "give a long prompt on standard input: `biv send … - < FILE`".to_owned()
        }
        HostError::Platform { .. } => {
            "install biv there by its package, or build it there".to_owned()
        }
        HostError::NotWhole { host } => format!("`biv host install {host}` tries it again"),
        HostError::Shallow { .. } => "`git fetch --unshallow` gets the rest".to_owned(),
        HostError::Refused { host, .. } => format!("`biv host check {host}` says more"),
        HostError::Differs { .. } => {
            "it stays here; `biv move` again sends it once more".to_owned()
        }
        HostError::NoAgent { host, .. } => {
            format!("install it there; `biv host check {host}` says what else is missing")
        }
        HostError::Elsewhere { host, .. } => {
            format!("`biv list --host {host} --state away` says what became of it")
        }
        HostError::ChangedThere { .. } => "run the command again".to_owned(),
        HostError::NotFromHere { .. } => {
            "move it from there, or `biv export` it there and `biv import` it here".to_owned()
        }
        HostError::TooLarge { .. } => {
            "nothing of it was kept; free some space, or raise `hosts.fetch_limit`".to_owned()
        }
        HostError::SentTooMuch { .. } => {
            "nothing of it was kept; raise `hosts.fetch_limit` on that machine".to_owned()
        }
        HostError::NotKept(_) => "free some space; it stays where it is".to_owned(),
        HostError::Malformed => "bring both machines to the same version".to_owned(),
        HostError::Store(_) | HostError::Process(_) => "`biv doctor` says more".to_owned(),
        HostError::Trouble { host, trouble, .. } => match trouble {
            Trouble::Unreachable => {
                format!("`biv host check {host}` says more; agents there keep running")
            }
            Trouble::Slow { .. } => {
                format!("`biv host check {host}` has more patience; see `hosts.deadline`")
            }
            Trouble::NoProgram => format!("`biv host install {host}` sends this one"),
            Trouble::Version { .. } => {
                format!("bring both to the same version, or `biv host install {host}`")
            }
            Trouble::Cut => format!("look first: `biv list --host {host}`"),
            Trouble::Stalled { .. } => {
                "nothing of it was kept; run the command again, or see `hosts.silence`".to_owned()
            }
            Trouble::Nonsense | Trouble::TooMuch { .. } => {
                format!("`biv host check {host}` says more")
            }
        },
    }
}

/// The same for scripts.
pub(super) fn details(error: &HostError) -> Option<serde_json::Value> {
    match error {
        HostError::Trouble { said, .. } if !said.is_empty() => {
            Some(serde_json::json!({ "said": said }))
        }
        _ => None,
    }
}

/// What the connection or the other side said.
pub(super) fn appendix(error: &HostError) -> Option<String> {
    match error {
        HostError::Trouble { said, .. } if !said.is_empty() => Some(said.join("\n")),
        _ => None,
    }
}
