//! ccmanager: a menu of worktrees with agents behind it. It has no command line, so it is looked at as
//! its users do.

use super::Peer;
use crate::support::{Bench, Camp, Row, git};
use crate::ui::{IDLE, Screen};

const WORKTREES: usize = 10;

pub(super) fn rows(bench: &mut Bench) {
    let Some(peer) = Peer::find("ccmanager") else {
        return;
    };
    let camp = Camp::new();
    let repository = camp.repository(50);
    for n in 0..WORKTREES {
        let branch = format!("work{n}");
        let path = camp.path(&branch);
        let path = path.to_str().unwrap_or_default();
        git(&repository, &["worktree", "add", "-q", "-b", &branch, path]);
        camp.biv_in(
            &repository,
            &["new", &format!("agent {n}"), "-a", "shell", "--", "cat"],
        );
    }
    let theirs = || Screen::of(peer.command(&camp, &repository));
    let ours = || Screen::open(&camp, &repository);
    let mut listed = (Vec::new(), Vec::new());
    for _ in 0..5 {
        listed.0.push(ours().until("agent 0"));
        listed.1.push(theirs().until("work0"));
    }
    bench.row(Row::beside(
        "ccmanager-list",
        "UI, 10 worktrees on the screen",
        &listed.0,
        &listed.1,
        &peer.name,
    ));
    let idle = |mut screen: Screen, text: &str| {
        screen.until(text);
        screen.settle();
        let before = screen.cpu();
        screen.drain_for(IDLE);
        screen.cpu() - before
    };
    let spent = [idle(ours(), "agent 0")];
    let their = [idle(theirs(), "work0")];
    bench.row(Row::beside(
        "ccmanager-idle",
        "UI open for 20 s, CPU; ours with 10 agents running, theirs with none",
        &spent,
        &their,
        &peer.name,
    ));
}
