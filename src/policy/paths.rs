//! Classifies paths: inside the worktree, outside, or sensitive.

use std::path::{Component, Path, PathBuf};

use serde::Deserialize;

use super::text::is_plain_name;

/// Looks up paths on the disk.
pub(crate) trait PathResolver {
    /// The path with every symbolic link resolved, as far as it exists; None where it cannot be
    /// resolved.
    fn real(&self, path: &Path) -> Option<PathBuf>;
    /// What is directly in a directory; None where it is no directory, or cannot be read.
    fn entries(&self, directory: &Path) -> Option<Vec<Entry>>;
    /// Whether there is something at this path.
    fn exists(&self, path: &Path) -> bool;
}

/// A name in a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub name: String,
    pub kind: EntryKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EntryKind {
    File,
    Directory,
    Link,
}

/// What paths are resolved against.
pub(crate) struct PathContext<'g> {
    pub worktree: PathBuf,
    /// The directory in which the agent is: the base of its relative paths.
    pub start: PathBuf,
    pub home: Option<PathBuf>,
    pub resolver: &'g dyn PathResolver,
}

impl std::fmt::Debug for PathContext<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PathContext")
            .field("worktree", &self.worktree)
            .finish_non_exhaustive()
    }
}

/// The class of a path. The stricter of two classes is the larger one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum PathClass {
    /// `/dev/null`.
    Nowhere,
    /// In the worktree, without a special meaning.
    Inside,
    /// In the worktree, but it controls more than the code: CI files, instructions for agents.
    Guarded,
    Outside,
    /// A file here would run or grant something later: hooks, shell start files, agents' settings.
    Forbidden,
    /// Keys, tokens and passwords.
    Secret,
    /// Cannot be resolved, or is written so that a reader could misread it.
    Odd,
}

/// Names that give a path a class, anywhere in it. `a/b` is two consecutive components, `*` stands for
/// any characters, and `!name` is an exception.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct PathLists {
    pub guarded: Vec<String>,
    pub forbidden: Vec<String>,
    pub secret: Vec<String>,
}

impl PathLists {
    pub(crate) fn extend(&mut self, other: Self) {
        self.guarded.extend(other.guarded);
        self.forbidden.extend(other.forbidden);
        self.secret.extend(other.secret);
    }

    /// The class of this path, relative to `base`: by its name, and with symbolic links resolved. The
    /// stricter of the two counts.
    pub(crate) fn class_of(
        &self,
        given: &str,
        base: &Path,
        context: &PathContext<'_>,
    ) -> PathClass {
        if !is_plain_name(given) {
            return PathClass::Odd;
        }
        if given == "/dev/null" {
            return PathClass::Nowhere;
        }
        let Some(path) = absolute(given, base, context) else {
            return PathClass::Odd;
        };
        let by_name = self.classify(&path, &context.worktree);
        let real_worktree = context.resolver.real(&context.worktree);
        let by_disk = match (physical(given, base, context), real_worktree) {
            (Some(path), Some(worktree)) => self.classify(&path, &worktree),
            _ => PathClass::Odd,
        };
        by_name.max(by_disk)
    }

    pub(super) fn classify(&self, path: &Path, worktree: &Path) -> PathClass {
        let inside = path.strip_prefix(worktree).ok();
        let special = inside.unwrap_or(path);
        let names: Vec<String> = special
            .components()
            .filter_map(|part| match part {
                // Some file systems take `.git.` for `.git`.
                Component::Normal(name) => {
                    let name = name.to_string_lossy().to_lowercase();
                    Some(name.trim_end_matches(['.', ' ']).to_owned())
                }
                _ => None,
            })
            .collect();
        if listed(&self.secret, &names) {
            PathClass::Secret
        } else if listed(&self.forbidden, &names) {
            PathClass::Forbidden
        } else if inside.is_none() {
            PathClass::Outside
        } else if listed(&self.guarded, &names) {
            PathClass::Guarded
        } else {
            PathClass::Inside
        }
    }
}

/// The path in full, with `..` resolved by name: as the shell's `cd` reads it.
pub(super) fn absolute(given: &str, base: &Path, context: &PathContext<'_>) -> Option<PathBuf> {
    let mut path = PathBuf::new();
    for part in joined(given, base, context)?.components() {
        match part {
            Component::ParentDir => {
                path.pop();
            }
            Component::CurDir => {}
            other => path.push(other),
        }
    }
    Some(path)
}

/// The path in full, with links resolved before `..`: as the kernel reads it.
pub(super) fn physical(given: &str, base: &Path, context: &PathContext<'_>) -> Option<PathBuf> {
    let mut path = PathBuf::new();
    for part in joined(given, base, context)?.components() {
        match part {
            Component::ParentDir => {
                path = context.resolver.real(&path)?;
                path.pop();
            }
            Component::CurDir => {}
            other => path.push(other),
        }
    }
    context.resolver.real(&path)
}

fn joined(given: &str, base: &Path, context: &PathContext<'_>) -> Option<PathBuf> {
    match given.strip_prefix('~') {
        Some("") => context.home.clone(),
        Some(rest) if rest.starts_with('/') => Some(context.home.clone()?.join(&rest[1..])),
        // Another user's home. `HEAD~1` and a backup file `x~` do not begin with `~`.
        Some(_) => None,
        None => Some(base.join(given)),
    }
}

fn listed(patterns: &[String], names: &[String]) -> bool {
    let hit = |pattern: &str| {
        let wanted: Vec<&str> = pattern.split('/').filter(|part| !part.is_empty()).collect();
        !wanted.is_empty()
            && names.windows(wanted.len()).any(|window| {
                window
                    .iter()
                    .zip(&wanted)
                    .all(|(name, part)| fits(part, name))
            })
    };
    let excepted = patterns
        .iter()
        .filter_map(|pattern| pattern.strip_prefix('!'))
        .any(hit);
    !excepted
        && patterns
            .iter()
            .any(|pattern| !pattern.starts_with('!') && hit(pattern))
}

/// `*` stands for any characters.
pub(super) fn fits(pattern: &str, name: &str) -> bool {
    let pattern = pattern.to_lowercase();
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = name.strip_prefix(first) else {
        return false;
    };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else {
        return rest.is_empty();
    };
    for part in middle {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

/// Everything in a word that may be a path: the word, and what follows `=`, `:`, `,` or `@`.
pub(crate) fn candidates(word: &str) -> Vec<&str> {
    let flag = word.starts_with('-') && word.len() > 1;
    let mut found = Vec::new();
    if !flag {
        found.push(word);
    } else if !word.starts_with("--") && word.is_char_boundary(2) {
        found.push(&word[2..]);
    }
    for (at, separator) in word.match_indices(['=', ':', ',', '@']) {
        found.push(&word[at + separator.len()..]);
    }
    found.retain(|candidate| !candidate.is_empty());
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Links;

    impl PathResolver for Links {
        fn real(&self, path: &Path) -> Option<PathBuf> {
            let text = path.to_str()?;
            Some(PathBuf::from(
                text.replace("/w/out", "/etc")
                    .replace("/w/hooks", "/w/.git/hooks"),
            ))
        }

        fn entries(&self, _: &Path) -> Option<Vec<Entry>> {
            None
        }

        fn exists(&self, _: &Path) -> bool {
            true
        }
    }

    fn class_of(given: &str) -> PathClass {
        asked(|lists, context| lists.class_of(given, Path::new("/w"), context))
    }

    fn asked(question: impl Fn(&PathLists, &PathContext<'_>) -> PathClass) -> PathClass {
        let lists = PathLists {
            guarded: vec![".github/workflows".into(), "AGENTS.md".into()],
            forbidden: vec![".git".into(), ".bashrc".into()],
            secret: vec![
                ".env".into(),
                ".env.*".into(),
                "!.env.example".into(),
                ".ssh".into(),
            ],
        };
        let context = PathContext {
            worktree: "/w".into(),
            start: "/w".into(),
            home: Some("/home/me".into()),
            resolver: &Links,
        };
        question(&lists, &context)
    }

    #[test]
    fn a_path_is_where_it_leads() {
        use PathClass::{Forbidden, Guarded, Inside, Nowhere, Odd, Outside, Secret};
        for (given, expected) in [
            ("src/main.rs", Inside),
            (".", Inside),
            ("/w/a", Inside),
            ("a/../b", Inside),
            ("out/../passwd", Outside),
            (".git./config", Forbidden),
            ("../x", Outside),
            ("a/../../x", Outside),
            ("/w/../etc/passwd", Outside),
            ("/wx", Outside),
            ("~/x", Outside),
            ("~root/x", Odd),
            ("/dev/null", Nowhere),
            ("out/passwd", Outside),
            ("hooks/pre-commit", Forbidden),
            (".GIT/config", Forbidden),
            ("sub/.git/config", Forbidden),
            (".gitignore", Inside),
            (".github/workflows/ci.yml", Guarded),
            (".github/ISSUE.md", Inside),
            ("agents.md", Guarded),
            (".env", Secret),
            (".env.local", Secret),
            (".env.example", Inside),
            ("~/.ssh/id_rsa", Secret),
            ("~/.bashrc", Forbidden),
            ("sr\u{441}/a", Odd),
            ("src/…", Odd),
        ] {
            assert_eq!(class_of(given), expected, "{given}");
        }
    }

    #[test]
    fn stars_fit_any_characters() {
        assert!(fits("id_*", "id_rsa") && fits("*.pem", "a.pem") && fits("*secret*", "my-secrets"));
        assert!(!fits("id_*", "idx") && !fits("a*b", "a") && !fits("x", "xy"));
        assert_eq!(candidates("--a=/b:c"), ["/b:c", "c"]);
        assert_eq!(candidates("-I/usr"), ["/usr"]);
        assert_eq!(candidates("HEAD:x"), ["HEAD:x", "x"]);
    }
}
