//! workmux: a worktree and a tmux window for each branch.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::Peer;
use crate::support::{Bench, Camp, Row, timed};

const TIMES: usize = 9;

pub(super) fn rows(bench: &mut Bench) {
    let Some(peer) = Peer::find("workmux") else {
        return;
    };
    let camp = Camp::new();
    let repository = camp.repository(50);
    // The pane's command leaves a mark, as the agent of the other side does.
    std::fs::write(
        repository.join(".workmux.yaml"),
        "panes:\n  - command: touch started; exec cat\n",
    )
    .ok();
    let theirs = Workmux {
        peer,
        server: camp.path("peer.sock"),
        camp: &camp,
        repository: &repository,
    };
    theirs.serve();
    camp.biv_in(&repository, &["new", "first", "-a", "shell", "--", "cat"]);
    let mut new = (Vec::new(), Vec::new());
    let mut list = (Vec::new(), Vec::new());
    let mut end = (Vec::new(), Vec::new());
    for n in 0..TIMES {
        new.0.push(camp.until_agent_runs(&repository, n));
        new.1.push(theirs.until_pane_runs(n));
    }
    camp.biv(&["list"]);
    for _ in 0..TIMES {
        list.0.push(timed(|| camp.biv(&["list"])));
        list.1.push(timed(|| theirs.run(&["list"])));
    }
    for n in 0..TIMES {
        end.0
            .push(timed(|| camp.biv(&["kill", "-y", &format!("t{n}")])));
        end.1.push(timed(|| {
            theirs.run(&["remove", "--force", &format!("w{n}")])
        }));
    }
    let name = &theirs.peer.name;
    for (key, what, (ours, others)) in [
        (
            "workmux-new",
            "`biv new` beside `workmux add`, 50 files",
            &new,
        ),
        (
            "workmux-list",
            "`biv list` beside `workmux list`, 10 of each",
            &list,
        ),
        (
            "workmux-end",
            "`biv kill`, which saves the work, beside `workmux remove`, which deletes it",
            &end,
        ),
    ] {
        bench.row(Row::beside(key, what, ours, others, name));
    }
}

struct Workmux<'a> {
    peer: Peer,
    server: PathBuf,
    camp: &'a Camp,
    repository: &'a Path,
}

impl Workmux<'_> {
    /// It works in the tmux that it is called from.
    fn serve(&self) {
        let status = self
            .tmux()
            .args(["-f", "/dev/null", "new-session", "-d", "-s", "main", "cat"])
            .current_dir(self.repository)
            .status();
        assert!(status.is_ok_and(|status| status.success()), "no tmux");
    }

    fn tmux(&self) -> Command {
        let mut tmux = Command::new("tmux");
        tmux.arg("-S").arg(&self.server).stdin(Stdio::null());
        tmux
    }

    fn run(&self, args: &[&str]) {
        let output = self
            .peer
            .command(self.camp, self.repository)
            .args(args)
            .env("TMUX", format!("{},1,0", self.server.display()))
            .output();
        let Ok(output) = output else {
            panic!("{} cannot be started", self.peer.name);
        };
        assert!(
            output.status.success(),
            "workmux {args:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
    }

    /// Milliseconds until the program in its new window runs.
    fn until_pane_runs(&self, n: usize) -> f64 {
        let name = format!("w{n}");
        let mark = self.worktrees().join(&name).join("started");
        let started = Instant::now();
        std::thread::scope(|scope| {
            scope.spawn(|| self.run(&["add", &name, "--background"]));
            while !mark.exists() && started.elapsed() < Duration::from_secs(60) {
                std::thread::sleep(Duration::from_micros(200));
            }
            started.elapsed().as_secs_f64() * 1000.0
        })
    }

    fn worktrees(&self) -> PathBuf {
        let mut path = self.repository.as_os_str().to_owned();
        path.push("__worktrees");
        PathBuf::from(path)
    }
}

impl Drop for Workmux<'_> {
    fn drop(&mut self) {
        self.tmux().arg("kill-server").status().ok();
    }
}
