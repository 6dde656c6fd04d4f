//! Neither an agent nor the machine is disturbed by a UI.

use super::journeys::ui;
use crate::support::Camp;

#[test]
fn no_commit_of_an_agent_fails_while_the_ui_is_open() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    for n in 0..2000 {
        repository.write(&format!("files/{}/{n}.txt", n % 40), "some text\n");
    }
    repository.commit("many");
    // The agent says something with each commit, so that everyone who looks has a reason to.
    let script = "i=0; while [ $i -lt 200 ]; do i=$((i+1)); echo $i >> counted.txt; \
         git add -A && git -c user.name=A -c user.email=a@example.org commit -qm $i || echo FAILED; \
         echo commit $i; done; echo all done; exec cat";
    camp.start_shell(&repository, "committing", script);
    let terminal = ui(&camp, &repository);
    terminal.press(&["Tab"]);
    terminal.wait_for("counted.txt");
    terminal.wait_for("+200 −0");
    terminal.press(&["Tab", "Tab", "Tab", "Tab"]);
    terminal.wait_for("all done");
    let instance = camp.list().remove(0);
    let screen = camp.biv(["peek", "-n", "1000", &instance.id]).run().ok();
    assert!(!screen.stdout.contains("FAILED"), "{}", screen.stdout);
    let count = camp
        .repository_at(&instance.worktree)
        .git(&["rev-list", "--count", "main..HEAD"]);
    assert_eq!(count.trim(), "200");
    terminal.press(&["q"]);
    terminal.wait_for("ended with 0");
}

/// How often the threads of a process have gone to sleep so far.
#[cfg(target_os = "linux")]
fn sleeps(pid: i32) -> u64 {
    let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).unwrap();
    tasks
        .filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("status")).ok())
        .filter_map(|status| {
            let line = status
                .lines()
                .find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
            line?.trim().parse::<u64>().ok()
        })
        .sum()
}

#[cfg(target_os = "linux")]
#[test]
fn the_ui_sleeps_while_the_user_is_attached() {
    use std::time::Duration;
    const VISIT: Duration = Duration::from_secs(4);
    let camp = Camp::new();
    let repository = camp.repository("app");
    let instance = camp.start(&repository, "visited", &[]);
    instance.wait_idle(&camp);
    let terminal = ui(&camp, &repository);
    terminal.wait_for("1 ready");
    let pid = terminal.program();
    terminal.press(&["Enter"]);
    terminal.wait_for("ctrl-q detach");
    let before = sleeps(pid);
    std::thread::sleep(VISIT);
    let often = sleeps(pid) - before;
    println!("{often} times in {VISIT:?}");
    // It looks for a daemon once a second and for little else.
    assert!(often < 400, "it woke up {often} times in {VISIT:?}");
    terminal.press(&["C-q"]);
    terminal.wait_for("bivouac");
    terminal.press(&["q"]);
    terminal.wait_for("ended with 0");
}
