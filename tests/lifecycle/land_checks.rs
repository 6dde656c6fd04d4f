//! The check of a landing: it runs on the result, and what it finds decides.

use crate::land::{commit, main_of, with_commit};
use crate::land_cases::read;
use crate::support::{Camp, Instance, processes_with, until};

#[test]
fn work_that_changes_while_it_is_checked_does_not_land() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let instance = with_commit(&camp, &repository, "feature", "new.txt");
    let before = main_of(&repository);
    // The check plays the agent.
    let late = format!(
        "cd '{}' && echo late > late.txt && git add -A && git -c user.name=A -c user.email=a@b commit -qm late",
        instance.worktree.display()
    );
    for keep in [&["--keep"][..], &[]] {
        let arguments = [&["land", "--json", "--check", &late], keep, &["feature"]].concat();
        let error = camp.biv(arguments).run().fails(4).error();
        assert_eq!(error["code"], "changed_meanwhile", "{keep:?}");
        assert_eq!(main_of(&repository), before);
        assert!(instance.worktree.join("late.txt").exists());
        instance.wait_idle(&camp);
        let checkout = repository.seen_from(&instance.worktree);
        checkout.git(&["rm", "-q", "late.txt"]);
        checkout.commit("without");
    }
}

#[test]
fn a_target_that_moves_while_it_is_checked_is_landed_on_again() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let _instance = with_commit(&camp, &repository, "feature", "new.txt");
    // The user commits during the first check; the second one sees it.
    let meanwhile = format!(
        "test -e other.txt || (cd '{0}' && test ! -e other.txt && echo x > other.txt && git add -A && \
         git -c user.name=A -c user.email=a@b commit -qm other)",
        repository.path.display()
    );
    let answer = camp
        .biv(["land", "--check", &meanwhile, "feature"])
        .run()
        .ok();
    assert!(answer.said().contains("trying again"), "{}", answer.said());
    assert!(answer.said().contains("by a merge"), "{}", answer.said());
    assert!(repository.path.join("other.txt").exists());
    assert!(repository.path.join("new.txt").exists());
    assert_eq!(repository.git(&["status", "--porcelain"]), "");
}

#[test]
fn a_failing_check_changes_nothing_and_is_kept() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let instance = with_commit(&camp, &repository, "feature", "new.txt");
    let before = main_of(&repository);
    let check =
        "i=0; while [ $i -lt 50 ]; do echo line $i; i=$((i+1)); done; test -e new.txt && exit 3";
    let answer = camp
        .biv(["land", "--check", check, "feature"])
        .run()
        .fails(1);
    let said = answer.said();
    assert!(said.contains("  | line 49\n"), "{said}");
    assert!(said.contains("exit status: 3"), "{said}");
    let log = camp
        .instances_dir()
        .join(&instance.id)
        .join("land-check.log");
    assert_eq!(read(&log).lines().count(), 50);
    assert_eq!(main_of(&repository), before);
    assert_eq!(camp.show(&instance)["state"], "running");
}

#[test]
fn a_check_that_hangs_is_ended_with_its_children() {
    let camp = Camp::new();
    std::fs::create_dir_all(camp.home().join("config")).unwrap();
    std::fs::write(
        camp.home().join("config/config.toml"),
        "[land]\ncheck_timeout = \"1s\"\n",
    )
    .unwrap();
    let repository = camp.repository("app");
    let instance = with_commit(&camp, &repository, "feature", "new.txt");
    let answer = camp
        .biv([
            "land",
            "--check",
            "echo begun; sleep 4711 & sleep 4712",
            "feature",
        ])
        .run()
        .fails(1);
    assert!(
        answer.said().contains("time limit of 1s"),
        "{}",
        answer.said()
    );
    assert!(answer.said().contains("| begun"), "{}", answer.said());
    assert_eq!(
        instance.processes().len(),
        1,
        "the agent was not ended with it"
    );
}

#[test]
fn an_interrupted_check_leaves_nothing() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let instance = with_commit(&camp, &repository, "feature", "new.txt");
    let before = main_of(&repository);
    let mark = camp.root().join("begun");
    let check = format!("touch '{}'; sleep 4713", mark.display());
    let mut child = camp
        .biv(["land", "--check", &check, "feature"])
        .in_background();
    until("the check runs", || mark.exists());
    let pid = rustix::process::Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(main_of(&repository), before);
    assert_eq!(camp.show(&instance)["state"], "running");
}

#[test]
fn a_check_runs_on_the_result_with_the_set_up_and_what_it_writes_does_not_land() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    repository.write(".gitignore", ".env\n");
    repository.write(
        ".bivouac.toml",
        "[setup]\ncopy = [\".env\"]\nrun = \"touch made\"\n[land]\ncheck = \"test -e .env && test -e made && test -e new.txt && test -e other.txt && echo changed > README.md\"\n",
    );
    repository.commit("set-up");
    repository.write(".env", "TOKEN=abc\n");
    let new = ["new", "--json", "-a", "demo", "--trust-setup", "feature"];
    let instance = Instance::from_json(&camp.biv(new).within(&repository.path).run().ok().json());
    instance.wait_idle(&camp);
    std::fs::remove_file(instance.worktree.join("made")).unwrap();
    commit(&repository, &instance, "new.txt", "new\n");
    repository.write("other.txt", "other\n");
    repository.commit("other");
    let error = camp
        .biv(["land", "--json", "feature"])
        .run()
        .fails(1)
        .error();
    assert_eq!(error["code"], "consent_needed");
    let answer = camp.biv(["land", "--trust-check", "feature"]).run().ok();
    assert!(answer.said().contains("does not land"), "{}", answer.said());
    assert_eq!(
        repository.git(&["show", "main:README.md"]),
        "# A repository"
    );
    // From now on without being asked.
    let _next = with_commit(&camp, &repository, "next", "next.txt");
    drop(camp.biv(["land", "next"]).run().ok());
}

#[test]
fn what_a_check_leaves_running_is_ended() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let _instance = with_commit(&camp, &repository, "feature", "new.txt");
    let check = "setsid sleep 4715 >/dev/null 2>&1 & true";
    drop(camp.biv(["land", "--check", check, "feature"]).run().ok());
    let home = format!("BIV_HOME={}", camp.home().display());
    until("nothing of the camp runs", || {
        processes_with(&home).is_empty()
    });
}
