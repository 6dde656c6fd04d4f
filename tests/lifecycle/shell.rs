//! The user's own shell in the session of an agent.

use crate::support::terminal::Terminal;
use crate::support::{Camp, until};

#[test]
fn a_shell_stands_beside_the_agent_and_is_never_taken_for_it() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let instance = camp.start(&repository, "one", &[]);
    instance.wait_idle(&camp);
    let windows = || {
        let listed = camp.tmux(&["list-windows", "-t", &format!("=biv-{}:", instance.id)]);
        String::from_utf8_lossy(&listed.stdout).lines().count()
    };
    let terminal = Terminal::running(&camp, "SHELL=/bin/sh PS1='>> ' biv shell one");
    terminal.wait_for("ctrl-q detach");
    terminal.wait_for(">>");
    assert_eq!(windows(), 2);
    terminal.write("pwd; echo in-$BIV_INSTANCE");
    terminal.press(&["Enter"]);
    terminal.wait_for(&format!("in-{}", instance.id));

    // Everything about the agent is as if there were no shell.
    let shown = camp.show(&instance);
    assert_eq!(shown["activity"], "idle", "{shown:#}");
    let peeked = camp.biv(["peek", "one"]).run().ok().stdout;
    assert!(!peeked.contains(">>"), "{peeked}");
    assert_eq!(camp.list().len(), 1);
    drop(camp.biv(["send", "one", "hi there"]).run().ok());
    until("the agent has it", || {
        instance.prompts(&camp) == ["hi there"]
    });
    instance.wait_idle(&camp);
    let sound = camp.biv(["doctor", "--json"]).run().json();
    let findings = sound["findings"].as_array().unwrap();
    let sessions = findings.iter().find(|one| one["check"] == "sessions");
    assert_eq!(
        sessions.map(|one| one["health"].clone()),
        Some("good".into()),
        "{sound:#}"
    );

    // It is left and found again; a terminal at the agent does not show it.
    terminal.write("cd src; pwd; sleep 600");
    terminal.press(&["Enter"]);
    // tmux takes keys that come at once for a paste, in which none is a command.
    terminal.wait_for("/src");
    terminal.press(&["C-q"]);
    terminal.wait_for("Detached from `one`; the shell keeps running.");
    terminal.wait_for("ended with 0");
    let second = Terminal::named(&camp, "second", "biv shell one");
    second.wait_for("sleep 600");
    let agent = Terminal::named(&camp, "agent", "biv attach one");
    agent.wait_for("biv/one");
    assert!(!agent.screen().contains("sleep 600"), "{}", agent.screen());
    agent.press(&["C-q"]);
    agent.wait_for("the agent keeps running");

    // A pause ends it, without waiting, and names what ran in it.
    let paused = camp.biv(["pause", "one"]).run().ok();
    let said = paused.said();
    assert!(said.contains("the shell of `one` runs sleep"), "{said}");
    second.wait_for("The shell of `one` has ended.");
    assert_eq!(instance.processes().len(), 0, "{:?}", instance.processes());
    assert_eq!(camp.sessions(), Vec::<String>::new());
    drop(camp.biv(["resume", "one"]).run().ok());
    assert_eq!(windows(), 1);

    // One that is left by its user is gone.
    let third = Terminal::named(&camp, "third", "SHELL=/bin/sh PS1='>> ' biv shell one");
    third.wait_for(">>");
    third.write("exit");
    third.press(&["Enter"]);
    third.wait_for("The shell of `one` has ended.");
    until("its window is closed", || windows() == 1);
    let without = camp.biv(["shell", "one"]).run().fails(1).said();
    assert!(without.contains("this needs a terminal"), "{without}");
}
