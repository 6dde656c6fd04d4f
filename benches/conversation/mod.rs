//! A conversation that has grown for ever: its end must be there at once, and none of it may have to
//! fit into memory.

use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::support::{BIV, Bench, Camp, Row, median_ms, memory, timed};

const SIZE: usize = 1_000_000_000;
const LIMIT_MB: f64 = 64.0;

pub(crate) fn rows(bench: &mut Bench) {
    let camp = Camp::new();
    let repository = camp.repository(5);
    camp.biv_in(&repository, &["new", "talks", "-a", "shell", "--", "cat"]);
    let instances = camp.home().join("state/instances");
    let conversation = instances.join(camp.id("talks")).join("conversation");
    std::fs::create_dir_all(&conversation).ok();
    let file = conversation.join("current.jsonl");
    assert!(write(&file).is_ok(), "{}", file.display());

    let tail = ["log", "-n", "5", "talks"];
    let ours = median_ms(9, || timed(|| camp.biv(&tail)));
    bench.row(Row::below(
        "conversation-tail",
        "`biv log -n 5`, conversation of 1 GB",
        ours,
        50.0,
        "ms",
    ));
    bench.row(Row::below(
        "conversation-tail-memory",
        "its memory at most",
        peak(&camp, &tail),
        LIMIT_MB,
        "MB",
    ));
    let compacted = peak(&camp, &["compact", "talks"]);
    let left = std::fs::metadata(&file).map_or(0, |metadata| metadata.len());
    assert!(left < SIZE as u64 / 100, "it was summed up: {left} bytes");
    bench.row(Row::below(
        "conversation-compact-memory",
        "`biv compact` of the same, memory at most",
        compacted,
        LIMIT_MB,
        "MB",
    ));
}

/// Prompts, answers and what tools print, some hundred bytes to some kilobytes each.
fn write(path: &Path) -> std::io::Result<()> {
    let mut file = BufWriter::new(std::fs::File::create(path)?);
    let mut written = 0;
    for n in 0.. {
        let (kind, repeated, metadata) = match n % 4 {
            0 => ("user", 4, serde_json::json!({})),
            1 => ("assistant", 30, serde_json::json!({})),
            _ => (
                "tool",
                120,
                serde_json::json!({ "tool": "Bash", "subject": format!("ls src{n}") }),
            ),
        };
        let content = format!("line {n} of what was said\n").repeat(repeated);
        let entry = serde_json::json!({
            "timestamp": "2026-11-14T18:02:00Z",
            "type": kind,
            "content": content,
            "metadata": metadata,
        });
        let line = format!("{entry}\n");
        file.write_all(line.as_bytes())?;
        written += line.len();
        if written >= SIZE {
            break;
        }
    }
    file.flush()
}

/// The most memory that a command holds at any time, in megabytes. The kernel keeps the mark; it is
/// read until the process ends.
fn peak(camp: &Camp, args: &[&str]) -> f64 {
    let started = Command::new(BIV)
        .args(args)
        .env("BIV_HOME", camp.home())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let Ok(mut child) = started else {
        panic!("biv {args:?} cannot be started");
    };
    let mut most = f64::NAN;
    while !has_ended(&mut child) {
        // A process that is ending has none left.
        most = most.max(memory(child.id(), "VmHWM"));
        std::thread::sleep(Duration::from_micros(200));
    }
    most
}

fn has_ended(child: &mut Child) -> bool {
    match child.try_wait() {
        Ok(Some(status)) => {
            assert!(status.success(), "it failed: {status}");
            true
        }
        Ok(None) => false,
        Err(_) => true,
    }
}
