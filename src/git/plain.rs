//! A repository of the plainest kind, known by its files alone.
//!
//! Most repositories are a directory with `.git` in it and nothing unusual in its settings. For these the answer is
//! git's, without two processes; everything else is for git to say.

use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::admin::canonical;

/// Settings that lead elsewhere: another file, another format, another checkout.
const LEADING_AWAY: [&str; 3] = ["include", "extensions", "worktree"];

/// Whether `root` certainly is the main checkout of a repository of this user that lies in `root/.git`, has ids of
/// SHA-1, and keeps its refs in files.
pub(super) fn is_plain_repository(root: &Path) -> bool {
    let git_dir = root.join(".git");
    let own = |path: &Path| {
        let user = rustix::process::geteuid().as_raw();
        path.symlink_metadata()
            .is_ok_and(|found| found.is_dir() && found.uid() == user)
    };
    // Git prints real paths.
    canonical(root).as_deref() == Some(root)
        && own(root)
        && own(&git_dir)
        && git_dir.join("objects").is_dir()
        && git_dir.join("refs").is_dir()
        && git_dir.join("HEAD").is_file()
        && !git_dir.join("commondir").exists()
        && std::fs::read_to_string(git_dir.join("config")).is_ok_and(|text| has_no_surprise(&text))
}

/// Whether settings are those of a plain repository with a checkout.
fn has_no_surprise(settings: &str) -> bool {
    let settings = settings.to_ascii_lowercase();
    let values = |name: &str| -> Vec<String> {
        let lines = settings.lines().filter(|line| line.contains(name));
        lines
            .map(|line| line.split_whitespace().collect::<String>())
            .collect()
    };
    !LEADING_AWAY.iter().any(|word| settings.contains(word))
        // A line that goes on in the next one could hide a name.
        && !settings.contains('\\')
        && values("bare") == ["bare=false"]
        && values("repositoryformatversion") == ["repositoryformatversion=0"]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_that_could_lead_elsewhere_are_for_git() {
        let plain = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n";
        assert!(has_no_surprise(plain));
        assert!(has_no_surprise(&format!(
            "{plain}[remote \"origin\"]\n\turl = https://example.org/x\n[user]\n\tname = A B\n"
        )));
        for more in [
            "[include]\n\tpath = other\n",
            "[includeIf \"gitdir:~/\"]\n\tpath = other\n",
            "[Extensions]\n\tobjectFormat = sha256\n",
            "[core]\n\tworktree = /elsewhere\n",
            "[core]\n\tbare = true\n",
            "[core] bare = false\n",
            "[core]\n\tbare\n",
            "[core]\n\trepositoryformatversion = 1\n",
            "[core]\n\twork\\\ntree = /elsewhere\n",
        ] {
            assert!(!has_no_surprise(&format!("{plain}{more}")), "{more}");
        }
        assert!(!has_no_surprise(""));
        assert!(!has_no_surprise("[core]\n\trepositoryformatversion = 0\n"));
    }

    #[test]
    fn the_answer_is_that_of_git() {
        let directory = tempfile::tempdir().unwrap();
        let directory = directory.path().canonicalize().unwrap();
        let git = |words: &[&str]| {
            let call = super::super::call::git().directory(&directory).args(words);
            call.run().unwrap();
        };
        git(&["init", "-q", "plain"]);
        git(&["init", "-q", "--bare", "bare"]);
        git(&["init", "-q", "--separate-git-dir=apart.git", "apart"]);
        std::os::unix::fs::symlink(directory.join("plain"), directory.join("link")).unwrap();
        for (name, plain) in [
            ("plain", true),
            ("bare", false),
            ("apart", false),
            ("link", false),
            ("none", false),
        ] {
            assert_eq!(is_plain_repository(&directory.join(name)), plain, "{name}");
        }
        let root = directory.join("plain");
        let asked = super::super::Repo::discover(&root).unwrap();
        assert_eq!(super::super::Repo::recorded(&root).unwrap(), asked);
    }
}
