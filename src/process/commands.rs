//! The commands that a process runs through a shell, for display.

use std::collections::HashSet;

use super::identity::Identity;
use super::table;

const SHELLS: [&str; 6] = ["sh", "bash", "zsh", "dash", "ksh", "fish"];

/// What runs below the shells that this process has started: the command lines of the processes that have no
/// children themselves. Empty where they cannot be read.
pub(crate) fn commands_below(leader: &Identity) -> Vec<String> {
    if !leader.is_alive() {
        return Vec::new();
    }
    let rows = table::rows();
    let mut below: HashSet<i32> = HashSet::from([leader.pid]);
    let mut in_shells: HashSet<i32> = HashSet::new();
    loop {
        let before = below.len();
        for row in rows.iter().filter(|row| below.contains(&row.parent)) {
            if in_shells.contains(&row.parent) || is_shell(row.pid) {
                in_shells.insert(row.pid);
            }
        }
        let more: Vec<i32> = rows
            .iter()
            .filter(|row| below.contains(&row.parent))
            .map(|row| row.pid)
            .collect();
        below.extend(more);
        if below.len() == before {
            break;
        }
    }
    let mut commands: Vec<String> = rows
        .iter()
        .filter(|row| in_shells.contains(&row.pid) && !row.zombie)
        .filter(|row| !rows.iter().any(|child| child.parent == row.pid))
        .filter(|row| !is_shell(row.pid))
        .filter_map(|row| Some(table::command_line(row.pid)?.join(" ")))
        .collect();
    commands.sort();
    commands.dedup();
    commands
}

fn is_shell(pid: i32) -> bool {
    table::command_line(pid).is_some_and(|words| {
        let program = words.first().map(String::as_str).unwrap_or_default();
        let name = program.rsplit('/').next().unwrap_or_default();
        SHELLS.contains(&name.trim_start_matches('-'))
    })
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn what_a_shell_runs_is_named_by_its_own_command_line() {
        let mut shell = std::process::Command::new("sh")
            .args(["-c", "sleep 300.25; true"])
            .spawn()
            .unwrap();
        let own = Identity::of_this_process();
        let found = loop {
            let found = commands_below(&own);
            if found.iter().any(|command| command == "sleep 300.25") {
                break found;
            }
            std::thread::yield_now();
        };
        assert!(!found.iter().any(|command| command.starts_with("sh ")));
        for pid in table::rows()
            .iter()
            .filter(|row| i32::try_from(shell.id()) == Ok(row.parent))
        {
            Identity::of_pid(pid.pid)
                .unwrap()
                .signal(crate::process::Signal::KILL);
        }
        shell.wait().unwrap();
    }
}
