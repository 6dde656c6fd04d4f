//! A patch taken apart: files, hunks, and lines with their numbers on either side.

use crate::model::ReviewSide;

/// The most lines that are kept of a patch.
const LONGEST: usize = 50_000;

/// The output of `git diff` without colours.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Patch {
    pub files: Vec<PatchFile>,
    pub lines: Vec<PatchLine>,
    /// It was longer; the rest was left out.
    pub cut: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PatchFile {
    pub path: String,
    /// Where it was before it was renamed or copied.
    pub before: Option<String>,
    pub change: FileChange,
    /// The old and the new mode, where they differ.
    pub modes: Option<(String, String)>,
    pub binary: bool,
    pub added: usize,
    pub removed: usize,
    /// The index of its first line.
    pub line: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileChange {
    Modified,
    New,
    Deleted,
    Renamed,
    Copied,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PatchLine {
    pub kind: LineKind,
    /// Without the sign at its start.
    pub text: String,
    /// Its number before the change, and after it.
    pub old: Option<u32>,
    pub new: Option<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LineKind {
    File,
    Note,
    Hunk,
    Added,
    Removed,
    Context,
}

/// The next line numbers of a hunk, and how many lines are left on either side.
#[derive(Debug, Clone, Copy, Default)]
struct Cursor {
    old: u32,
    new: u32,
    old_left: u32,
    new_left: u32,
}

impl Patch {
    pub(crate) fn parse(text: &str) -> Self {
        let mut patch = Self::default();
        let mut cursor = Cursor::default();
        for line in text.lines() {
            if patch.lines.len() >= LONGEST {
                patch.push(LineKind::Note, "… and more", None, None);
                patch.cut = true;
                break;
            }
            let note = line.starts_with("\\ ");
            if cursor.old_left > 0 || cursor.new_left > 0 || (note && patch.in_hunk()) {
                patch.hunk_line(line, &mut cursor);
            } else if let Some(names) = line.strip_prefix("diff --git ") {
                patch.begin_file(name_of(names));
            } else if let Some(hunk) = line.strip_prefix("@@ ") {
                cursor = Cursor::of(hunk);
                patch.push(LineKind::Hunk, line, None, None);
            } else {
                patch.header(line);
            }
        }
        patch
    }

    /// The file that a line belongs to.
    pub(crate) fn file_at(&self, line: usize) -> Option<usize> {
        self.files.iter().rposition(|file| file.line <= line)
    }

    /// The index of a line of a file; None where the patch does not show it.
    pub(crate) fn find(&self, path: &str, side: ReviewSide, number: u32) -> Option<usize> {
        let at = self.files.iter().position(|file| file.path == path)?;
        let start = self.files.get(at)?.line;
        let end = self
            .files
            .get(at + 1)
            .map_or(self.lines.len(), |file| file.line);
        let found = self.lines.get(start..end)?.iter().position(|line| {
            let own = match side {
                ReviewSide::Old => line.old.filter(|_| line.kind == LineKind::Removed),
                ReviewSide::New => line.new,
            };
            own == Some(number)
        })?;
        Some(start + found)
    }

    /// A line with up to `context` lines of its hunk on either side, each with its sign.
    pub(crate) fn around(&self, line: usize, context: usize) -> Vec<String> {
        let is_code = |at: &usize| {
            self.lines.get(*at).is_some_and(|line| {
                matches!(
                    line.kind,
                    LineKind::Added | LineKind::Removed | LineKind::Context
                )
            })
        };
        let above = (0..line).rev().take(context).take_while(|at| is_code(at));
        let start = above.last().unwrap_or(line);
        let end = (line + 1..self.lines.len())
            .take(context)
            .take_while(|at| is_code(at))
            .last()
            .unwrap_or(line);
        (start..=end)
            .filter(is_code)
            .filter_map(|at| self.lines.get(at))
            .map(|line| format!("{}{}", line.kind.sign(), line.text))
            .collect()
    }

    fn in_hunk(&self) -> bool {
        self.lines
            .last()
            .is_some_and(|line| !matches!(line.kind, LineKind::File | LineKind::Note))
    }

    fn begin_file(&mut self, path: String) {
        let line = self.lines.len();
        self.push(LineKind::File, &path, None, None);
        self.files.push(PatchFile {
            path,
            before: None,
            change: FileChange::Modified,
            modes: None,
            binary: false,
            added: 0,
            removed: 0,
            line,
        });
    }

    /// A line between the name of a file and its first hunk.
    fn header(&mut self, line: &str) {
        let is_note = line.starts_with("Binary files") || line.starts_with("Submodule");
        let Some(file) = self.files.last_mut() else {
            return;
        };
        let words = |start: &str| line.strip_prefix(start).map(str::to_owned);
        if let Some(mode) = words("old mode ") {
            file.modes = Some((mode, String::new()));
        } else if let Some(mode) = words("new mode ") {
            let old = file.modes.take().map_or_else(String::new, |(old, _)| old);
            file.modes = Some((old, mode));
        } else if line.starts_with("new file mode ") {
            file.change = FileChange::New;
        } else if line.starts_with("deleted file mode ") {
            file.change = FileChange::Deleted;
        } else if let Some(name) = words("rename from ") {
            file.change = FileChange::Renamed;
            file.before = Some(unquoted(&name));
        } else if let Some(name) = words("copy from ") {
            file.change = FileChange::Copied;
            file.before = Some(unquoted(&name));
        } else if let Some(name) = words("rename to ").or_else(|| words("copy to ")) {
            self.name(unquoted(&name));
        } else if let Some(name) = words("+++ ") {
            // Unambiguous, unlike the first line for names with spaces.
            let name = unquoted(name.trim_end_matches('\t'));
            if let Some(name) = name.strip_prefix("b/") {
                self.name(name.to_owned());
            }
        } else if is_note {
            file.binary |= line.starts_with("Binary files");
            self.push(LineKind::Note, line, None, None);
        }
    }

    fn name(&mut self, path: String) {
        if let Some(file) = self.files.last_mut() {
            if let Some(line) = self.lines.get_mut(file.line) {
                line.text.clone_from(&path);
            }
            file.path = path;
        }
    }

    fn hunk_line(&mut self, line: &str, cursor: &mut Cursor) {
        let (kind, on_old, on_new) = match line.as_bytes().first() {
            Some(b'+') => (LineKind::Added, false, true),
            Some(b'-') => (LineKind::Removed, true, false),
            Some(b'\\') => (LineKind::Note, false, false),
            _ => (LineKind::Context, true, true),
        };
        let (old, new) = (on_old.then_some(cursor.old), on_new.then_some(cursor.new));
        cursor.step(on_old, on_new);
        if let Some(file) = self.files.last_mut() {
            file.added += usize::from(kind == LineKind::Added);
            file.removed += usize::from(kind == LineKind::Removed);
        }
        let text = match kind {
            LineKind::Note => line,
            _ => line.get(1..).unwrap_or_default(),
        };
        self.push(kind, text, old, new);
    }

    fn push(&mut self, kind: LineKind, text: &str, old: Option<u32>, new: Option<u32>) {
        self.lines.push(PatchLine {
            kind,
            text: text.to_owned(),
            old,
            new,
        });
    }
}

impl LineKind {
    pub(crate) fn sign(self) -> char {
        match self {
            Self::Added => '+',
            Self::Removed => '-',
            Self::File | Self::Note | Self::Hunk | Self::Context => ' ',
        }
    }
}

impl Cursor {
    /// `-1,3 +1,4 @@ …`
    fn of(hunk: &str) -> Self {
        let range = |word: Option<&str>| {
            let word = word.and_then(|word| word.get(1..)).unwrap_or_default();
            let (start, count) = word.split_once(',').unwrap_or((word, "1"));
            (start.parse().unwrap_or(0), count.parse().unwrap_or(0))
        };
        let mut words = hunk.split(' ');
        let (old, old_left) = range(words.next());
        let (new, new_left) = range(words.next());
        Self {
            old,
            new,
            old_left,
            new_left,
        }
    }

    fn step(&mut self, old: bool, new: bool) {
        self.old = self.old.saturating_add(u32::from(old));
        self.new = self.new.saturating_add(u32::from(new));
        self.old_left = self.old_left.saturating_sub(u32::from(old));
        self.new_left = self.new_left.saturating_sub(u32::from(new));
    }
}

/// `a/path b/path` → path
fn name_of(names: &str) -> String {
    if let Some((_, name)) = names.rsplit_once(" \"b/") {
        return unquoted(&format!("\"{name}"));
    }
    let half = names.len() / 2;
    match (names.get(..half), names.get(half + 1..)) {
        (Some(a), Some(b)) if a.get(2..) == b.get(2..) => b.get(2..).unwrap_or(b).to_owned(),
        _ => names
            .rsplit_once(" b/")
            .map_or(names, |(_, name)| name)
            .to_owned(),
    }
}

/// A name that git has quoted, as it is: `"a\303\244"` → `aä`.
fn unquoted(name: &str) -> String {
    let Some(inner) = name
        .strip_prefix('"')
        .and_then(|name| name.strip_suffix('"'))
    else {
        return name.to_owned();
    };
    let mut bytes = Vec::with_capacity(inner.len());
    let mut rest = inner.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        match rest.next() {
            Some(b'n') => bytes.push(b'\n'),
            Some(b't') => bytes.push(b'\t'),
            Some(b'r') => bytes.push(b'\r'),
            Some(b'a') => bytes.push(7),
            Some(b'b') => bytes.push(8),
            Some(b'v') => bytes.push(11),
            Some(b'f') => bytes.push(12),
            Some(digit @ b'0'..=b'7') => {
                let mut value = u32::from(digit - b'0');
                for _ in 0..2 {
                    let next = rest.next().unwrap_or(b'0').wrapping_sub(b'0');
                    value = value * 8 + u32::from(next & 7);
                }
                bytes.push(u8::try_from(value & 0xff).unwrap_or(b'?'));
            }
            Some(other) => bytes.push(other),
            None => {}
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patch_is_taken_apart_whatever_its_lines_look_like() {
        let patch = Patch::parse(
            "diff --git a/a b.txt b/a b.txt\nindex 1..2 100644\n--- a/a b.txt\t\n+++ b/a b.txt\t\n\
             @@ -1,2 +1,3 @@ fn x\n context\n--- removed\n+++ added\n+diff --git a/x b/x\n\
             \\ No newline at end of file\n\
             diff --git a/new b/new\nnew file mode 100644\n--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+x\n\
             diff --git a/old b/old\ndeleted file mode 100644\n--- a/old\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n",
        );
        let files: Vec<_> = patch
            .files
            .iter()
            .map(|file| (file.path.as_str(), file.added, file.removed, file.change))
            .collect();
        assert_eq!(
            files,
            [
                ("a b.txt", 2, 1, FileChange::Modified),
                ("new", 1, 0, FileChange::New),
                ("old", 0, 1, FileChange::Deleted)
            ]
        );
        assert_eq!(patch.file_at(0), Some(0));
        assert_eq!(patch.file_at(patch.lines.len()), Some(2));
        // The note belongs to the hunk, although its counts are used up.
        assert!(
            patch
                .lines
                .iter()
                .any(|line| line.text.starts_with("\\ No"))
        );
    }

    #[test]
    fn lines_have_their_numbers_and_their_surroundings() {
        let patch = Patch::parse(
            "diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -10,4 +10,4 @@\n a\n-b\n+B\n c\n d\n\
             @@ -30,1 +30,2 @@\n x\n+y\n",
        );
        let at = |side, number| patch.find("f", side, number);
        let text = |at: Option<usize>| at.map(|at| patch.lines[at].text.as_str());
        assert_eq!(text(at(ReviewSide::New, 11)), Some("B"));
        assert_eq!(text(at(ReviewSide::Old, 11)), Some("b"));
        assert_eq!(text(at(ReviewSide::New, 31)), Some("y"));
        assert_eq!(at(ReviewSide::New, 20), None);
        assert_eq!(patch.find("other", ReviewSide::New, 11), None);
        assert_eq!(
            patch.around(at(ReviewSide::New, 11).unwrap(), 1),
            ["-b", "+B", " c"]
        );
        assert_eq!(
            patch.around(at(ReviewSide::New, 31).unwrap(), 5),
            [" x", "+y"]
        );
    }

    #[test]
    fn renames_modes_and_quoted_names_are_read() {
        let patch = Patch::parse(
            "diff --git a/one.txt b/two.txt\nold mode 100644\nnew mode 100755\nsimilarity index 90%\n\
             rename from one.txt\nrename to two.txt\n\
             diff --git \"a/\\303\\244.bin\" \"b/\\303\\244.bin\"\nBinary files a/x and b/x differ\n",
        );
        let [renamed, binary] = patch.files.as_slice() else {
            panic!("{patch:?}");
        };
        assert_eq!(renamed.change, FileChange::Renamed);
        assert_eq!(renamed.before.as_deref(), Some("one.txt"));
        assert_eq!(renamed.path, "two.txt");
        assert_eq!(
            renamed.modes,
            Some(("100644".to_owned(), "100755".to_owned()))
        );
        assert_eq!((binary.path.as_str(), binary.binary), ("ä.bin", true));
    }

    #[test]
    fn a_huge_patch_is_cut() {
        let text = format!(
            "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -0,0 +1,{0} @@\n{1}",
            LONGEST * 2,
            "+line\n".repeat(LONGEST * 2)
        );
        let patch = Patch::parse(&text);
        assert!(patch.cut);
        assert_eq!(patch.lines.len(), LONGEST + 1);
    }
}
