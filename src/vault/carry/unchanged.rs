//! The files whose bytes are those that the index names, in as few bytes as possible: one line for each entry.

use std::fmt::Write;

/// Stands before the line of a file that git would have to read.
const UNREAD: char = '~';

/// A file on the disk with the bytes that the index names for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Unchanged {
    pub mode: u32,
    pub mtime: (i64, u32),
    /// Whether git takes it for unchanged without reading it. It does not where the file is as young as the
    /// index, as all of them are after a checkout.
    pub known_to_git: bool,
}

/// One line for each entry of the index, None for one that is listed or not on the disk; the seconds are those
/// since the line before.
pub(super) fn clean_block(files: &[Option<Unchanged>]) -> Vec<u8> {
    let mut text = String::new();
    let mut last = 0_i64;
    for file in files {
        let Some(file) = file else {
            text.push_str("-\n");
            continue;
        };
        if !file.known_to_git {
            text.push(UNREAD);
        }
        let (seconds, nanoseconds) = file.mtime;
        let since = seconds.wrapping_sub(last);
        last = seconds;
        // Writing into a string cannot fail.
        writeln!(text, "{:o} {since} {nanoseconds}", file.mode).ok();
    }
    text.into_bytes()
}

pub(super) fn parse_clean(block: &[u8]) -> Option<Vec<Option<Unchanged>>> {
    let mut last = 0_i64;
    std::str::from_utf8(block)
        .ok()?
        .lines()
        .map(|line| {
            if line == "-" {
                return Some(None);
            }
            let unread = line.strip_prefix(UNREAD);
            let mut words = unread.unwrap_or(line).split(' ');
            let mode = u32::from_str_radix(words.next()?, 8).ok()?;
            last = last.wrapping_add(words.next()?.parse().ok()?);
            let nanoseconds = words.next()?.parse().ok()?;
            let fine = mode & !0o1777 == 0 && nanoseconds < 1_000_000_000;
            fine.then_some(Some(Unchanged {
                mode,
                mtime: (last, nanoseconds),
                known_to_git: unread.is_none(),
            }))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_unchanged_files_read_back() {
        let file = |mode, mtime, known_to_git| {
            Some(Unchanged {
                mode,
                mtime,
                known_to_git,
            })
        };
        let files = vec![
            file(0o644, (1_700_000_000, 5), true),
            None,
            file(0o755, (-3, 999_999_999), true),
            file(0o600, (1_700_000_001, 0), false),
        ];
        assert_eq!(parse_clean(&clean_block(&files)), Some(files));
        for refused in ["644 x 1\n", "4755 1 1\n", "~-\n", "~~644 1 1\n"] {
            assert_eq!(parse_clean(refused.as_bytes()), None, "{refused}");
        }
    }
}
