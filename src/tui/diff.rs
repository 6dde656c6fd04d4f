//! Parses a patch into files and lines.

/// The most lines that are kept of a patch.
const LONGEST: usize = 50_000;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct DiffPage {
    pub files: Vec<DiffFile>,
    pub lines: Vec<DiffLine>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DiffFile {
    pub path: String,
    pub added: usize,
    pub removed: usize,
    /// The index of its first line.
    pub line: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DiffLine {
    pub kind: LineKind,
    pub text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LineKind {
    File,
    Note,
    Hunk,
    Added,
    Removed,
    Context,
}

/// The remaining lines of a hunk, on either side.
#[derive(Debug, Clone, Copy, Default)]
struct Left {
    old: usize,
    new: usize,
}

impl DiffPage {
    /// Parses the output of `git diff` without colours.
    pub(super) fn parse(patch: &str) -> Self {
        let mut page = Self::default();
        let mut left = Left::default();
        for line in patch.lines() {
            if page.lines.len() >= LONGEST {
                page.push(LineKind::Note, "… and more");
                break;
            }
            if left.old > 0 || left.new > 0 {
                page.hunk_line(line, &mut left);
            } else if let Some(names) = line.strip_prefix("diff --git ") {
                page.begin_file(name_of(names));
            } else if let Some(hunk) = line.strip_prefix("@@ ") {
                left = counts(hunk);
                page.push(LineKind::Hunk, line);
            } else if let Some(name) = line.strip_prefix("+++ ") {
                page.rename(name);
            } else if let Some(note) = note_of(line) {
                page.push(LineKind::Note, note);
            }
        }
        page
    }

    fn begin_file(&mut self, path: String) {
        let line = self.lines.len();
        self.push(LineKind::File, &path);
        self.files.push(DiffFile {
            path,
            added: 0,
            removed: 0,
            line,
        });
    }

    /// `+++ b/path` is unambiguous, unlike the header for names with spaces.
    fn rename(&mut self, name: &str) {
        let Some(name) = name.trim_end_matches('\t').strip_prefix("b/") else {
            return;
        };
        if let Some(file) = self.files.last_mut() {
            name.clone_into(&mut file.path);
            if let Some(line) = self.lines.get_mut(file.line) {
                name.clone_into(&mut line.text);
            }
        }
    }

    fn hunk_line(&mut self, line: &str, left: &mut Left) {
        let (kind, old, new) = match line.as_bytes().first() {
            Some(b'+') => (LineKind::Added, 0, 1),
            Some(b'-') => (LineKind::Removed, 1, 0),
            Some(b'\\') => (LineKind::Note, 0, 0),
            _ => (LineKind::Context, 1, 1),
        };
        left.old = left.old.saturating_sub(old);
        left.new = left.new.saturating_sub(new);
        if let Some(file) = self.files.last_mut() {
            match kind {
                LineKind::Added => file.added += 1,
                LineKind::Removed => file.removed += 1,
                LineKind::File | LineKind::Note | LineKind::Hunk | LineKind::Context => {}
            }
        }
        self.push(kind, line);
    }

    fn push(&mut self, kind: LineKind, text: &str) {
        self.lines.push(DiffLine {
            kind,
            text: text.to_owned(),
        });
    }

    /// The file that a line belongs to.
    pub(super) fn file_at(&self, line: usize) -> Option<usize> {
        self.files.iter().rposition(|file| file.line <= line)
    }
}

/// `a/path b/path` → path
fn name_of(names: &str) -> String {
    let half = names.len() / 2;
    match (names.get(..half), names.get(half + 1..)) {
        (Some(a), Some(b)) if a.get(2..) == b.get(2..) => b.get(2..).unwrap_or(b).to_owned(),
        _ => names
            .rsplit_once(" b/")
            .map_or(names, |(_, name)| name)
            .to_owned(),
    }
}

/// `-1,3 +1,4 @@ …` → three old lines, four new ones
fn counts(hunk: &str) -> Left {
    let count = |word: Option<&str>| {
        let word = word.unwrap_or_default();
        match word.split_once(',') {
            Some((_, count)) => count.parse().unwrap_or(0),
            None => 1,
        }
    };
    let mut words = hunk.split(' ');
    Left {
        old: count(words.next()),
        new: count(words.next()),
    }
}

fn note_of(line: &str) -> Option<&str> {
    let known = [
        "new file",
        "deleted file",
        "old mode",
        "new mode",
        "rename ",
        "copy ",
        "similarity ",
        "Binary files",
        "Submodule",
    ];
    known
        .iter()
        .any(|start| line.starts_with(start))
        .then_some(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patch_is_taken_apart_whatever_its_lines_look_like() {
        let page = DiffPage::parse(
            "diff --git a/a b.txt b/a b.txt\nindex 1..2 100644\n--- a/a b.txt\t\n+++ b/a b.txt\t\n\
             @@ -1,2 +1,3 @@ fn x\n context\n--- removed\n+++ added\n+diff --git a/x b/x\n\
             \\ No newline at end of file\n\
             diff --git a/new b/new\nnew file mode 100644\n--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+x\n\
             diff --git a/old b/old\ndeleted file mode 100644\n--- a/old\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n",
        );
        let files: Vec<_> = page
            .files
            .iter()
            .map(|file| (file.path.as_str(), file.added, file.removed))
            .collect();
        assert_eq!(files, [("a b.txt", 2, 1), ("new", 1, 0), ("old", 0, 1)]);
        assert_eq!(page.file_at(0), Some(0));
        assert_eq!(page.file_at(page.lines.len()), Some(2));
    }

    #[test]
    fn a_huge_patch_is_cut() {
        let patch = format!(
            "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -0,0 +1,{0} @@\n{1}",
            LONGEST * 2,
            "+line\n".repeat(LONGEST * 2)
        );
        assert_eq!(DiffPage::parse(&patch).lines.len(), LONGEST + 1);
    }
}
