//! Commits on their way to a repository on another machine, as a bundle.

use std::io::Write;
use std::path::Path;

use super::call::{SLOW, fetching, git};
use super::{GitError, Repo};

/// Where the branches of the machine that the commits come from are kept.
const HOME_REFS: &str = "refs/remotes/home/";
/// More tips would save nothing.
const MOST_TIPS: usize = 2000;

impl Repo {
    /// A shallow clone does not have all commits.
    pub(crate) fn is_shallow(&self) -> Result<bool, GitError> {
        let answer = self
            .git()
            .args(["rev-parse", "--is-shallow-repository"])
            .text()?;
        Ok(answer == "true")
    }

    /// The commits that branches and remote branches stand at, newest first.
    pub(crate) fn tips(&self) -> Result<Vec<String>, GitError> {
        let count = format!("--count={MOST_TIPS}");
        let tips = self
            .git()
            .args(["for-each-ref", "--sort=-committerdate", &count])
            .args(["--format=%(objectname)", "refs/heads", "refs/remotes"])
            .text()?;
        let mut tips: Vec<String> = tips.lines().map(str::to_owned).collect();
        tips.sort();
        tips.dedup();
        Ok(tips)
    }

    /// Those of the commits that this repository has.
    pub(crate) fn having(&self, commits: &[String]) -> Result<Vec<String>, GitError> {
        let is_id = |id: &&String| {
            id.len() == self.id_length() && id.bytes().all(|byte| byte.is_ascii_hexdigit())
        };
        let asked: String = commits
            .iter()
            .filter(is_id)
            .map(|commit| format!("{commit}\n"))
            .collect();
        if asked.is_empty() {
            return Ok(Vec::new());
        }
        let answer = self
            .git()
            .args(["cat-file", "--batch-check"])
            .stdin(asked)
            .text()?;
        let found = answer.lines().filter_map(|line| {
            let (id, rest) = line.split_once(' ')?;
            rest.starts_with("commit ").then(|| id.to_owned())
        });
        Ok(found.collect())
    }

    /// Writes a bundle with this commit under a name, without what the other side has.
    pub(crate) fn write_bundle(
        &self,
        commit: &str,
        name: &str,
        there: &[String],
        mut file: &std::fs::File,
        path: &Path,
    ) -> Result<(), GitError> {
        let writing = GitError::writing(path);
        let head = match self.object_format() {
            "sha1" => "# v2 git bundle\n".to_owned(),
            format => format!("# v3 git bundle\n@object-format={format}\n"),
        };
        let needed: String = there.iter().map(|known| format!("-{known} \n")).collect();
        let left_out: String = there.iter().map(|known| format!("^{known}\n")).collect();
        let head = format!("{head}{needed}{commit} {HOME_REFS}{name}\n\n");
        let revisions = format!("{commit}\n{left_out}");
        file.write_all(head.as_bytes()).map_err(writing)?;
        let command = fetching(self.git())
            .args(["pack-objects", "--revs", "--thin", "--stdout", "-q"])
            .arg("--delta-base-offset")
            .deadline(SLOW);
        let packed = command
            .stdin(revisions.into_bytes())
            .streamed(|pack| std::io::copy(pack, &mut file));
        let (copied, status) = packed?;
        copied.map_err(GitError::writing(path))?;
        if status.success() {
            Ok(())
        } else {
            Err(GitError::Unexpected {
                call: "git pack-objects".to_owned(),
                answer: status.to_string(),
            })
        }
    }

    /// Takes a branch out of a bundle; its objects are checked. Returns the name to start from.
    pub(crate) fn receive_bundle(&self, bundle: &Path, name: &str) -> Result<String, GitError> {
        self.git()
            .args(["-c", "fetch.fsckObjects=true", "fetch", "-q", "--no-tags"])
            .args(["--no-write-fetch-head", "--no-auto-gc"])
            .arg(bundle)
            .arg(format!("+{HOME_REFS}{name}:{HOME_REFS}{name}"))
            .deadline(SLOW)
            .run()?;
        Ok(format!("home/{name}"))
    }

    /// Moves that branch to a commit that is here already.
    pub(crate) fn set_home_branch(&self, name: &str, commit: &str) -> Result<String, GitError> {
        self.git()
            .args(["update-ref", &format!("{HOME_REFS}{name}"), commit])
            .run()?;
        Ok(format!("home/{name}"))
    }

    /// Makes a repository without a checkout, unless it is there.
    pub(crate) fn ensure_bare(path: &Path, object_format: &str) -> Result<Self, GitError> {
        if !path.join("HEAD").exists() {
            git()
                .args(["init", "-q", "--bare"])
                .arg(format!("--object-format={object_format}"))
                .arg(path)
                .run()?;
        }
        Self::discover(path)
    }

    /// Whether a branch may have this name below `refs/remotes/home/`.
    pub(crate) fn is_branch_name(name: &str) -> bool {
        let checked = git()
            .args(["check-ref-format", &format!("{HOME_REFS}{name}")])
            .output();
        checked.is_ok_and(|output| output.success())
    }
}
