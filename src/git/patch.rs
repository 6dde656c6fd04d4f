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
        let (first, _) = self.find_range(path, side, number, number)?;
        Some(first)
    }

    /// The indexes of the first and the last of these lines that one hunk shows.
    fn find_range(
        &self,
        path: &str,
        side: ReviewSide,
        from: u32,
        to: u32,
    ) -> Option<(usize, usize)> {
        let at = self.files.iter().position(|file| file.path == path)?;
        let start = self.files.get(at)?.line;
        let end = self.files.get(at + 1).map(|file| file.line);
        let end = end.unwrap_or(self.lines.len());
        let mut found = None;
        for (at, line) in self.lines.get(start..end)?.iter().enumerate() {
            let own = match side {
                ReviewSide::Old => line.old.filter(|_| line.kind == LineKind::Removed),
                ReviewSide::New => line.new,
            };
            if own.is_some_and(|number| (from..=to).contains(&number)) {
                found = Some((found.map_or(at, |(first, _)| first), at));
            } else if line.kind == LineKind::Hunk && found.is_some() {
                break;
            }
        }
        found.map(|(first, last)| (start + first, start + last))
    }

    /// A line with up to `context` lines of its hunk on either side, each with its sign.
    pub(crate) fn around(&self, line: usize, context: usize) -> Vec<String> {
        self.excerpt(line, line, context)
            .filter(|line| line.kind != LineKind::Note)
            .map(|line| format!("{}{}", line.kind.sign(), line.text))
            .collect()
    }

    /// The part of a hunk that shows the lines `from` to `to` of a file, with `context` lines on either side
    /// and the header of the hunk. The numbers are those of the new version; of a deleted file those of the
    /// old one.
    pub(crate) fn hunk_at(
        &self,
        path: &str,
        (from, to): (u32, u32),
        context: usize,
    ) -> Option<String> {
        let file = self.files.iter().find(|file| file.path == path)?;
        let side = match file.change {
            FileChange::Deleted => ReviewSide::Old,
            _ => ReviewSide::New,
        };
        let (first, last) = self.find_range(path, side, from, to)?;
        let header = self.lines.get(..first)?.iter();
        let header = header.rev().find(|line| line.kind == LineKind::Hunk)?;
        let body = self.excerpt(first, last, context).map(|line| {
            let sign = line.kind.sign();
            // The note has its own sign.
            let sign = (line.kind != LineKind::Note).then_some(sign);
            let sign = sign.map_or_else(String::new, String::from);
            format!("{sign}{}\n", line.text)
        });
        Some(format!("{}\n{}", header.text, body.collect::<String>()))
    }

    /// The lines from `first` to `last` of a hunk and those around them.
    fn excerpt(
        &self,
        first: usize,
        last: usize,
        context: usize,
    ) -> impl Iterator<Item = &PatchLine> {
        let is_of_hunk = |at: &usize| {
            self.lines.get(*at).is_some_and(|line| match line.kind {
                LineKind::Added | LineKind::Removed | LineKind::Context => true,
                LineKind::Note => line.text.starts_with('\\'),
                LineKind::File | LineKind::Hunk => false,
            })
        };
        let above = (0..first).rev().take(context).take_while(is_of_hunk);
        let start = above.last().unwrap_or(first);
        let below = (last + 1..self.lines.len()).take(context);
        let end = below.take_while(is_of_hunk).last().unwrap_or(last);
        (start..=end)
            .filter(is_of_hunk)
            .filter_map(|at| self.lines.get(at))
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
mod tests;
