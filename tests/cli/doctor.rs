//! `doctor` looks at everything and is always safe to run.

use std::os::unix::fs::PermissionsExt;

use crate::support::Camp;

fn findings(camp: &Camp, fix: bool) -> Vec<(String, String, String)> {
    let arguments = ["doctor", "--json"]
        .into_iter()
        .chain(fix.then_some("--fix"));
    let json = camp.biv(arguments).run().json();
    json["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|finding| {
            let text = |key: &str| finding[key].as_str().unwrap_or_default().to_owned();
            (text("check"), text("health"), text("what"))
        })
        .collect()
}

#[test]
fn a_healthy_camp_is_healthy() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    camp.start(&repository, "well", &[]);
    let answer = camp.biv(["doctor", "--json"]).run().ok();
    assert_eq!(answer.json()["healthy"], true);
    for (check, health, what) in findings(&camp, false) {
        assert!(health == "good" || check == "agents", "{check}: {what}");
    }
    let text = camp.biv(["doctor"]).run().ok().stdout;
    assert!(text.contains("✓ tmux: "), "{text}");
    assert!(text.contains("✓ git: "), "{text}");
}

#[test]
fn a_mistake_in_a_policy_is_named() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let instance = camp.start(&repository, "well", &[]);
    let rules = instance.worktree.join(".bivouac/policy.toml");
    std::fs::create_dir_all(rules.parent().unwrap()).unwrap();
    std::fs::write(&rules, "schema = 1\n[[reject]]\nid = \"x\"\n").unwrap();
    let answer = camp.biv(["doctor"]).run().fails(1);
    let named = format!("✗ policy: {}: ", rules.display());
    assert!(answer.stdout.contains(&named), "{}", answer.stdout);
    std::fs::remove_file(&rules).unwrap();
    let answer = camp.biv(["doctor"]).run().ok();
    assert!(answer.stdout.contains("✓ policy: "), "{}", answer.stdout);
}

#[test]
fn what_is_out_of_order_is_named_and_mended_on_request() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    camp.start(&repository, "well", &[]);
    let state = camp.home().join("state");
    let open = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(&state, open).unwrap();
    let orphan = camp.home().join("worktrees/app/nobodys");
    std::fs::create_dir_all(&orphan).unwrap();
    let unknown = camp.instances_dir().join("bcdfghjkmn");
    std::fs::create_dir_all(&unknown).unwrap();
    std::fs::write(unknown.join("record.json"), "{\"format\": 99, \"x\": 1}").unwrap();

    let answer = camp.biv(["doctor"]).run().fails(1);
    for part in [
        "can be read by others",
        "nobodys belongs to no instance",
        "format 99",
    ] {
        assert!(answer.stdout.contains(part), "{part} in {}", answer.stdout);
    }
    let fixed = camp.biv(["doctor", "--fix"]).run();
    assert!(fixed.stdout.contains("✓ mended"), "{}", fixed.stdout);
    let mode = std::fs::metadata(&state).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
    assert!(orphan.is_dir(), "what may belong to another is left alone");
    assert!(
        unknown.join("record.json").is_file(),
        "a newer record is left alone"
    );
    // And all others work.
    assert_eq!(camp.list().len(), 1);
}

#[test]
fn an_instance_that_lost_its_worktree_is_told_of() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let instance = camp.start(&repository, "homeless", &[]);
    std::fs::rename(&instance.worktree, camp.root().join("elsewhere")).unwrap();
    let answer = camp.biv(["doctor"]).run().fails(1);
    assert!(
        answer.stdout.contains("`homeless` has lost its worktree"),
        "{}",
        answer.stdout
    );
    assert_eq!(findings(&camp, true).len(), findings(&camp, false).len());
}

#[test]
fn a_session_without_an_instance_is_told_of_and_left_alone() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    camp.start(&repository, "well", &[]);
    let session = ["new-session", "-d", "-s", "mine", "sleep", "600"];
    assert!(camp.tmux(&session).status.success());
    let text = camp.biv(["doctor", "--fix"]).run().ok().stdout;
    assert!(
        text.contains("! sessions: the session mine belongs to no instance"),
        "{text}"
    );
    assert!(camp.sessions().contains(&"mine".to_owned()));
}

#[test]
fn an_operation_that_was_cut_off_is_carried_on_by_the_doctor() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    camp.start(&repository, "cut", &[]);
    let killed = camp
        .biv(["kill", "-y", "cut"])
        .crash_at("kill:close-session:after");
    drop(killed.run().crashed());
    drop(camp.biv(["doctor"]).run().ok());
    assert_eq!(camp.list().len(), 0);
    assert_eq!(repository.worktrees(), Vec::<std::path::PathBuf>::new());
}

#[test]
fn a_bundle_tells_what_happened_and_nothing_private() {
    let camp = Camp::new();
    let repository = camp.repository("confidential");
    let instance = camp.start(&repository, "merger with acme", &["-p", "Buy them quietly"]);
    instance.wait_idle(&camp);
    drop(camp.biv(["pause", "merger with acme"]).run().ok());
    let file = camp.root().join("report.txt");
    let call = |file: &std::path::Path| camp.biv(["doctor", "--bundle", file.to_str().unwrap()]);
    drop(call(&file).run().ok());
    let text = std::fs::read_to_string(&file).unwrap();
    for wanted in [
        "operation{name=\"pause\"",
        "step{name=\"snapshot\"}",
        "instance:paused",
        &format!("{} paused agent=demo", instance.id),
        "good git:",
    ] {
        assert!(text.contains(wanted), "{wanted} is missing in\n{text}");
    }
    for private in ["acme", "quietly", "confidential", "biv/merger"] {
        assert!(!text.contains(private), "{private} is in\n{text}");
    }
    // A file that exists is not written over.
    let again = call(&file).run().fails(1);
    assert!(again.stderr.contains("hint:"), "{}", again.stderr);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
}

#[test]
fn the_log_has_the_level_that_is_asked_for() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let log = camp.home().join("state/log/biv.log");
    let quiet = camp
        .biv(["new", "quiet", "-a", "demo"])
        .within(&repository.path);
    drop(quiet.env("BIV_LOG", "off").run().ok());
    assert!(!log.exists());
    let loud = camp
        .biv(["new", "loud", "-a", "demo"])
        .within(&repository.path);
    drop(loud.run().ok());
    assert!(std::fs::read_to_string(&log).unwrap().contains("create"));
    let wrong = camp.biv(["list"]).env("BIV_LOG", "chatty").run().ok();
    assert!(
        wrong.stderr.contains("BIV_LOG=chatty is not a level"),
        "{}",
        wrong.stderr
    );
}
