//! Finds the part of a difference that a comment on a line is about.

use std::fmt::Write;

/// Lines of a hunk that are shown before and after the ones that are commented on.
const AROUND: usize = 8;

/// The part of `diff` (as git prints it, without colours) that shows these lines of a file, with the
/// header of its hunk. The numbers are those of the new version; of a deleted file those of the old one.
pub(in crate::engine::talk) fn hunk_at(
    diff: &str,
    file: &str,
    from: usize,
    to: usize,
) -> Option<String> {
    let mut here = File::None;
    let mut old_name = "";
    let mut lines = diff.lines().peekable();
    while let Some(line) = lines.next() {
        if line.starts_with("diff --git ") {
            here = File::None;
        } else if let Some(name) = line.strip_prefix("--- ") {
            old_name = name;
        } else if let Some(name) = line.strip_prefix("+++ ") {
            here = File::named(old_name, name, file);
        } else if let Some((old, new)) = hunk_starts(line) {
            // The body is read here, so that a removed line `-- x` is not taken for a header.
            let mut body = Vec::new();
            let (mut old_left, mut new_left) = (old.1, new.1);
            while old_left + new_left > 0 {
                let Some(next) = lines.next() else { break };
                match next.as_bytes().first() {
                    Some(b'+') => new_left = new_left.saturating_sub(1),
                    Some(b'-') => old_left = old_left.saturating_sub(1),
                    Some(b'\\') => {}
                    _ => {
                        old_left = old_left.saturating_sub(1);
                        new_left = new_left.saturating_sub(1);
                    }
                }
                body.push(next);
            }
            if lines.peek().is_some_and(|next| next.starts_with('\\')) {
                body.extend(lines.next());
            }
            let found = match here {
                File::None => None,
                File::New => excerpt(&body, new.0, b'-', from, to),
                File::Deleted => excerpt(&body, old.0, b'+', from, to),
            };
            if let Some(found) = found {
                return Some(format!("{line}\n{found}"));
            }
        }
    }
    None
}

/// Whether the lines that are read belong to the file, and to which version its numbers refer.
#[derive(Clone, Copy)]
enum File {
    None,
    New,
    Deleted,
}

impl File {
    fn named(old: &str, new: &str, wanted: &str) -> Self {
        // Git ends a name with a tab where it contains a space.
        let name = |given: &str, prefix: &str| {
            let given = given.strip_suffix('\t').unwrap_or(given);
            given.strip_prefix(prefix) == Some(wanted)
        };
        if name(new, "b/") {
            Self::New
        } else if new == "/dev/null" && name(old, "a/") {
            Self::Deleted
        } else {
            Self::None
        }
    }
}

/// First line and number of lines, of the old and of the new version: `@@ -12,7 +12,9 @@`.
fn hunk_starts(line: &str) -> Option<((usize, usize), (usize, usize))> {
    let (old, rest) = line.strip_prefix("@@ -")?.split_once(" +")?;
    let (new, _) = rest.split_once(" @@")?;
    let range = |text: &str| -> Option<(usize, usize)> {
        match text.split_once(',') {
            Some((first, count)) => Some((first.parse().ok()?, count.parse().ok()?)),
            None => Some((text.parse().ok()?, 1)),
        }
    };
    Some((range(old)?, range(new)?))
}

/// The lines of a hunk around these numbers. Lines that begin with `other` belong to the other version
/// and have no number.
fn excerpt(body: &[&str], first: usize, other: u8, from: usize, to: usize) -> Option<String> {
    let mut number = first;
    let mut range: Option<(usize, usize)> = None;
    for (at, line) in body.iter().enumerate() {
        let mark = line.as_bytes().first().copied();
        if mark == Some(other) || mark == Some(b'\\') {
            continue;
        }
        if (from..=to).contains(&number) {
            range = Some((range.map_or(at, |(start, _)| start), at));
        }
        number += 1;
    }
    let (start, end) = range?;
    let start = start.saturating_sub(AROUND);
    let end = (end + AROUND).min(body.len() - 1);
    let mut text = String::new();
    for line in &body[start..=end] {
        // Writing into a string cannot fail.
        writeln!(text, "{line}").ok();
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIFF: &str = "\
diff --git a/a file.rs b/a file.rs
index 1..2 100644
--- a/a file.rs\t
+++ b/a file.rs\t
@@ -1,3 +1,4 @@ fn one
 one
--- two
+two
+three
 four
@@ -50 +51 @@
-old
+new
\\ No newline at end of file
diff --git a/gone.rs b/gone.rs
deleted file mode 100644
--- a/gone.rs
+++ /dev/null
@@ -1,2 +0,0 @@
-first
-second
";

    #[test]
    fn a_line_is_found_in_its_hunk_only() {
        let found = |file: &str, line: usize| hunk_at(DIFF, file, line, line);
        let first = found("a file.rs", 3).unwrap_or_default();
        assert!(first.starts_with("@@ -1,3 +1,4 @@ fn one\n one\n--- two\n+two\n+three\n"));
        assert!(!first.contains("new"), "{first}");
        let second = found("a file.rs", 51).unwrap_or_default();
        assert_eq!(
            second,
            "@@ -50 +51 @@\n-old\n+new\n\\ No newline at end of file\n"
        );
        let deleted = found("gone.rs", 2).unwrap_or_default();
        assert_eq!(deleted, "@@ -1,2 +0,0 @@\n-first\n-second\n");
        assert_eq!(found("a file.rs", 20), None);
        assert_eq!(found("file.rs", 3), None);
    }

    #[test]
    fn a_long_hunk_is_shortened_around_the_lines() {
        let body: String = (1..=100).map(|line| format!("+line {line}\n")).collect();
        let diff = format!("--- /dev/null\n+++ b/x\n@@ -0,0 +1,100 @@\n{body}");
        let found = hunk_at(&diff, "x", 50, 52).unwrap_or_default();
        assert_eq!(found.lines().count(), 1 + 3 + 2 * AROUND);
        assert!(found.contains("+line 42\n") && found.contains("+line 60\n"));
        assert!(!found.contains("+line 41\n") && !found.contains("+line 61\n"));
    }
}
