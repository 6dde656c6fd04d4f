//! The environment an agent is born with: the user's, less what would mislead it.

use std::os::unix::ffi::OsStrExt;
use std::os::unix::ffi::OsStringExt;
use std::path::Path;

use crate::model::InstanceId;

/// Variables that speak of where the *command* runs, not of where the agent will.
///
/// With `TMUX` an agent could type into any pane, and so answer its own dialogs. The `GIT_` ones are
/// set inside hooks and would send its git to another repository.
const MISLEADING: [&str; 16] = [
    "TMUX",
    "TMUX_PANE",
    "TMUX_TMPDIR",
    "TERM",
    "TERM_PROGRAM",
    "TERM_PROGRAM_VERSION",
    "COLUMNS",
    "LINES",
    "OLDPWD",
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_PREFIX",
    "GIT_COMMON_DIR",
    "GIT_OBJECT_DIRECTORY",
    "BIV_CRASH_AT",
];

/// The environment for an agent of this instance, working in this directory.
pub(super) fn of_agent(
    instance: &InstanceId,
    directory: &Path,
    additions: &[(String, String)],
) -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut variables: Vec<(Vec<u8>, Vec<u8>)> = std::env::vars_os()
        .filter(|(name, _)| !MISLEADING.iter().any(|misleading| name == misleading))
        .map(|(name, value)| (name.into_vec(), value.into_vec()))
        .collect();
    let mut set = |name: &str, value: &[u8]| {
        variables.retain(|(known, _)| known != name.as_bytes());
        variables.push((name.as_bytes().to_vec(), value.to_vec()));
    };
    set("PWD", directory.as_os_str().as_bytes());
    for (name, value) in additions {
        set(name, value.as_bytes());
    }
    // A relative one would be another directory from there.
    if let Some(home) = std::env::var_os("BIV_HOME").filter(|home| !home.is_empty())
        && let Ok(home) = std::path::absolute(home)
    {
        set("BIV_HOME", home.as_os_str().as_bytes());
    }
    // Last, so that nothing overrides it: by it every process of the instance is recognised.
    set("BIV_INSTANCE", instance.as_str().as_bytes());
    variables
}
