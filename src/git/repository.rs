//! A repository: its place, and queries about its commits and branches.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::GitError;
use super::admin::{is_no_branch, loose_branch};
use super::call::{bytes_to_path, git, path_line, require_version};
use super::plain::is_plain_repository;
use crate::process::Command;

/// A repository on disk. It may be bare or have a separate git directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Repo {
    root: PathBuf,
    common_dir: PathBuf,
    bare: bool,
    /// `sha1` or `sha256`.
    object_format: String,
}

impl Repo {
    /// The repository that `dir` lies in, seen from any checkout of it or from inside a bare one.
    pub(crate) fn discover(dir: &Path) -> Result<Self, GitError> {
        Self::discover_from(dir).map(|(repo, _)| repo)
    }

    /// The repository of an instance by the root that was recorded: one of the plainest kind is known without a
    /// call of git.
    pub(crate) fn recorded(root: &Path) -> Result<Self, GitError> {
        if !is_plain_repository(root) {
            return Self::discover(root);
        }
        Ok(Self {
            root: root.to_owned(),
            common_dir: root.join(".git"),
            bare: false,
            object_format: "sha1".to_owned(),
        })
    }

    /// As [`Self::discover`], with the path of `dir` below the top of its checkout; None at the top, and outside of a
    /// checkout.
    pub(crate) fn discover_from(dir: &Path) -> Result<(Self, Option<PathBuf>), GitError> {
        if !dir.is_dir() {
            return Err(GitError::NoSuchDirectory {
                dir: dir.to_owned(),
            });
        }
        // Two independent calls run side by side.
        let (version, answers) = std::thread::scope(|scope| {
            let version = scope.spawn(require_version);
            let answers = Answers::ask(dir);
            (version.join(), answers)
        });
        if let Ok(version) = version {
            version?;
        }
        let answers = answers?;
        let below = answers.path_below_top(dir);
        let mut repo = Self {
            root: answers.common_dir.clone(),
            common_dir: answers.common_dir,
            bare: true,
            object_format: answers.object_format,
        };
        if answers.inside_work_tree && answers.git_dir == repo.common_dir {
            repo.root = answers.top;
            repo.bare = false;
        } else {
            // From a linked worktree, or from inside the git directory.
            let bare = repo
                .git()
                .args(["config", "--type=bool", "--get", "core.bare"])
                .output()?
                .stdout_text();
            if bare != "true" {
                let main = repo.worktrees()?.into_iter().next();
                repo.bare = false;
                repo.root = main.map_or_else(|| repo.common_dir.clone(), |entry| entry.path);
            }
        }
        Ok((repo, below))
    }

    /// The main checkout, or the repository itself where it is bare.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// What all worktrees share (`.git`).
    pub(crate) fn common_dir(&self) -> &Path {
        &self.common_dir
    }

    pub(crate) fn is_bare(&self) -> bool {
        self.bare
    }

    /// `sha1` or `sha256`.
    pub(crate) fn object_format(&self) -> &str {
        &self.object_format
    }

    /// The hexadecimal length of an object id.
    pub(crate) fn id_length(&self) -> usize {
        if self.object_format == "sha256" {
            64
        } else {
            40
        }
    }

    pub(crate) fn null_id(&self) -> String {
        "0".repeat(self.id_length())
    }

    pub(crate) fn empty_tree(&self) -> &'static str {
        if self.object_format == "sha256" {
            "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321"
        } else {
            "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
        }
    }

    pub(crate) fn empty_blob(&self) -> &'static str {
        if self.object_format == "sha256" {
            "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813"
        } else {
            "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
        }
    }

    /// A git call on the repository as such, independent of any checkout.
    pub(crate) fn git(&self) -> Command {
        git()
            .directory(&self.common_dir)
            .env("GIT_DIR", &self.common_dir)
    }

    /// Where our own files in the repository go; made on first use, for the owner alone.
    pub(crate) fn own_dir(&self, name: &str) -> Result<PathBuf, GitError> {
        let dir = self.common_dir.join("bivouac").join(name);
        super::disk::ensure_private_dir(&dir)?;
        Ok(dir)
    }

    /// The commit that a revision names now.
    pub(crate) fn resolve(&self, rev: &str) -> Result<Option<String>, GitError> {
        let output = self
            .git()
            .args(["rev-parse", "--verify", "--quiet", "--end-of-options"])
            .arg(format!("{rev}^{{commit}}"))
            .output()?;
        Ok(output.success().then(|| output.stdout_text()))
    }

    /// As [`Self::resolve`], seen from a checkout: `HEAD` and `@{-1}` mean its own.
    pub(crate) fn resolve_in(&self, dir: &Path, rev: &str) -> Result<Option<String>, GitError> {
        let output = git()
            .directory(dir)
            .args(["rev-parse", "--verify", "--quiet", "--end-of-options"])
            .arg(format!("{rev}^{{commit}}"))
            .output()?;
        Ok(output.success().then(|| output.stdout_text()))
    }

    /// What a revision is called where it was named: `HEAD` is the branch that is checked out there.
    pub(crate) fn name_in(&self, dir: &Path, rev: &str) -> String {
        let branch = (rev == "HEAD")
            .then(|| head_branch(git().directory(dir)).ok().flatten())
            .flatten();
        branch.unwrap_or_else(|| rev.to_owned())
    }

    pub(crate) fn has_commits(&self) -> Result<bool, GitError> {
        let command = self.git().args(["rev-list", "-n1", "--all"]);
        Ok(!command.run()?.is_empty() || self.resolve("HEAD")?.is_some())
    }

    /// The commit of a branch; None if there is no such branch.
    pub(crate) fn branch_commit(&self, name: &str) -> Result<Option<String>, GitError> {
        // A file of its own holds before a line in `packed-refs`. All else is for git to say: packed refs,
        // other formats of refs, a file that a power cut has emptied.
        if let Some(commit) = loose_branch(self.common_dir(), name, self.id_length()) {
            return Ok(Some(commit));
        }
        if is_no_branch(self.common_dir(), name) {
            return Ok(None);
        }
        let output = self
            .git()
            .args(["rev-parse", "--verify", "--quiet", "--end-of-options"])
            .arg(format!("refs/heads/{name}^{{commit}}"))
            .output()?;
        Ok(output.success().then(|| output.stdout_text()))
    }

    /// The names of the branches below a directory of names: `a` → `a/b`, `a/c/d`.
    pub(crate) fn branches_below(&self, directory: &str) -> Result<Vec<String>, GitError> {
        let names = self
            .git()
            .args(["for-each-ref", "--format=%(refname:lstrip=2)"])
            .arg(format!("refs/heads/{directory}/"))
            .text()?;
        Ok(names.lines().map(str::to_owned).collect())
    }

    /// The names of all branches, most recently committed to first.
    pub(crate) fn branches(&self) -> Result<Vec<String>, GitError> {
        let names = self
            .git()
            .args(["for-each-ref", "--sort=-committerdate"])
            .args(["--format=%(refname:short)", "refs/heads"])
            .text()?;
        Ok(names.lines().map(str::to_owned).collect())
    }

    /// Whether a *new* branch may have this name: well formed, free, and not in the way of another
    /// (`a` against `a/b`).
    pub(crate) fn validate_branch_name(&self, name: &str) -> Result<(), GitError> {
        if !is_plain(name) {
            let well_formed = git()
                .directory(&self.common_dir)
                .args(["check-ref-format", "--branch", name])
                .output()?;
            // `@{-1}` passes as a name for something else.
            if !well_formed.success() || well_formed.stdout_text() != name || name.starts_with('-')
            {
                return Err(GitError::BranchName {
                    name: name.to_owned(),
                });
            }
        }
        let names = self
            .git()
            .args([
                "for-each-ref",
                "--format=%(refname:lstrip=2)",
                "refs/heads/",
            ])
            .text()?;
        for other in names.lines() {
            if other == name {
                return Err(GitError::BranchExists {
                    name: name.to_owned(),
                });
            }
            let below = |short: &str, long: &str| {
                long.strip_prefix(short)
                    .is_some_and(|rest| rest.starts_with('/'))
            };
            if below(other, name) || below(name, other) {
                return Err(GitError::BranchPrefix {
                    name: name.to_owned(),
                    other: other.to_owned(),
                });
            }
        }
        Ok(())
    }

    /// Makes a branch again that was deleted; refused if one of that name exists by now.
    pub(crate) fn create_branch(&self, name: &str, commit: &str) -> Result<(), GitError> {
        if self.branch_commit(name)?.as_deref() == Some(commit) {
            return Ok(());
        }
        self.validate_branch_name(name)?;
        self.git()
            .args(["update-ref", "-m", "bivouac: made again"])
            .arg(format!("refs/heads/{name}"))
            .arg(commit)
            .arg(self.null_id())
            .run()?;
        Ok(())
    }

    /// Deletes a branch if it is still at the commit that the caller saw and is checked out nowhere.
    /// A branch that is gone already is no error.
    pub(crate) fn delete_branch(&self, name: &str, expected: &str) -> Result<(), GitError> {
        let Some(found) = self.branch_commit(name)? else {
            return Ok(());
        };
        if found != expected {
            return Err(GitError::BranchMoved {
                name: name.to_owned(),
                expected: expected.to_owned(),
                found,
            });
        }
        if let Some(path) = self.branch_in_use(name)? {
            return Err(GitError::BranchInUse {
                name: name.to_owned(),
                path,
            });
        }
        self.git()
            .args(["update-ref", "-d"])
            .arg(format!("refs/heads/{name}"))
            .arg(expected)
            .run()?;
        // Upstream settings of a deleted branch would apply to the next one of that name.
        let settings = std::fs::read_to_string(self.common_dir.join("config"));
        let has_none = is_plain(name) && settings.is_ok_and(|text| !text.contains(name));
        if !has_none {
            // There may be none, so a failure does not matter.
            self.git()
                .args(["config", "--local", "--remove-section"])
                .arg(format!("branch.{name}"))
                .output()?;
        }
        Ok(())
    }
}

pub(crate) fn head_branch(git: Command) -> Result<Option<String>, GitError> {
    let output = git.args(["symbolic-ref", "--quiet", "HEAD"]).output()?;
    Ok(output
        .stdout_text()
        .strip_prefix("refs/heads/")
        .map(str::to_owned))
}

/// Whether a name is certainly valid, without asking git: lower-case letters, digits and single
/// dashes, in parts separated by slashes.
fn is_plain(name: &str) -> bool {
    name.split('/').all(|part| {
        !part.is_empty()
            && !part.starts_with('-')
            && part
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
    })
}

/// What git says of a directory.
struct Answers {
    common_dir: PathBuf,
    git_dir: PathBuf,
    inside_work_tree: bool,
    object_format: String,
    /// The top of the checkout; meaningless outside of one.
    top: PathBuf,
}

impl Answers {
    /// One call for all answers, if they can be told apart: a path may hold a newline.
    fn ask(dir: &Path) -> Result<Self, GitError> {
        let output = rev_parse(dir)
            .args(["--git-common-dir", "--absolute-git-dir"])
            .args([
                "--is-inside-work-tree",
                "--show-object-format",
                "--show-toplevel",
            ])
            .output()?;
        let lines: Vec<&[u8]> = output.stdout.split(|byte| *byte == b'\n').collect();
        // Outside of a checkout the last option fails, after the others were answered.
        let [common_dir, git_dir, inside, object_format, top @ ..] = lines.as_slice() else {
            return Self::ask_one_by_one(dir);
        };
        let whole = matches!(*inside, b"true" | b"false")
            && top.len() <= 2
            && output.success() == (*inside == b"true");
        if !whole {
            return Self::ask_one_by_one(dir);
        }
        Ok(Self {
            common_dir: bytes_to_path(common_dir),
            git_dir: bytes_to_path(git_dir),
            inside_work_tree: *inside == b"true",
            object_format: String::from_utf8_lossy(object_format).into_owned(),
            top: bytes_to_path(top.first().copied().unwrap_or_default()),
        })
    }

    fn path_below_top(&self, dir: &Path) -> Option<PathBuf> {
        let real = dir.canonicalize().ok().filter(|_| self.inside_work_tree)?;
        let below = real.strip_prefix(self.top.canonicalize().ok()?).ok()?;
        (!below.as_os_str().is_empty()).then(|| below.to_owned())
    }

    fn ask_one_by_one(dir: &Path) -> Result<Self, GitError> {
        let common_dir = ask(dir, "--git-common-dir")?;
        let git_dir = ask(dir, "--absolute-git-dir")?;
        let facts = rev_parse(dir)
            .args(["--is-inside-work-tree", "--show-object-format"])
            .text()?;
        let mut facts = facts.lines();
        let inside_work_tree = facts.next() == Some("true");
        Ok(Self {
            common_dir,
            git_dir,
            inside_work_tree,
            object_format: facts.next().unwrap_or("sha1").to_owned(),
            top: if inside_work_tree {
                ask(dir, "--show-toplevel")?
            } else {
                PathBuf::new()
            },
        })
    }
}

fn rev_parse(dir: &Path) -> Command {
    git()
        .directory(dir)
        .args(["rev-parse", "--path-format=absolute"])
}

/// One path that git prints about `dir`; its refusals become separate errors.
fn ask(dir: &Path, question: &str) -> Result<PathBuf, GitError> {
    let command = rev_parse(dir).arg(question);
    let output = command.output()?;
    if output.success() {
        return Ok(path_line(output.stdout));
    }
    let said = output.stderr_text();
    if said.contains("dubious ownership") {
        let fix = said
            .lines()
            .map(str::trim)
            .find(|line| line.starts_with("git config"))
            .map_or_else(
                || {
                    format!(
                        "git config --global --add safe.directory '{}'",
                        dir.display()
                    )
                },
                str::to_owned,
            );
        return Err(GitError::DubiousOwnership {
            dir: dir.to_owned(),
            fix,
        });
    }
    if said.contains("not a git repository") {
        return Err(GitError::NotARepository {
            dir: dir.to_owned(),
        });
    }
    if said.contains("Permission denied") {
        return Err(GitError::Unreadable {
            path: dir.to_owned(),
            source: std::io::Error::from(std::io::ErrorKind::PermissionDenied),
        });
    }
    Err(command.status_failure(&output).into())
}
