//! An agent that was brought back stands at its prompt, whether its turn was over or not: the user is told.

use crate::post::{camp_with_daemon, start};
use crate::saved::cut_the_power;
use crate::support::terminal::Terminal;
use crate::support::{Camp, Instance, until};

const CUT: &str = "its turn was cut off";

fn at_work(camp: &Camp, title: &str) -> Instance {
    let instance = camp.start(&camp.repository(title), title, &[]);
    instance.wait_idle(camp);
    drop(camp.biv(["send", title, "/busy 60"]).run().ok());
    instance.wait_for(camp, "activity", "busy");
    instance
}

fn is_told(camp: &Camp, instance: &Instance) -> bool {
    let listed = camp.biv(["list"]).run().ok().stdout;
    let row = listed.lines().find(|row| row.contains(&instance.title));
    let told = row.is_some_and(|row| row.contains(CUT));
    assert_eq!(told, !camp.show(instance)["turn_cut_at"].is_null());
    told
}

#[test]
fn after_a_power_cut_it_is_told_whose_turn_was_cut_off() {
    let camp = camp_with_daemon();
    let done = camp.start(&camp.repository("done"), "done", &["-p", "Remember done"]);
    done.wait_idle(&camp);
    let [looked, told] = ["looked", "told"].map(|title| at_work(&camp, title));
    // This agent does not tell what it does: its last saved screen does.
    for (instance, saved) in [
        (&done, "live"),
        (&looked, "live-busy"),
        (&told, "live-busy"),
    ] {
        let place = camp.instances_dir().join(&instance.id).join("terminal");
        until("its screen is saved", || place.join(saved).exists());
    }
    cut_the_power(&camp);
    start(&camp);
    let resumed = camp.biv(["resume", "--all"]).run().ok().stderr;
    assert!(resumed.contains("`done` is running\n"), "{resumed}");
    let told_so = "`told` is running; its turn was cut off\n";
    assert!(resumed.contains(told_so), "{resumed}");
    assert!(!is_told(&camp, &done));
    assert!(is_told(&camp, &looked) && is_told(&camp, &told));

    let terminal = Terminal::running(&camp, "biv attach looked; echo left");
    terminal.wait_for("resumed");
    terminal.press(&["C-q"]);
    terminal.wait_for("left");
    assert!(!is_told(&camp, &looked));
    drop(camp.biv(["send", "told", "go on"]).run().ok());
    assert!(!is_told(&camp, &told));
}

#[test]
fn a_pause_that_cuts_a_turn_off_is_told_until_a_restart() {
    let camp = camp_with_daemon();
    let instance = at_work(&camp, "paused");
    drop(camp.biv(["pause", "--now", "paused"]).run().ok());
    assert!(is_told(&camp, &instance));
    let resumed = camp.biv(["resume", "paused"]).run().ok().stderr;
    assert!(resumed.contains("Resumed `paused`; its turn was cut off. "));
    assert!(is_told(&camp, &instance));
    drop(camp.biv(["restart", "-y", "paused"]).run().ok());
    assert!(!is_told(&camp, &instance));
}
