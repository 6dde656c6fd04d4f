//! All that can be seen of a worktree and its repository, as lines that can be compared.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Each line names a thing and its value; equal worktrees have equal lines.
pub(crate) fn fingerprint(main: &Path, worktree: &Path) -> Vec<String> {
    let mut lines = Vec::new();
    files(worktree, &mut lines);
    admin(worktree, &mut lines);
    lines.extend(answers(main, worktree));
    lines
}

/// What git says of the worktree and its repository.
pub(crate) fn answers(main: &Path, worktree: &Path) -> Vec<String> {
    let mut lines = Vec::new();
    for (name, args) in QUESTIONS {
        lines.extend(asked(worktree, name, args));
    }
    // It is a shell script that starts many processes, and says nothing where the index has no
    // entry of a submodule.
    if lines
        .iter()
        .any(|line| line.starts_with("entries: ") && line.contains(" 160000 "))
    {
        lines.extend(asked(worktree, "submodules", &["submodule", "status"]));
    }
    for (name, args) in [
        ("main status", &["status", "--porcelain", "-z"][..]),
        ("main HEAD", &["rev-parse", "HEAD"]),
        ("main branch", &["symbolic-ref", "HEAD"]),
        ("refs", &["for-each-ref"]),
        ("worktrees", &["worktree", "list", "--porcelain", "-z"]),
        ("configuration", &["config", "--list", "--local", "-z"]),
    ] {
        lines.extend(asked(main, name, args));
    }
    // It starts a process for each kind of file that speeds git up, though there be none.
    let without = [
        "-c",
        "core.commitGraph=false",
        "-c",
        "core.multiPackIndex=false",
    ];
    let without: &[&str] = if is_sped_up(main) { &[] } else { &without };
    let fsck = ["fsck", "--connectivity-only", "--no-dangling"];
    lines.extend(asked(main, "fsck", &[without, &fsck].concat()));
    let hooks = worktree.parent().unwrap_or(worktree).join("hook-ran");
    lines.push(format!(
        "hooks that ran: {:?}",
        std::fs::read_to_string(hooks).ok()
    ));
    lines
}

const QUESTIONS: &[(&str, &[&str])] = &[
    (
        "status",
        &[
            "status",
            "--porcelain=v2",
            "--branch",
            "-z",
            "--untracked-files=all",
            "--ignored=matching",
        ],
    ),
    ("entries", &["ls-files", "-s", "-v", "-z"]),
    ("flags", &["ls-files", "--debug"]),
    ("resolve-undo", &["ls-files", "--resolve-undo", "-z"]),
    ("HEAD", &["rev-parse", "HEAD"]),
    ("branch", &["symbolic-ref", "HEAD"]),
    (
        "own refs",
        &[
            "for-each-ref",
            "refs/bisect",
            "refs/worktree",
            "refs/rewritten",
        ],
    ),
    ("log", &["reflog", "--format=%H %gs", "HEAD"]),
    ("stash", &["stash", "list", "--format=%H %gs"]),
    (
        "staged",
        &[
            "diff",
            "--cached",
            "--raw",
            "-z",
            "--no-abbrev",
            "--no-ext-diff",
        ],
    ),
];

/// Whether the repository has a commit graph or an index of many packs.
fn is_sped_up(main: &Path) -> bool {
    let objects = [main.join(".git/objects"), main.join("objects")];
    objects.iter().any(|objects| {
        [
            "info/commit-graph",
            "info/commit-graphs",
            "pack/multi-pack-index",
        ]
        .iter()
        .any(|name| objects.join(name).exists())
    })
}

fn asked(dir: &Path, name: &str, args: &[&str]) -> Vec<String> {
    let mut command = Command::new("git");
    for (variable, _) in std::env::vars_os() {
        if variable.as_bytes().starts_with(b"GIT_") {
            command.env_remove(variable);
        }
    }
    let output = command
        .current_dir(dir)
        .env("LC_ALL", "C")
        .args([
            "--no-optional-locks",
            "-c",
            "core.hooksPath=/dev/null",
            "-c",
            "core.fsmonitor=false",
        ])
        .args(["-c", "color.ui=never"])
        .args(args)
        .output()
        .unwrap();
    let text = |bytes: &[u8]| {
        bytes
            .escape_ascii()
            .to_string()
            .replace("\\x00", "\n")
            .replace("\\n", "\n")
    };
    let mut lines: Vec<String> = text(&output.stdout)
        .lines()
        // Ours come and go. (`--exclude` would hide others too: it is broken with reftable.)
        .filter(|line| name != "refs" || !line.contains("refs/bivouac"))
        // Stat data is git's own business; flags are not.
        .filter(|line| name != "flags" || line.contains("flags:") || !line.starts_with(' '))
        .map(|line| match line.split_once("flags:") {
            Some((_, flags)) if name == "flags" => format!("{name}: flags {flags}"),
            _ => format!("{name}: {line}"),
        })
        .collect();
    if name == "fsck" {
        // Git misses the empty tree, which every repository has without having it.
        lines.retain(|line| !line.contains("missing tree 4b825dc"));
        return lines;
    }
    lines.push(format!(
        "{name}: exit {:?} {}",
        output.status.code(),
        text(&output.stderr)
    ));
    lines
}

/// Every path below the worktree with type, mode, times, content and who shares it.
pub(crate) fn files(worktree: &Path, lines: &mut Vec<String>) {
    let mut links: HashMap<(u64, u64), String> = HashMap::new();
    for path in below(worktree) {
        let name = shown(worktree, &path);
        let Ok(found) = std::fs::symlink_metadata(&path) else {
            continue;
        };
        // Git rewrites these whenever it is asked something.
        if name.ends_with("/index") && name.contains(".git/") {
            continue;
        }
        let kind = found.file_type();
        let content = if kind.is_file() {
            format!("file {} {}", found.len(), hash(&path))
        } else if kind.is_symlink() {
            format!(
                "symlink to {}",
                std::fs::read_link(&path)
                    .unwrap()
                    .as_os_str()
                    .as_bytes()
                    .escape_ascii()
            )
        } else if kind.is_dir() {
            "directory".to_owned()
        } else if kind.is_fifo() {
            "fifo".to_owned()
        } else if kind.is_socket() {
            "socket".to_owned()
        } else {
            "special".to_owned()
        };
        let shared = if kind.is_file() && found.nlink() > 1 {
            let first = links
                .entry((found.dev(), found.ino()))
                .or_insert_with(|| name.clone());
            format!(" linked {} as {first}", found.nlink())
        } else {
            String::new()
        };
        lines.push(format!(
            "path {name}: {content} mode {:o} time {}.{:09}{shared}",
            found.mode(),
            found.mtime(),
            found.mtime_nsec()
        ));
    }
}

/// Git's record of the worktree, apart from the index (which is asked for in its own terms).
fn admin(worktree: &Path, lines: &mut Vec<String>) {
    let Ok(link) = std::fs::read_to_string(worktree.join(".git")) else {
        return;
    };
    let dir = worktree.join(link.trim_start_matches("gitdir: ").trim_end());
    for path in below(&dir) {
        let name = shown(&dir, &path);
        let is_index = path.file_name().is_some_and(|name| name == "index");
        if path.is_file() && !is_index {
            lines.push(format!("admin {name}: {}", hash(&path)));
        }
    }
}

fn below(dir: &Path) -> Vec<PathBuf> {
    let mut paths = Vec::new();
    let mut names: Vec<PathBuf> = match std::fs::read_dir(dir) {
        Ok(entries) => entries.map(|entry| entry.unwrap().path()).collect(),
        Err(_) => return paths,
    };
    names.sort();
    for path in names {
        let is_dir = std::fs::symlink_metadata(&path).is_ok_and(|found| found.is_dir());
        paths.push(path.clone());
        if is_dir {
            paths.extend(below(&path));
        }
    }
    paths
}

fn shown(top: &Path, path: &Path) -> String {
    let relative = path.strip_prefix(top).unwrap_or(path);
    relative.as_os_str().as_bytes().escape_ascii().to_string()
}

fn hash(path: &Path) -> String {
    let mut hasher = DefaultHasher::new();
    std::fs::read(path).unwrap_or_default().hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}
