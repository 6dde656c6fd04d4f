//! workmux: worktrees in windows of a tmux session that its user is in.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::Peer;
use crate::support::{Bench, Camp, Row, timed, until_there};

const ROUNDS: usize = 5;

pub(super) fn rows(bench: &mut Bench) {
    let Some(peer) = Peer::find("workmux") else {
        return;
    };
    let camp = Camp::new();
    let repository = camp.repository(50);
    let session = Session::open(&peer, &camp, &repository);
    let mark = camp.path("mark");
    let agent = agent(&camp, &mark);
    let agent = agent.to_str().unwrap_or_default();

    let (mut started, mut listed) = ((Vec::new(), Vec::new()), (Vec::new(), Vec::new()));
    for n in 0..ROUNDS {
        let title = format!("ours {n}");
        let ours = || camp.biv_in(&repository, &["new", &title, "-a", "shell", "--", agent]);
        started.0.push(until_there(&mark, ours));
        let branch = format!("theirs-{n}");
        let theirs = || session.run(&["add", &branch, "--background", "--agent", agent]);
        started.1.push(until_there(&mark, theirs));
    }
    for _ in 0..ROUNDS {
        listed.0.push(timed(|| camp.biv_in(&repository, &["list"])));
        listed.1.push(timed(|| session.run(&["list"])));
    }
    bench.row(Row::beside(
        "workmux-new",
        "new worktree, until its agent runs",
        &started.0,
        &started.1,
        &peer.name,
    ));
    bench.row(Row::beside(
        "workmux-list",
        "list, 5 instances that were just made",
        &listed.0,
        &listed.1,
        &peer.name,
    ));
}

/// A program that tells by a file that it runs.
fn agent(camp: &Camp, mark: &Path) -> PathBuf {
    use std::os::unix::fs::PermissionsExt;
    let path = camp.path("agent");
    let text = format!("#!/bin/sh\n: >'{}'\nexec cat\n", mark.display());
    std::fs::write(&path, text).ok();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).ok();
    path
}

/// A tmux server for it to make its windows in.
struct Session<'p> {
    peer: &'p Peer,
    camp: &'p Camp,
    repository: &'p Path,
    socket: PathBuf,
    inside: String,
}

impl<'p> Session<'p> {
    fn open(peer: &'p Peer, camp: &'p Camp, repository: &'p Path) -> Self {
        let socket = camp.path("theirs.sock");
        let mut session = Self {
            peer,
            camp,
            repository,
            socket,
            inside: String::new(),
        };
        session.tmux(&["-f", "/dev/null", "new-session", "-d", "-s", "main"]);
        let told = session.tmux(&["display-message", "-p", "#{socket_path},#{pid},0"]);
        session.inside = told.trim().to_owned();
        session
    }

    fn tmux(&self, args: &[&str]) -> String {
        let output = Command::new("tmux")
            .current_dir(self.repository)
            .arg("-S")
            .arg(&self.socket)
            .args(args)
            .env_remove("TMUX")
            .stdin(Stdio::null())
            .output();
        output.map_or_else(
            |_| String::new(),
            |output| String::from_utf8_lossy(&output.stdout).into_owned(),
        )
    }

    fn run(&self, args: &[&str]) {
        let done = self
            .peer
            .command(self.camp, self.repository)
            .args(args)
            .env("TMUX", &self.inside)
            .env("TMUX_PANE", "%0")
            .output();
        let Ok(done) = done else {
            panic!("{} {args:?} cannot be started", self.peer.name);
        };
        let said = String::from_utf8_lossy(&done.stderr);
        assert!(done.status.success(), "{} {args:?}: {said}", self.peer.name);
    }
}

impl Drop for Session<'_> {
    fn drop(&mut self) {
        self.tmux(&["kill-server"]);
    }
}
