//! A checkout as git sees it: a directory of files and its administrative directory. While a
//! worktree is parked both lie elsewhere, and git needs their explicit paths.

use std::path::{Path, PathBuf};

use super::admin::{admin_dir_of, canonical, common_dir_of};
use super::call::{git, path_line};
use super::repository::head_branch;
use super::{GitError, Repo};
use crate::process::Command;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Checkout {
    /// The files.
    pub dir: PathBuf,
    /// HEAD, index, operation in progress.
    pub git_dir: PathBuf,
    /// Objects and shared refs.
    pub common_dir: PathBuf,
}

impl Checkout {
    /// The checkout at its usual place.
    pub(crate) fn live(repo: &Repo, dir: &Path) -> Result<Self, GitError> {
        match Self::live_on_disk(repo, dir) {
            Some(checkout) => Ok(checkout),
            None => Self::asked(repo, dir),
        }
    }

    /// The same without a call of git; None if git has to say.
    pub(crate) fn live_on_disk(repo: &Repo, dir: &Path) -> Option<Self> {
        Self::linked(repo, dir).or_else(|| Self::main(repo, dir))
    }

    /// The main checkout, which has the repository in it.
    fn main(repo: &Repo, dir: &Path) -> Option<Self> {
        let git_dir = dir.join(".git");
        let own = std::fs::symlink_metadata(&git_dir).is_ok_and(|found| found.is_dir());
        let ours = own && canonical(&git_dir)? == canonical(repo.common_dir())?;
        ours.then(|| Self {
            dir: dir.to_owned(),
            git_dir: repo.common_dir().to_owned(),
            common_dir: repo.common_dir().to_owned(),
        })
    }

    /// A linked worktree whose two halves name each other and this repository: there is nothing to
    /// ask git.
    fn linked(repo: &Repo, dir: &Path) -> Option<Self> {
        let git_dir = canonical(&admin_dir_of(dir)?)?;
        let ours = common_dir_of(&git_dir)? == canonical(repo.common_dir())?;
        let whole = git_dir.join("HEAD").exists();
        (ours && whole).then(|| Self {
            dir: dir.to_owned(),
            git_dir,
            common_dir: repo.common_dir().to_owned(),
        })
    }

    fn asked(repo: &Repo, dir: &Path) -> Result<Self, GitError> {
        let not_ours = || GitError::NotAWorktree {
            path: dir.to_owned(),
        };
        let output = git()
            .directory(dir)
            .args(["rev-parse", "--absolute-git-dir"])
            .output()
            .map_err(|_| not_ours())?;
        if !output.success() {
            return Err(not_ours());
        }
        let git_dir = path_line(output.stdout);
        let checkout = Self {
            dir: dir.to_owned(),
            git_dir,
            common_dir: repo.common_dir().to_owned(),
        };
        // An admin directory says itself which repository it belongs to.
        if checkout.is_main()
            || common_dir_of(&checkout.git_dir).as_deref()
                == canonical(repo.common_dir()).as_deref()
        {
            Ok(checkout)
        } else {
            Err(not_ours())
        }
    }

    /// Whether this is the main checkout, whose git directory holds the whole repository.
    pub(crate) fn is_main(&self) -> bool {
        canonical(&self.git_dir) == canonical(&self.common_dir)
    }

    /// A git call on this checkout, wherever its two halves lie.
    pub(crate) fn git(&self) -> Command {
        let command = git()
            .directory(&self.dir)
            .env("GIT_DIR", &self.git_dir)
            .env("GIT_WORK_TREE", &self.dir);
        if self.is_main() {
            command
        } else {
            // A parked admin directory still names the old place.
            command.env("GIT_COMMON_DIR", &self.common_dir)
        }
    }

    pub(crate) fn index_path(&self) -> PathBuf {
        self.git_dir.join("index")
    }

    /// The branch that HEAD names, born or not; None when detached.
    pub(crate) fn head_branch(&self) -> Result<Option<String>, GitError> {
        match self.head_file() {
            Some(head) => Ok(head.strip_prefix("ref: refs/heads/").map(str::to_owned)),
            None => head_branch(self.git()),
        }
    }

    /// Points HEAD at another branch. Where HEAD is a file nothing is written to its log, so that it
    /// can be taken back without a trace.
    pub(crate) fn point_head(&self, branch: &str) -> Result<(), GitError> {
        if self.head_file().is_none() {
            self.git()
                .args(["symbolic-ref", "HEAD"])
                .arg(format!("refs/heads/{branch}"))
                .run()?;
            return Ok(());
        }
        let head = self.git_dir.join("HEAD");
        let fresh = self.git_dir.join("bivouac-HEAD");
        std::fs::write(&fresh, format!("ref: refs/heads/{branch}\n"))
            .and_then(|()| std::fs::File::open(&fresh)?.sync_all())
            .and_then(|()| std::fs::rename(&fresh, &head))
            .map_err(GitError::writing(&head))?;
        super::disk::sync_dir(&self.git_dir)
    }

    /// The content of HEAD, if it is a plain file. Not if it is a symlink, or if the repository uses
    /// reftables, where the file is a placeholder.
    fn head_file(&self) -> Option<String> {
        let path = self.git_dir.join("HEAD");
        let plain = std::fs::symlink_metadata(&path).ok()?.is_file();
        let text = std::fs::read_to_string(path).ok().filter(|_| plain)?;
        let said = text.strip_suffix('\n')?;
        let told = !said.ends_with(".invalid") && !said.contains(char::is_control);
        told.then(|| said.to_owned())
    }

    pub(crate) fn head_commit(&self) -> Result<Option<String>, GitError> {
        let output = self
            .git()
            .args(["rev-parse", "--verify", "--quiet", "HEAD^{commit}"])
            .output()?;
        Ok(output.success().then(|| output.stdout_text()))
    }

    /// The git operation in progress, named like git's command for it.
    pub(crate) fn operation_in_progress(&self) -> Option<&'static str> {
        [
            ("MERGE_HEAD", "merge"),
            ("rebase-merge", "rebase"),
            ("rebase-apply/applying", "am"),
            ("rebase-apply", "rebase"),
            ("CHERRY_PICK_HEAD", "cherry-pick"),
            ("REVERT_HEAD", "revert"),
            ("sequencer", "cherry-pick"),
            ("BISECT_LOG", "bisect"),
        ]
        .into_iter()
        .find(|(file, _)| self.git_dir.join(file).exists())
        .map(|(_, operation)| operation)
    }
}
