//! A private home, raw git and tmux beside it, and the table.

mod camp;
mod table;
mod watching;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

pub(crate) use camp::{Camp, written_out};
pub(crate) use table::{Bench, Row};
pub(crate) use watching::watching;

/// How long anything is waited for.
const PATIENCE: Duration = Duration::from_secs(60);

/// The program as it is released.
pub(crate) const BIV: &str = env!("CARGO_BIN_EXE_biv");

/// Milliseconds that something takes.
pub(crate) fn timed<T>(work: impl FnOnce() -> T) -> f64 {
    let started = Instant::now();
    work();
    started.elapsed().as_secs_f64() * 1000.0
}

/// Milliseconds until a file is there that something leaves on its way.
pub(crate) fn until_there<T: Send>(mark: &Path, work: impl FnOnce() -> T + Send) -> f64 {
    std::fs::remove_file(mark).ok();
    let started = Instant::now();
    std::thread::scope(|scope| {
        let working = scope.spawn(work);
        while !mark.exists() && started.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_micros(200));
        }
        let took = started.elapsed().as_secs_f64() * 1000.0;
        assert!(working.join().is_ok(), "{} never came", mark.display());
        took
    })
}

/// User and system time of a process and of those of its children that have ended, in milliseconds.
pub(crate) fn cpu_of(pid: u32) -> f64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let fields: Vec<&str> = stat
        .rsplit(')')
        .next()
        .unwrap_or("")
        .split_whitespace()
        .collect();
    let ticks: f64 = [11, 12, 13, 14]
        .iter()
        .filter_map(|at| fields.get(*at)?.parse::<f64>().ok())
        .sum();
    ticks * 10.0
}

/// What the kernel says of a process's memory, in megabytes: what it holds (`VmRSS`) or has held at
/// most (`VmHWM`).
pub(crate) fn memory(pid: u32, what: &str) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    status
        .lines()
        .find_map(|line| {
            line.strip_prefix(what)?
                .strip_prefix(':')?
                .strip_suffix("kB")
        })
        .and_then(|kilobytes| kilobytes.trim().parse::<f64>().ok())
        .map_or(f64::NAN, |kilobytes| kilobytes / 1000.0)
}

pub(crate) fn median_ms(times: usize, mut measure: impl FnMut() -> f64) -> f64 {
    median(&(0..times).map(|_| measure()).collect::<Vec<_>>())
}

pub(crate) fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Git as a user would call it.
pub(crate) fn git(directory: &Path, args: &[&str]) {
    let status = Command::new("git")
        .current_dir(directory)
        .args([
            "-c",
            "user.name=Bench",
            "-c",
            "user.email=bench@example.org",
            "-c",
            "gc.auto=0",
        ])
        .args(args)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status();
    assert!(
        status.is_ok_and(|status| status.success()),
        "git {args:?} in {}",
        directory.display()
    );
}

pub(crate) fn file_path(directory: &Path, prefix: &str, n: usize) -> PathBuf {
    directory.join(format!("{prefix}{}/{}/f{n}.txt", n % 20, n % 400 / 20))
}

/// Small files of different sizes in a few hundred directories.
pub(crate) fn files(directory: &Path, prefix: &str, count: usize) {
    for n in 0..count {
        let path = file_path(directory, prefix, n);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).ok();
        }
        let text = format!("{prefix} {n}\n").repeat(20 + n % 150);
        assert!(std::fs::write(&path, text).is_ok(), "{}", path.display());
    }
}
