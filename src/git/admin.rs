//! The administrative directory of a linked worktree, found without asking git.

use std::path::{Path, PathBuf};

use super::call::bytes_to_path;

/// What a linked worktree's `.git` file points to, without asking git.
pub(crate) fn admin_dir_of(worktree: &Path) -> Option<PathBuf> {
    let link = std::fs::read(worktree.join(".git")).ok()?;
    let target = link.strip_prefix(b"gitdir: ")?;
    let target = target.strip_suffix(b"\n").unwrap_or(target);
    Some(worktree.join(bytes_to_path(target)))
}

/// The directory of the repository that an administrative directory belongs to.
pub(crate) fn common_dir_of(git_dir: &Path) -> Option<PathBuf> {
    let said = std::fs::read(git_dir.join("commondir")).ok()?;
    let said = said.strip_suffix(b"\n").unwrap_or(&said);
    canonical(&git_dir.join(bytes_to_path(said)))
}

/// The commit in the file of a branch; None where there is no such file, or something else in it.
pub(crate) fn loose_branch(common_dir: &Path, name: &str, length: usize) -> Option<String> {
    // Only names that git allows: none of them leads out of the directory.
    let plain = !name.is_empty() && name.split('/').all(|part| !matches!(part, "" | "." | ".."));
    let file = common_dir.join("refs/heads").join(plain.then_some(name)?);
    let text = std::fs::read_to_string(file).ok()?;
    let id = text.strip_suffix('\n')?;
    let whole = id.len() == length && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    whole.then(|| id.to_owned())
}

/// Whether a repository certainly has no such branch: neither a file of its own nor a line in `packed-refs`.
/// A file is looked for first, because git packs a ref before it deletes its file.
pub(crate) fn is_no_branch(common_dir: &Path, name: &str) -> bool {
    let plain = !name.is_empty() && name.split('/').all(|part| !matches!(part, "" | "." | ".."));
    // Other formats of refs are for git to read.
    if !plain || common_dir.join("reftable").exists() || !common_dir.join("refs/heads").is_dir() {
        return false;
    }
    let missing = |error: &std::io::Error| {
        matches!(
            error.kind(),
            std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory
        )
    };
    match common_dir.join("refs/heads").join(name).symlink_metadata() {
        Err(error) if missing(&error) => {}
        _ => return false,
    }
    match std::fs::read(common_dir.join("packed-refs")) {
        Ok(packed) => {
            let line = format!(" refs/heads/{name}");
            !packed
                .split(|byte| *byte == b'\n')
                .any(|found| found.ends_with(line.as_bytes()))
        }
        Err(error) => missing(&error),
    }
}

/// Whether certainly no checkout of a repository has this branch. False if git has to say.
pub(crate) fn is_checked_out_nowhere(common_dir: &Path, name: &str) -> bool {
    if common_dir.join("reftable").exists() {
        return false;
    }
    let other = |head: &Path| {
        // A link is an old way to name a branch.
        let is_file = head.symlink_metadata().is_ok_and(|found| found.is_file());
        let text = is_file
            .then(|| std::fs::read_to_string(head).ok())
            .flatten();
        text.is_some_and(|text| !text.is_empty() && !text.contains(name))
    };
    let admins = match std::fs::read_dir(common_dir.join("worktrees")) {
        Ok(entries) => entries.collect::<Result<Vec<_>, _>>(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    };
    // As for git, a directory that names no place is no checkout.
    let elsewhere = |admin: std::path::PathBuf| {
        let place = admin.join("gitdir").symlink_metadata();
        place.is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound)
            || other(&admin.join("HEAD"))
    };
    let linked = admins.is_ok_and(|admins| admins.iter().all(|it| elsewhere(it.path())));
    linked && other(&common_dir.join("HEAD"))
}

/// What HEAD of a checkout is on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Head {
    Branch(String),
    Detached,
}

/// What a HEAD file says; None if git has to say.
fn head_of(git_dir: &Path) -> Option<Head> {
    let file = git_dir.join("HEAD");
    // A link is an old way to name a branch.
    if !file.symlink_metadata().ok()?.is_file() {
        return None;
    }
    let text = std::fs::read_to_string(file).ok()?;
    let said = text.strip_suffix('\n')?;
    if let Some(name) = said.strip_prefix("ref: refs/heads/") {
        let plain = !name.ends_with(".invalid") && !name.contains(char::is_control);
        return plain.then(|| Head::Branch(name.to_owned()));
    }
    let id = matches!(said.len(), 40 | 64) && said.bytes().all(|byte| byte.is_ascii_hexdigit());
    id.then_some(Head::Detached)
}

/// Every checkout with its administrative directory, its place and what its HEAD is on: the main one first, whose
/// place the caller knows. None if git has to say.
pub(crate) fn heads(
    common_dir: &Path,
    length: usize,
) -> Option<Vec<(PathBuf, Option<PathBuf>, Head)>> {
    if common_dir.join("reftable").exists() {
        return None;
    }
    let mut found = vec![(common_dir.to_owned(), None, head_of(common_dir)?)];
    let admins = match std::fs::read_dir(common_dir.join("worktrees")) {
        Ok(entries) => entries.collect::<Result<Vec<_>, _>>().ok()?,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
        Err(_) => return None,
    };
    for admin in admins {
        let admin = admin.path();
        let link = match std::fs::read(admin.join("gitdir")) {
            Ok(link) => link,
            // As for git, a directory that names no place is no checkout.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            Err(_) => return None,
        };
        let link = bytes_to_path(link.strip_suffix(b"\n")?);
        let place = link
            .parent()
            .filter(|_| link.is_absolute() && link.ends_with(".git"))?;
        let head = head_of(&admin)?;
        found.push((admin, Some(place.to_owned()), head));
    }
    // A branch may be another name for one: its file then holds no commit.
    let whole = |head: &Head| match head {
        Head::Detached => true,
        Head::Branch(name) => {
            let file = common_dir.join("refs/heads").join(name);
            loose_branch(common_dir, name, length).is_some()
                || file.symlink_metadata().is_err_and(|error| {
                    matches!(
                        error.kind(),
                        std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory
                    )
                })
        }
    };
    found.iter().all(|(.., head)| whole(head)).then_some(found)
}

pub(crate) fn canonical(path: &Path) -> Option<PathBuf> {
    std::fs::canonicalize(path).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each answer that is given without git must be git's; where it is not certain, git is asked.
    #[test]
    fn what_is_said_without_git_is_certain() {
        let directory = tempfile::tempdir().unwrap();
        let common = directory.path();
        let write = |file: &str, text: &str| {
            let path = common.join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write("HEAD", "ref: refs/heads/main\n");
        write("refs/heads/a/loose", "x\n");
        write(
            "packed-refs",
            "# pack-refs\n1234 refs/heads/a/packed\n^12\n",
        );
        for (name, certain) in [
            ("a/none", true),
            ("none", true),
            ("a/loose/below", true),
            ("a/loose", false),
            ("a/packed", false),
            ("a", false),
            ("../x", false),
            ("", false),
        ] {
            assert_eq!(is_no_branch(common, name), certain, "{name}");
        }
        write("worktrees/one/HEAD", "ref: refs/heads/a/one\n");
        write("worktrees/one/gitdir", "/x/.git\n");
        write("worktrees/away/locked", "");
        assert!(is_checked_out_nowhere(common, "a/loose"));
        for name in ["main", "a/one"] {
            assert!(!is_checked_out_nowhere(common, name), "{name}");
        }
        // A checkout whose HEAD cannot be read may have any branch.
        write("worktrees/torn/gitdir", "/y/.git\n");
        assert!(!is_checked_out_nowhere(common, "a/loose"));
        std::fs::remove_dir_all(common.join("worktrees/torn")).unwrap();
        write("reftable/tables.list", "");
        assert!(!is_checked_out_nowhere(common, "a/loose"));
        assert!(!is_no_branch(common, "a/none"));
    }
}
