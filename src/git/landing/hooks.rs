//! The hooks that the user's git would run before a commit is made.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::git::call::{SLOW, git_of_user};
use crate::git::{GitError, Repo};
use crate::process::Failure;

/// How a commit comes about, which decides its hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MadeCommit {
    /// As by `git commit`.
    Plain,
    /// As by `git merge`.
    Merge,
}

/// The hooks of a commit, in the order in which git runs them, and where they are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hooks {
    directory: PathBuf,
    pub names: Vec<&'static str>,
}

/// What the hooks have left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum HookOutcome {
    Passed { tree: String, message: String },
    Refused { hook: &'static str, said: String },
}

impl Repo {
    /// The hooks that `git commit` or `git merge` would run before such a commit.
    pub(crate) fn commit_hooks(&self, made: MadeCommit) -> Result<Hooks, GitError> {
        let output = self
            .git_as_user()
            .args(["config", "--type=path", "--get", "core.hooksPath"])
            .output()?;
        let set = crate::git::call::path_line(output.stdout);
        // A relative path is one in the main checkout: that of the result would be the agent's choice.
        let directory = if set.as_os_str().is_empty() {
            self.common_dir().join("hooks")
        } else {
            self.root().join(set)
        };
        let first = match made {
            MadeCommit::Plain => "pre-commit",
            MadeCommit::Merge => "pre-merge-commit",
        };
        let names = [first, "prepare-commit-msg", "commit-msg"]
            .into_iter()
            .filter(|name| is_executable(&directory.join(name)))
            .collect();
        Ok(Hooks { directory, names })
    }

    /// Runs them in a checkout of ours, with this tree staged. They may change the index and the message.
    pub(crate) fn run_hooks(
        &self,
        hooks: &Hooks,
        checkout: &Path,
        tree: &str,
        message: &str,
        limit: Duration,
    ) -> Result<HookOutcome, GitError> {
        let git = || git_of_user().directory(checkout);
        git()
            .args(["-c", "core.hooksPath=/dev/null", "read-tree", "-m", "-u"])
            .args(["HEAD", tree])
            .deadline(SLOW)
            .run()?;
        let file = git()
            .args(["rev-parse", "--path-format=absolute", "--git-path"])
            .arg("COMMIT_EDITMSG")
            .run()?;
        let file = crate::git::call::path_line(file);
        std::fs::write(&file, message).map_err(GitError::writing(&file))?;
        for name in &hooks.names {
            let mut path = std::ffi::OsString::from("core.hooksPath=");
            path.push(&hooks.directory);
            let mut call = git()
                .arg("-c")
                .arg(path)
                .args(["hook", "run", name, "--"])
                // There is no terminal, and the message is there.
                .env("GIT_EDITOR", ":")
                .deadline(limit);
            if name.ends_with("commit-msg") {
                call = call.arg(&file);
            }
            if *name == "prepare-commit-msg" {
                call = call.arg("message");
            }
            match call.output() {
                Ok(output) if output.success() => {}
                Ok(output) => {
                    let said = [output.stdout, output.stderr].concat();
                    return Ok(HookOutcome::Refused {
                        hook: name,
                        said: String::from_utf8_lossy(&said).into_owned(),
                    });
                }
                Err(late @ Failure::Deadline { .. }) => {
                    return Ok(HookOutcome::Refused {
                        hook: name,
                        said: late.to_string(),
                    });
                }
                Err(other) => return Err(other.into()),
            }
        }
        let message = std::fs::read_to_string(&file).map_err(GitError::reading(&file))?;
        let tree = git().arg("write-tree").deadline(SLOW).text()?;
        Ok(HookOutcome::Passed { tree, message })
    }
}

fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(path)
        .is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}
