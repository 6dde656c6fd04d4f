//! A repository of a test, and git as a user would call it.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::Camp;

#[derive(Debug, Clone)]
pub(crate) struct Repository {
    pub(crate) path: PathBuf,
    environment: Vec<(String, String)>,
}

impl Repository {
    pub(super) fn at(camp: &Camp, path: PathBuf) -> Self {
        Self {
            path,
            environment: camp.environment(),
        }
    }

    /// Runs git here; what it prints, without the last newline.
    #[track_caller]
    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        let output = self.try_git(arguments);
        assert!(
            output.status.success(),
            "git {arguments:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8_lossy(&output.stdout)
            .trim_end()
            .to_owned()
    }

    pub(crate) fn try_git(&self, arguments: &[&str]) -> std::process::Output {
        Command::new("git")
            .args(arguments)
            .current_dir(&self.path)
            .env_clear()
            .envs(self.environment.iter().cloned())
            .output()
            .expect("git is needed for the tests: run scripts/setup")
    }

    /// The same repository, seen from another of its checkouts.
    pub(crate) fn seen_from(&self, path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            environment: self.environment.clone(),
        }
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.path.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    pub(crate) fn commit(&self, message: &str) -> String {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", message]);
        self.git(&["rev-parse", "HEAD"])
    }

    pub(crate) fn branches(&self) -> Vec<String> {
        self.git(&["for-each-ref", "--format=%(refname:short)", "refs/heads"])
            .lines()
            .map(str::to_owned)
            .collect()
    }

    /// The checkouts besides the main one.
    pub(crate) fn worktrees(&self) -> Vec<PathBuf> {
        self.git(&["worktree", "list", "--porcelain"])
            .lines()
            .filter_map(|line| line.strip_prefix("worktree "))
            .map(PathBuf::from)
            .skip(1)
            .collect()
    }

    /// Refs that are Bivouac's own: in the vault, and those that keep commits in the repository.
    pub(crate) fn snapshots(&self) -> Vec<String> {
        let list = ["for-each-ref", "--format=%(refname)"];
        let mut refs = self.git(&[&list[..], &["refs/bivouac*/**"]].concat());
        let vault = self.vault();
        if vault.exists() {
            refs.push('\n');
            refs.push_str(&self.seen_from(&vault).git(&list));
        }
        refs.lines()
            .filter(|line| !line.is_empty())
            .map(str::to_owned)
            .collect()
    }

    /// Where the content of snapshots is.
    pub(crate) fn vault(&self) -> PathBuf {
        let common = self.git(&["rev-parse", "--path-format=absolute", "--git-common-dir"]);
        PathBuf::from(common).join("bivouac/vault")
    }
}
