//! `agents` and `detect`.

use crate::support::Camp;

#[test]
fn the_agents_are_listed_with_what_is_supported_of_each() {
    let camp = Camp::new();
    let answer = camp.biv(["agents", "--json"]).run().ok();
    let agents = answer.json()["agents"].as_array().unwrap().clone();
    let names: Vec<&str> = agents.iter().filter_map(|a| a["name"].as_str()).collect();
    for name in [
        "claude", "codex", "gemini", "opencode", "aider", "shell", "demo",
    ] {
        assert!(names.contains(&name), "{names:?}");
    }
    let demo = agents.iter().find(|agent| agent["name"] == "demo").unwrap();
    assert_eq!(demo["installed"], true);
    assert_eq!(demo["native_resume"], true);
    assert_eq!(demo["version"], env!("CARGO_PKG_VERSION"));
    let text = camp.biv(["agents"]).run().ok().stdout;
    assert!(text.starts_with("AGENT"), "{text}");
}

#[test]
fn an_agent_of_the_users_own_is_one_file() {
    let camp = Camp::new();
    let agents = camp.home().join("config/agents");
    std::fs::create_dir_all(&agents).unwrap();
    std::fs::write(
        agents.join("mine.toml"),
        "display = \"Mine\"\ncommand = [\"cat\"]\n[session]\nreference = \"none\"\nstrategy = \"replay\"\n",
    )
    .unwrap();
    let listed = camp.biv(["agents", "--json"]).run().ok().json();
    let mine = listed["agents"]
        .as_array()
        .unwrap()
        .iter()
        .find(|agent| agent["name"] == "mine")
        .cloned()
        .expect("the new agent is listed");
    assert_eq!(mine["display"], "Mine");

    std::fs::write(
        agents.join("mine.toml"),
        "display = \"Mine\"\ncomand = [\"cat\"]\n",
    )
    .unwrap();
    let answer = camp.biv(["agents"]).run().fails(1);
    assert!(answer.stderr.contains("mine.toml"), "{}", answer.stderr);
    assert!(answer.stderr.contains("comand"), "{}", answer.stderr);
}

#[test]
fn a_captured_screen_is_judged() {
    let camp = Camp::new();
    let screens = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/screens/claude");
    let approval = std::fs::read_dir(screens.join("approval"))
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    let from_file = camp
        .biv(["detect", "-a", "claude", "--json"])
        .stdin(std::fs::read(&approval).unwrap())
        .run()
        .ok();
    assert_eq!(from_file.json()["activity"], "approval");
    assert!(from_file.json()["rule"].is_string());
    let named = camp
        .biv(["detect", "-a", "claude", approval.to_str().unwrap()])
        .run()
        .ok();
    assert!(named.stdout.starts_with("approval ("), "{}", named.stdout);
    let nothing = camp.biv(["detect", "-a", "claude", "-"]).stdin("hello\n");
    assert_eq!(nothing.run().ok().stdout, "unknown (no rule matched)\n");
    let missing = camp.biv(["detect", "-a", "claude", "no/such/file"]).run();
    assert!(missing.fails(1).stderr.contains("cannot be read"));
}
