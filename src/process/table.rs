//! The process table: `/proc` on Linux, `ps` elsewhere.

/// One row of the process table.
#[derive(Debug, Clone)]
pub(super) struct Row {
    pub pid: i32,
    pub parent: i32,
    pub session: i32,
    pub started: u64,
    pub zombie: bool,
}

#[cfg(target_os = "linux")]
mod system {
    use std::io::Read;

    use super::Row;

    /// What nearly every environment fits into.
    const USUAL: usize = 16 * 1024;

    /// A file of `/proc`, by as few calls as possible: these files have no size that could be asked for, and all
    /// processes of the machine are looked at.
    fn read(path: String) -> Option<Vec<u8>> {
        let mut file = std::fs::File::open(path).ok()?;
        let mut bytes = vec![0; USUAL];
        let mut filled = 0;
        loop {
            if filled == bytes.len() {
                bytes.resize(2 * filled, 0);
            }
            match file.read(&mut bytes[filled..]) {
                Ok(0) => break,
                Ok(more) => filled += more,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(_) => return None,
            }
        }
        bytes.truncate(filled);
        Some(bytes)
    }

    pub(crate) fn boot_id() -> String {
        std::fs::read_to_string("/proc/sys/kernel/random/boot_id")
            .map(|id| id.trim().to_owned())
            .unwrap_or_default()
    }

    pub(crate) fn row(pid: i32) -> Option<Row> {
        let stat = read(format!("/proc/{pid}/stat"))?;
        // A name is cut off after 15 bytes, in the middle of a letter if need be.
        let stat = String::from_utf8_lossy(&stat);
        // The command's name is in parentheses and may itself contain parentheses.
        let fields: Vec<&str> = stat.get(stat.rfind(')')? + 2..)?.split(' ').collect();
        Some(Row {
            pid,
            zombie: matches!(*fields.first()?, "Z" | "X"),
            parent: fields.get(1)?.parse().ok()?,
            session: fields.get(3)?.parse().ok()?,
            started: fields.get(19)?.parse().ok()?,
        })
    }

    pub(crate) fn rows() -> Vec<Row> {
        let Ok(entries) = std::fs::read_dir("/proc") else {
            return Vec::new();
        };
        entries
            .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
            .filter_map(row)
            .collect()
    }

    pub(crate) fn variable(pid: i32, name: &str) -> Option<String> {
        let environment = read(format!("/proc/{pid}/environ"))?;
        environment.split(|byte| *byte == 0).find_map(|entry| {
            let value = entry.strip_prefix(name.as_bytes())?.strip_prefix(b"=")?;
            Some(String::from_utf8_lossy(value).into_owned())
        })
    }

    /// The name of a process that has no terminal and works in this directory.
    pub(crate) fn detached_in(pid: i32, directory: &std::path::Path) -> Option<String> {
        let works_in = std::fs::read_link(format!("/proc/{pid}/cwd")).ok()?;
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        let (open, close) = (stat.find('(')?, stat.rfind(')')?);
        let terminal = stat.get(close + 2..)?.split(' ').nth(4)?;
        (works_in.starts_with(directory) && terminal == "0")
            .then(|| stat.get(open + 1..close).unwrap_or_default().to_owned())
    }

    /// The program and its arguments.
    pub(crate) fn command_line(pid: i32) -> Option<Vec<String>> {
        let words = std::fs::read(format!("/proc/{pid}/cmdline")).ok()?;
        let words = words.strip_suffix(b"\0").unwrap_or(&words);
        let words: Vec<String> = words
            .split(|byte| *byte == 0)
            .map(|word| String::from_utf8_lossy(word).into_owned())
            .collect();
        words
            .first()
            .is_some_and(|word| !word.is_empty())
            .then_some(words)
    }

    /// The resident memory of a process, in bytes.
    pub(crate) fn memory(pid: i32) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        let kilobytes = status
            .lines()
            .find_map(|line| line.strip_prefix("VmRSS:"))
            .and_then(|rest| rest.trim().strip_suffix(" kB")?.parse::<u64>().ok());
        kilobytes.unwrap_or(0) * 1024
    }

    /// Whether the process was started with this variable in its environment.
    pub(crate) fn has_variable(pid: i32, assignment: &str) -> bool {
        read(format!("/proc/{pid}/environ")).is_some_and(|environment| {
            environment
                .split(|byte| *byte == 0)
                .any(|entry| entry == assignment.as_bytes())
        })
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use std::process::Command;

    use super::Row;

    pub(crate) fn boot_id() -> String {
        text(Command::new("sysctl").args(["-n", "kern.boottime"]))
    }

    pub(crate) fn row(pid: i32) -> Option<Row> {
        parse(&text(Command::new("ps").args([
            "-o",
            "pid=,ppid=,pgid=,stat=,lstart=",
            "-p",
            &pid.to_string(),
        ])))
        .into_iter()
        .next()
    }

    pub(crate) fn rows() -> Vec<Row> {
        parse(&text(
            Command::new("ps").args(["-axo", "pid=,ppid=,pgid=,stat=,lstart="]),
        ))
    }

    pub(crate) fn has_variable(pid: i32, assignment: &str) -> bool {
        text(Command::new("ps").args(["-Eww", "-o", "command=", "-p", &pid.to_string()]))
            .split(' ')
            .any(|word| word == assignment)
    }

    pub(crate) fn variable(pid: i32, name: &str) -> Option<String> {
        text(Command::new("ps").args(["-Eww", "-o", "command=", "-p", &pid.to_string()]))
            .split(' ')
            .find_map(|word| {
                word.strip_prefix(name)?
                    .strip_prefix('=')
                    .map(str::to_owned)
            })
    }

    pub(crate) fn memory(pid: i32) -> u64 {
        let kilobytes = text(Command::new("ps").args(["-o", "rss=", "-p", &pid.to_string()]));
        kilobytes.trim().parse::<u64>().unwrap_or(0) * 1024
    }

    /// `ps` does not tell where an argument ends: the first word is the program.
    pub(crate) fn command_line(pid: i32) -> Option<Vec<String>> {
        let line = text(Command::new("ps").args(["-ww", "-o", "command=", "-p", &pid.to_string()]));
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        (!words.is_empty()).then_some(words)
    }

    /// `ps` does not show the working directory of a process.
    pub(crate) fn detached_in(_: i32, _: &std::path::Path) -> Option<String> {
        None
    }

    /// `ps` does not show the session id on every system. The process group is used instead.
    fn parse(table: &str) -> Vec<Row> {
        table
            .lines()
            .filter_map(|line| {
                let mut words = line.split_whitespace();
                let pid = words.next()?.parse().ok()?;
                let parent = words.next()?.parse().ok()?;
                let session = words.next()?.parse().ok()?;
                let zombie = words.next()?.starts_with('Z');
                let started = words.flat_map(str::bytes).fold(0_u64, |sum, byte| {
                    sum.wrapping_mul(131).wrapping_add(u64::from(byte))
                });
                Some(Row {
                    pid,
                    parent,
                    session,
                    started,
                    zombie,
                })
            })
            .collect()
    }

    fn text(command: &mut Command) -> String {
        command
            .output()
            .map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned())
            .unwrap_or_default()
    }
}

pub(super) use system::{boot_id, command_line, detached_in, has_variable, memory, rows};

pub(super) fn start_time(pid: i32) -> Option<u64> {
    system::row(pid).map(|row| row.started)
}

pub(super) fn is_zombie(pid: i32) -> bool {
    system::row(pid).is_some_and(|row| row.zombie)
}

/// The value of a variable that a process was started with.
pub(crate) fn variable_of(pid: i32, name: &str) -> Option<String> {
    system::variable(pid, name)
}

/// The program and the arguments of a running process.
pub(crate) fn command_line_of(pid: i32) -> Option<Vec<String>> {
    command_line(pid)
}

pub(super) fn row_of(pid: i32) -> Option<Row> {
    system::row(pid)
}
