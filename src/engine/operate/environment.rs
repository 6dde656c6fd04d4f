//! The environment of an agent: the user's, without what would mislead it.

use std::collections::BTreeSet;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

use crate::model::InstanceId;

/// Variables that describe where the *command* runs, not where the agent will run.
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

/// Variables by which an agent tells its children that they run inside it. An agent that inherits
/// these takes itself for a part of another agent. Found by trying the programs; settings with the
/// same prefixes (`CLAUDE_CODE_USE_BEDROCK`, `CODEX_HOME`) are the user's and are passed on.
const OF_AN_AGENT_AROUND: [&str; 35] = [
    "CLAUDECODE",
    "CLAUDE_CODE_CHILD_SESSION",
    "CLAUDE_CODE_ENTRYPOINT",
    "CLAUDE_CODE_EXECPATH",
    "CLAUDE_CODE_MESSAGING_SOCKET",
    "CLAUDE_CODE_SESSION_ACCESS_TOKEN",
    "CLAUDE_CODE_SESSION_ATTENDED",
    "CLAUDE_CODE_SESSION_ID",
    "CLAUDE_CODE_SESSION_KIND",
    "CLAUDE_CODE_SSE_PORT",
    "CLAUDE_ENV_FILE",
    "CLAUDE_PID",
    "CLAUDE_PLUGIN_ROOT",
    "CLAUDE_PROJECT_DIR",
    "AI_AGENT",
    "CODEX_CI",
    "CODEX_INTERNAL_ORIGINATOR_OVERRIDE",
    "CODEX_MANAGED_BY_BUN",
    "CODEX_MANAGED_BY_NPM",
    "CODEX_MANAGED_PACKAGE_ROOT",
    "CODEX_SANDBOX",
    "CODEX_SANDBOX_NETWORK_DISABLED",
    "CODEX_THREAD_ID",
    "CODEX_TOOL_CALL_ID",
    "GEMINI_CLI",
    "GEMINI_SESSION_ID",
    "OPENCODE",
    "OPENCODE_CLIENT",
    "OPENCODE_PID",
    "KILO",
    "KILO_PID",
    "KILO_PROCESS_ROLE",
    "KILO_RUN_ID",
    "CURSOR_AGENT",
    "CURSOR_TRACE_ID",
];

/// Variables of ours that an agent does not get.
pub(in crate::engine) fn not_for_agents() -> impl Iterator<Item = &'static str> {
    MISLEADING.into_iter().chain(OF_AN_AGENT_AROUND)
}

/// The environment for an agent of this instance, working in this directory.
pub(in crate::engine) fn of_agent(
    instance: &InstanceId,
    directory: &Path,
    additions: &[(String, String)],
) -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut variables: Vec<(Vec<u8>, Vec<u8>)> = std::env::vars_os()
        .filter(|(name, _)| !not_for_agents().any(|unwanted| name == unwanted))
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
    // Last, so that nothing overrides it: it marks every process of the instance.
    set("BIV_INSTANCE", instance.as_str().as_bytes());
    variables
}

/// The names of an environment, without its values.
pub(in crate::engine) fn names(environment: &[(Vec<u8>, Vec<u8>)]) -> BTreeSet<String> {
    environment
        .iter()
        .map(|(name, _)| String::from_utf8_lossy(name).into_owned())
        .collect()
}

/// Variables that the agent had before, does not get now, and may need.
pub(in crate::engine) fn missed(before: &BTreeSet<String>, now: &BTreeSet<String>) -> Vec<String> {
    before
        .difference(now)
        .filter(|name| is_needed(name))
        .cloned()
        .collect()
}

/// Whether a variable gives access to a service, or says where it is; others come and go with terminals
/// and shells.
fn is_needed(name: &str) -> bool {
    const OF_SERVICES: [&str; 9] = [
        "ANTHROPIC_",
        "OPENAI_",
        "GEMINI_",
        "GOOGLE_",
        "AWS_",
        "AZURE_",
        "OPENROUTER_",
        "CLAUDE_CODE_USE_",
        "CLAUDE_CONFIG_",
    ];
    const OF_THE_TERMINAL: [&str; 5] = ["SSH_", "XDG_", "DBUS_", "GPG_", "BIV_"];
    const WORDS: [&str; 12] = [
        "TOKEN",
        "KEY",
        "SECRET",
        "PASSWORD",
        "PASSWD",
        "CREDENTIAL",
        "CREDENTIALS",
        "AUTH",
        "API",
        "APIKEY",
        "ENDPOINT",
        "PROXY",
    ];
    let name = name.to_ascii_uppercase();
    let begins = |with: &[&str]| with.iter().any(|start| name.starts_with(start));
    if not_for_agents().any(|unwanted| unwanted == name) || begins(&OF_THE_TERMINAL) {
        return false;
    }
    begins(&OF_SERVICES)
        || name.ends_with("_URL")
        || name.split('_').any(|word| WORDS.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_service_needs_is_missed_and_noise_is_not() {
        let had = [
            "ANTHROPIC_API_KEY",
            "ANTHROPIC_BASE_URL",
            "AWS_PROFILE",
            "CLAUDE_CODE_USE_BEDROCK",
            "CODEX_HOME",
            "DATABASE_URL",
            "GITHUB_TOKEN",
            "HTTPS_PROXY",
            "KEYBOARD_LAYOUT",
            "MY_KEY",
            "OLDPWD",
            "SHLVL",
            "SSH_AUTH_SOCK",
            "CLAUDE_CODE_SESSION_ACCESS_TOKEN",
            "WINDOWID",
            "XDG_SESSION_ID",
            "no_proxy",
        ];
        let had: BTreeSet<String> = had.map(str::to_owned).into();
        let now = BTreeSet::from(["MY_KEY".to_owned()]);
        let expected = [
            "ANTHROPIC_API_KEY",
            "ANTHROPIC_BASE_URL",
            "AWS_PROFILE",
            "CLAUDE_CODE_USE_BEDROCK",
            "DATABASE_URL",
            "GITHUB_TOKEN",
            "HTTPS_PROXY",
            "no_proxy",
        ];
        assert_eq!(missed(&had, &now), expected);
    }
}
