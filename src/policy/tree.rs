//! What lies below a directory: for commands that go through all of it.

use std::path::Path;

use super::glob::matches;
use super::paths::{EntryKind, PathClass, PathContext, PathLists, physical};

/// A larger directory is not gone through: what is in it is not known.
const MOST: usize = 20_000;

/// What a command that goes through a directory looks at.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Through<'t> {
    /// It passes over what is hidden or ignored by git.
    pub skips: bool,
    /// It follows, or is harmed by, symbolic links.
    pub links: bool,
    /// Its names are read by a command that takes each word of them for a name.
    pub splits: bool,
    /// Only names like these; all, where there are none.
    pub names: &'t [&'t str],
}

impl PathLists {
    /// The strictest class of everything below a path. Of a tool that skips what is ignored, the whole
    /// worktree is not gone through: what is left is what git has, or would have.
    pub(super) fn class_of_tree(
        &self,
        given: &str,
        base: &Path,
        context: &PathContext<'_>,
        through: Through<'_>,
    ) -> PathClass {
        let mut class = self.class_of(given, base, context);
        let Some(top) = physical(given, base, context) else {
            return PathClass::Odd;
        };
        let root = context.resolver.real(&context.worktree);
        if through.skips && root.as_ref() == Some(&top) {
            return class;
        }
        let mut open = vec![top];
        let mut seen = 0;
        while let Some(directory) = open.pop() {
            for entry in context.resolver.entries(&directory).unwrap_or_default() {
                seen += 1;
                if seen > MOST {
                    return PathClass::Odd;
                }
                if through.skips && entry.name.starts_with('.') {
                    continue;
                }
                if through.splits && entry.name.contains(splits_a_name) {
                    return PathClass::Odd;
                }
                let path = directory.join(&entry.name);
                if entry.kind == EntryKind::Directory {
                    open.push(path);
                    continue;
                }
                let names = through.names;
                if !names.is_empty() && !names.iter().any(|name| matches(name, &entry.name)) {
                    continue;
                }
                if entry.name.starts_with('-') || (through.links && entry.kind == EntryKind::Link) {
                    return PathClass::Odd;
                }
                if entry.kind == EntryKind::File {
                    class = class
                        .max(self.classify(&path, root.as_deref().unwrap_or(&context.worktree)));
                }
            }
        }
        class
    }
}

/// What `xargs` divides its input at, or takes out of it.
fn splits_a_name(character: char) -> bool {
    character.is_whitespace() || matches!(character, '\'' | '"' | '\\')
}

/// Whether git, started in this directory, would work on another repository than that of the worktree. Its
/// settings can name programs that git runs.
pub(super) fn is_in_nested_repository(directory: &Path, context: &PathContext<'_>) -> bool {
    let Some(root) = context.resolver.real(&context.worktree) else {
        return true;
    };
    let Some(mut place) = context.resolver.real(directory) else {
        return true;
    };
    if !place.starts_with(&root) {
        return true;
    }
    while place != root {
        if holds_repository(&place, context) {
            return true;
        }
        if !place.pop() {
            return true;
        }
    }
    false
}

fn holds_repository(directory: &Path, context: &PathContext<'_>) -> bool {
    let entries = context.resolver.entries(directory).unwrap_or_default();
    let has = |name: &str| {
        entries
            .iter()
            .any(|entry| entry.name.eq_ignore_ascii_case(name))
    };
    has(".git") || (has("HEAD") && has("objects") && has("refs"))
}
