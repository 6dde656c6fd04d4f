//! Dialogs of a version of an agent that its file was not measured on.

use std::path::Path;

use crate::autoyes::{answer, ask, asking, press, switch_on};
use crate::support::{Camp, Instance};

fn write_agent(camp: &Camp, text: &str) {
    let agents = camp.home().join("config/agents");
    std::fs::create_dir_all(&agents).unwrap();
    std::fs::write(agents.join("demo.toml"), text).unwrap();
}

#[track_caller]
fn is_left(camp: &Camp, instance: &Instance, why: &str) {
    let left = answer(camp, instance);
    assert_eq!(left["outcome"], "manual", "{left}");
    assert_eq!(left["keys"], serde_json::json!([]), "{left}");
    let reason = left["reason"].as_str().unwrap();
    assert!(reason.contains(why), "{left}");
    instance.wait_for(camp, "activity", "approval");
}

/// Its choices may mean something else there: neither a yes nor a no is typed.
#[test]
fn a_version_that_was_not_measured_is_left_to_a_person() {
    let camp = Camp::new();
    let instance = asking(&camp, "newer", "/run touch made.txt");
    switch_on(&camp, &instance);
    let made = instance.worktree.join("made.txt");
    let versions = camp.home().join("state/versions.json");
    for (text, why) in [
        ("measured = \"<0.0.1\"\n", "was not measured"),
        (
            "version_command = [\"true\"]\nmeasured = \">=0.0\"\n",
            "is not known",
        ),
    ] {
        write_agent(&camp, text);
        drop(std::fs::remove_file(&versions));
        is_left(&camp, &instance, why);
        assert!(!made.exists());
    }
    press(&camp, &instance, &["Escape"]);
    instance.wait_idle(&camp);
    write_agent(&camp, "measured = \"<0.0.1\"\n");
    ask(&camp, &instance, "/run rm -rf made.txt");
    is_left(&camp, &instance, "was not measured");
    write_agent(&camp, "measured = \">=0.0\"\n");
    assert_eq!(answer(&camp, &instance)["outcome"], "rejected");
}

/// Puts this version of the demo agent there.
fn release(program: &Path, version: &str) {
    let biv = env!("CARGO_BIN_EXE_biv");
    let script = format!(
        "#!/bin/sh\n[ \"$1\" = --version ] && {{ echo {version}; exit; }}\nexec '{biv}' __demo-agent \"$@\"\n"
    );
    std::fs::create_dir_all(program.parent().unwrap()).unwrap();
    let part = program.with_extension("part");
    std::fs::write(&part, script).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&part, mode).unwrap();
    std::fs::rename(&part, program).unwrap();
}

/// An agent that updates itself is another one from then on, also for those who have not asked it yet.
#[test]
fn a_program_that_was_replaced_is_asked_for_its_version() {
    let camp = Camp::new();
    let program = camp.root().join("agent");
    let release = |version: &str| release(&program, version);
    release("1.0.0");
    let path = program.display();
    write_agent(
        &camp,
        &format!(
            "command = [\"{path}\", \"--sessions\", \"{{state}}/demo\"]\n\
             version_command = [\"{path}\", \"--version\"]\nmeasured = \">=1.0, <=1.0.0\"\n"
        ),
    );
    let instance = asking(&camp, "updated", "/run touch one.txt");
    switch_on(&camp, &instance);
    let answered = answer(&camp, &instance);
    assert_eq!(answered["outcome"], "accepted", "{answered}");
    instance.wait_idle(&camp);
    release("1.0.10");
    ask(&camp, &instance, "/run touch two.txt");
    is_left(&camp, &instance, "1.0.10 was not measured");
    assert!(!instance.worktree.join("two.txt").exists());
}

/// With two of them installed, an instance is judged by the one that it was started with, whoever looks.
#[test]
fn of_two_programs_the_one_that_was_started_counts() {
    let camp = Camp::new();
    let (measured, newer) = (camp.root().join("measured"), camp.root().join("newer"));
    release(&measured.join("two-agent"), "1.0.0");
    release(&newer.join("two-agent"), "1.0.10");
    let usual = std::env::var("PATH").unwrap();
    let path = |first: &Path| format!("{}:{usual}", first.display());
    write_agent(
        &camp,
        "command = [\"two-agent\", \"--sessions\", \"{state}/demo\"]\n\
         version_command = [\"two-agent\", \"--version\"]\nmeasured = \">=1.0, <=1.0.0\"\n",
    );
    let camp = camp.with("PATH", &path(&measured));
    let old = asking(&camp, "old", "/run touch one.txt");
    switch_on(&camp, &old);
    // Another shell, another program.
    let camp = camp.with("PATH", &path(&newer));
    let new = camp.start(&camp.repository("other"), "new", &[]);
    new.wait_idle(&camp);
    ask(&camp, &new, "/run touch two.txt");
    switch_on(&camp, &new);
    for first in [&measured, &newer, &measured] {
        let camp = &camp;
        let answered = camp
            .biv(["__answer", &new.id])
            .env("PATH", path(first))
            .run()
            .ok()
            .json();
        assert_eq!(answered["outcome"], "manual", "{answered}");
        let reason = answered["reason"].as_str().unwrap();
        assert!(reason.contains("1.0.10 was not measured"), "{answered}");
    }
    assert!(!new.worktree.join("two.txt").exists());
    let answered = answer(&camp, &old);
    assert_eq!(answered["outcome"], "accepted", "{answered}");
}
