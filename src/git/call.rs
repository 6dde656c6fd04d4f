//! The one way in which git is called: no prompts, no hooks, no optional locks, with a deadline.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::Duration;

use super::GitError;
use crate::process::Command;

/// `worktree list --porcelain -z` came with 2.36.
const OLDEST: (u32, u32) = (2, 36);

/// Long enough for a checkout of a large repository on a slow disk.
pub(crate) const SLOW: Duration = Duration::from_secs(600);

/// Settings of each of our calls, whatever the user's configuration says. None of the user's
/// programs run (hooks, file watcher, signing, transports), and no automatic `gc` starts.
const SETTINGS: &[&str] = &[
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.quotePath=false",
    "commit.gpgSign=false",
    "tag.gpgSign=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "protocol.ext.allow=never",
    "advice.detachedHead=false",
    "submodule.recurse=false",
    // Without this `git diff` locks and rewrites the index, whatever GIT_OPTIONAL_LOCKS says.
    "diff.autoRefreshIndex=false",
];

/// Variables that say where the user's settings lie: the only `GIT_*` variables that do not select
/// a repository.
const KEPT: &[&str] = &[
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GIT_CONFIG_NOSYSTEM",
    "GIT_CEILING_DIRECTORIES",
    "GIT_EXEC_PATH",
];

/// A git call without a repository; callers add directory and arguments.
pub(crate) fn git() -> Command {
    let mut command = scrubbed();
    for setting in SETTINGS {
        command = command.arg("-c").arg(setting);
    }
    command
        // Snapshots need a name to be signed with; the user may have configured none.
        .env("GIT_AUTHOR_NAME", NAME)
        .env("GIT_AUTHOR_EMAIL", EMAIL)
        .env("GIT_COMMITTER_NAME", NAME)
        .env("GIT_COMMITTER_EMAIL", EMAIL)
}

/// A git call with the user's own settings and identity, for commits that are the user's. Plumbing
/// runs no hooks.
pub(crate) fn git_of_user() -> Command {
    let mut command = scrubbed();
    for name in IDENTITY {
        if let Some(value) = std::env::var_os(name) {
            command = command.env(name, value);
        }
    }
    command
}

/// Without the variables that select a repository, prompts and optional locks.
fn scrubbed() -> Command {
    let mut command = Command::new("git");
    for (name, _) in std::env::vars_os() {
        if name.as_bytes().starts_with(b"GIT_") && !KEPT.iter().any(|kept| name == *kept) {
            command = command.env_remove(name);
        }
    }
    command
        .env("LC_ALL", "C")
        .env("GIT_OPTIONAL_LOCKS", "0")
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("GIT_NO_LAZY_FETCH", "1")
        .env("GIT_LITERAL_PATHSPECS", "1")
}

/// The variables by which a user names the author and the committer.
const IDENTITY: &[&str] = &[
    "GIT_AUTHOR_NAME",
    "GIT_AUTHOR_EMAIL",
    "GIT_AUTHOR_DATE",
    "GIT_COMMITTER_NAME",
    "GIT_COMMITTER_EMAIL",
    "GIT_COMMITTER_DATE",
];

/// Lets a call fetch what a partial clone has left with its remote. Only for what the user asked
/// for; looking at a repository never fetches.
pub(crate) fn fetching(command: Command) -> Command {
    command.env_remove("GIT_NO_LAZY_FETCH")
}

pub(crate) const NAME: &str = "Bivouac";
pub(crate) const EMAIL: &str = "bivouac@localhost";

/// The version of the installed git, asked once; an error if it is too old for us.
pub(crate) fn require_version() -> Result<(u32, u32), GitError> {
    static VERSION: OnceLock<(u32, u32)> = OnceLock::new();
    if let Some(version) = VERSION.get() {
        return Ok(*version);
    }
    let said = Command::new("git").arg("version").text()?;
    let version = parse_version(&said).ok_or_else(|| GitError::Unexpected {
        call: "git version".to_owned(),
        answer: said.clone(),
    })?;
    if version < OLDEST {
        return Err(GitError::GitTooOld {
            found: said.trim_start_matches("git version ").to_owned(),
            needed: format!("{}.{}", OLDEST.0, OLDEST.1),
        });
    }
    Ok(*VERSION.get_or_init(|| version))
}

/// The version of the installed git as text for the user; an error if it is too old.
pub(crate) fn installed_version() -> Result<String, GitError> {
    require_version().map(|(major, minor)| format!("{major}.{minor}"))
}

fn parse_version(said: &str) -> Option<(u32, u32)> {
    let mut numbers = said.strip_prefix("git version ")?.split(['.', ' ', '-']);
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

/// One line of output as a path: git prints paths as bytes.
pub(crate) fn path_line(mut output: Vec<u8>) -> PathBuf {
    if output.last() == Some(&b'\n') {
        output.pop();
    }
    PathBuf::from(OsString::from_vec(output))
}

pub(crate) fn bytes_to_path(bytes: &[u8]) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(bytes))
}

/// The fields of `-z` output, without the empty one after the last terminator.
pub(crate) fn fields(output: &[u8]) -> impl Iterator<Item = &[u8]> {
    output
        .strip_suffix(b"\0")
        .unwrap_or(output)
        .split(|byte| *byte == 0)
        .filter(move |_| !output.is_empty())
}

/// A path in git's own quoting, which can carry any byte.
pub(crate) fn quoted(path: &[u8]) -> String {
    let mut text = String::with_capacity(path.len() + 2);
    text.push('"');
    for byte in path {
        match byte {
            b'"' | b'\\' => {
                text.push('\\');
                text.push(char::from(*byte));
            }
            b' '..=b'~' => text.push(char::from(*byte)),
            _ => {
                for shift in [6, 3, 0] {
                    text.push(char::from(b'0' + ((byte >> shift) & 7)));
                }
                // Octal escapes begin with a backslash; put it before the three digits.
                text.insert(text.len() - 3, '\\');
            }
        }
    }
    text.push('"');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_in_every_dress() {
        for (said, version) in [
            ("git version 2.47.3", Some((2, 47))),
            ("git version 2.39.5 (Apple Git-154)", Some((2, 39))),
            ("git version 2.50-rc1", Some((2, 50))),
            ("hub version 3", None),
        ] {
            assert_eq!(parse_version(said), version, "{said}");
        }
    }
}
