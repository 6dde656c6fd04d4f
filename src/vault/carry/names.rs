//! Which names an export may write, and where.

/// Why a path of an export is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Trouble {
    /// Empty, absolute, with `.` or `..` in it.
    LeadsOut,
    /// It is, or on some filesystem could be taken for, git's own directory at the top.
    GitDirectory,
    /// The same inside of a directory: a repository of its own, whose settings git would follow.
    Nested,
}

/// What is wrong with the path of a file of the worktree.
pub(super) fn trouble(path: &[u8]) -> Option<Trouble> {
    if !is_relative(path) {
        return Some(Trouble::LeadsOut);
    }
    let mut found = None;
    for (depth, name) in path.split(|byte| *byte == b'/').enumerate() {
        if could_be_git(name) {
            // A short name is git's directory on a filesystem that has such names.
            if depth == 0 && !name.starts_with(b"git~") {
                return Some(Trouble::GitDirectory);
            }
            found = Some(Trouble::Nested);
        }
    }
    found
}

/// Whether it stays below the directory that it is meant for.
pub(super) fn is_relative(path: &[u8]) -> bool {
    !path.is_empty()
        && path
            .split(|byte| *byte == b'/')
            .all(|name| !matches!(name, b"" | b"." | b".."))
        && !path.contains(&0)
}

/// `.git` in any case, with characters that some filesystems ignore, and its short name.
pub(super) fn could_be_git(name: &[u8]) -> bool {
    let text = String::from_utf8_lossy(name);
    let mut plain: String = text
        .chars()
        .filter(|letter| !is_ignored(*letter))
        .flat_map(char::to_lowercase)
        .collect();
    // What follows a colon names a stream of the same file on NTFS; dots and blanks at the end go.
    if let Some(colon) = plain.find(':') {
        plain.truncate(colon);
    }
    let plain = plain.trim_end_matches(['.', ' ']);
    plain == ".git" || plain == "git~1"
}

/// Characters that HFS+ leaves out when it compares names.
fn is_ignored(letter: char) -> bool {
    matches!(letter,
        '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}')
}

/// Files of git's own record of a worktree that an export may bring: state, and nothing that is run or
/// says where something lies.
const ADMIN: &[&str] = &[
    "ORIG_HEAD",
    "FETCH_HEAD",
    "MERGE_HEAD",
    "MERGE_MSG",
    "MERGE_MODE",
    "MERGE_RR",
    "MERGE_AUTOSTASH",
    "AUTO_MERGE",
    "SQUASH_MSG",
    "CHERRY_PICK_HEAD",
    "REVERT_HEAD",
    "REBASE_HEAD",
    "COMMIT_EDITMSG",
    "BISECT_ANCESTORS_OK",
    "BISECT_EXPECTED_REV",
    "BISECT_FIRST_PARENT",
    "BISECT_LOG",
    "BISECT_NAMES",
    "BISECT_RUN",
    "BISECT_START",
    "BISECT_TERMS",
    "NOTES_MERGE_PARTIAL",
    "NOTES_MERGE_REF",
    "NOTES_MERGE_WORKTREE",
    "locked",
];

const ADMIN_DIRECTORIES: &[&str] = &[
    "rebase-merge",
    "rebase-apply",
    "sequencer",
    "logs",
    "refs",
    "info",
];

/// Whether this file of git's record travels. HEAD and the index travel in another form.
pub(super) fn is_admin(path: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(path) else {
        return false;
    };
    if !is_relative(path) || text.ends_with(".lock") {
        return false;
    }
    match text.split_once('/') {
        None => ADMIN.contains(&text),
        Some(("info", rest)) => rest == "sparse-checkout",
        Some(("logs", rest)) => rest == "HEAD" || is_own_ref(rest),
        Some(("refs", _)) => is_own_ref(text),
        Some((directory, _)) => ADMIN_DIRECTORIES.contains(&directory),
    }
}

/// A ref that belongs to one worktree alone.
pub(super) fn is_own_ref(name: &str) -> bool {
    ["refs/bisect/", "refs/worktree/", "refs/rewritten/"]
        .iter()
        .any(|prefix| {
            name.strip_prefix(prefix)
                .is_some_and(|rest| !rest.is_empty())
        })
        && is_relative(name.as_bytes())
        && !name.contains("..")
        && name
            .bytes()
            .all(|byte| byte.is_ascii_graphic() && !b"~^:?*[\\".contains(&byte))
}

/// The name of a part: `runs/<id>.json`, `conversation/current.jsonl`.
pub(super) fn is_part(name: &str) -> bool {
    is_relative(name.as_bytes())
        && name.len() <= 200
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"/._-".contains(&byte))
        && name.split('/').all(|piece| !piece.starts_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_lead_out_or_into_git_are_told_apart() {
        for (path, expected) in [
            ("a/b", None),
            (".gitignore", None),
            ("a/.gitmodules", None),
            ("../a", Some(Trouble::LeadsOut)),
            ("a/../../b", Some(Trouble::LeadsOut)),
            ("/etc/passwd", Some(Trouble::LeadsOut)),
            ("", Some(Trouble::LeadsOut)),
            ("a//b", Some(Trouble::LeadsOut)),
            ("./a", Some(Trouble::LeadsOut)),
            (".git", Some(Trouble::GitDirectory)),
            (".GIT/config", Some(Trouble::GitDirectory)),
            (".g\u{200c}it/config", Some(Trouble::GitDirectory)),
            ("git~1/config", Some(Trouble::Nested)),
            (".git. /config", Some(Trouble::GitDirectory)),
            (
                ".git::$INDEX_ALLOCATION/config",
                Some(Trouble::GitDirectory),
            ),
            ("lib/.Git/hooks/x", Some(Trouble::Nested)),
        ] {
            assert_eq!(trouble(path.as_bytes()), expected, "{path}");
        }
    }

    #[test]
    fn only_state_of_a_worktree_travels() {
        for path in [
            "MERGE_HEAD",
            "rebase-merge/git-rebase-todo",
            "logs/HEAD",
            "refs/bisect/bad",
            "logs/refs/worktree/mine",
        ] {
            assert!(is_admin(path.as_bytes()), "{path}");
        }
        for path in [
            "HEAD",
            "index",
            "index.lock",
            "commondir",
            "gitdir",
            "config.worktree",
            "hooks/post-checkout",
            "info/attributes",
            "modules/x/config",
            "rebase-merge/../config",
            "refs/heads/main",
            "logs/refs/heads/main",
        ] {
            assert!(!is_admin(path.as_bytes()), "{path}");
        }
    }
}
