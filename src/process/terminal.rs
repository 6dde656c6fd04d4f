//! Which process of a terminal reads from it.

/// Whether this process, and no program that it has started as a job of its own, is in the foreground of its
/// terminal: a shell at its prompt. True where the system does not tell.
pub(crate) fn is_in_foreground(pid: i32) -> bool {
    let Ok(text) = std::fs::read_to_string(format!("/proc/{pid}/stat")) else {
        return true;
    };
    groups(&text).is_none_or(|(own, foreground)| own == foreground)
}

/// Its process group, and that of the terminal's foreground. The name before them may have spaces.
fn groups(stat: &str) -> Option<(i32, i32)> {
    let (_, fields) = stat.rsplit_once(')')?;
    let fields: Vec<&str> = fields.split_whitespace().collect();
    Some((fields.get(2)?.parse().ok()?, fields.get(5)?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_groups_are_read_after_any_name() {
        let stat = "77 (a ) b) S 1 77 77 34816 99 4194304 1 2";
        assert_eq!(groups(stat), Some((77, 99)));
        assert_eq!(groups("nonsense"), None);
    }
}
