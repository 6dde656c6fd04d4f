//! The processes of this machine, as far as a test may know them.

/// A running process.
#[derive(Debug, Clone)]
pub(crate) struct Process {
    pub(crate) pid: i32,
    pub(crate) command: String,
}

impl Process {
    /// SIGKILL.
    pub(crate) fn kill(&self) {
        self.signal(rustix::process::Signal::KILL);
    }

    pub(crate) fn signal(&self, signal: rustix::process::Signal) {
        if let Some(pid) = rustix::process::Pid::from_raw(self.pid) {
            // It may have gone meanwhile.
            rustix::process::kill_process(pid, signal).ok();
        }
    }

    pub(crate) fn is_alive(&self) -> bool {
        is_running(self.pid)
    }
}

/// Those whose environment holds this text.
#[cfg(target_os = "linux")]
pub(crate) fn processes_with(text: &str) -> Vec<Process> {
    let own = std::process::id().to_string();
    std::fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| name.bytes().all(|byte| byte.is_ascii_digit()) && *name != own)
        .filter(|pid| {
            std::fs::read(format!("/proc/{pid}/environ"))
                .is_ok_and(|environment| contains(&environment, text))
        })
        .filter_map(|pid| {
            let command = std::fs::read(format!("/proc/{pid}/cmdline")).ok()?;
            let command = String::from_utf8_lossy(&command).replace('\0', " ");
            let pid = pid.parse().ok()?;
            is_running(pid).then_some(Process { pid, command })
        })
        .collect()
}

/// All environments of the machine are searched, again and again. The standard library's search is compiled with
/// optimisation; a loop of ours over the bytes takes longer.
#[cfg(target_os = "linux")]
fn contains(environment: &[u8], text: &str) -> bool {
    String::from_utf8_lossy(environment).contains(text)
}

/// A zombie has ended; that it is not reaped yet does not matter.
#[cfg(target_os = "linux")]
fn is_running(pid: i32) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| {
        let state = stat.rfind(')').and_then(|at| stat.get(at + 2..at + 3));
        !matches!(state, Some("Z" | "X"))
    })
}

/// Those whose environment holds this text.
#[cfg(not(target_os = "linux"))]
pub(crate) fn processes_with(text: &str) -> Vec<Process> {
    let own = i32::try_from(std::process::id()).unwrap();
    let table = std::process::Command::new("ps")
        .args(["-axEww", "-o", "pid=,command="])
        .output()
        .unwrap();
    String::from_utf8_lossy(&table.stdout)
        .lines()
        .filter(|line| line.contains(text))
        .filter_map(|line| {
            let (pid, command) = line.trim().split_once(' ')?;
            let pid = pid.parse().ok()?;
            (pid != own).then(|| Process {
                pid,
                command: command.to_owned(),
            })
        })
        .collect()
}

#[cfg(not(target_os = "linux"))]
fn is_running(pid: i32) -> bool {
    std::process::Command::new("ps")
        .args(["-o", "stat=", "-p", &pid.to_string()])
        .output()
        .is_ok_and(|output| !output.stdout.is_empty() && !output.stdout.starts_with(b"Z"))
}
