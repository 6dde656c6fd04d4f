//! `agents` and `detect`.

use crate::support::Camp;

#[test]
fn the_agents_are_listed_with_what_is_supported_of_each() {
    let camp = Camp::new();
    let answer = camp.biv(["agents", "--json"]).run().ok();
    let agents = answer.json()["agents"].as_array().unwrap().clone();
    let names: Vec<&str> = agents.iter().filter_map(|a| a["name"].as_str()).collect();
    for name in [
        "claude", "codex", "gemini", "opencode", "aider", "copilot", "qwen", "kimi", "vibe",
        "kilo", "shell", "demo",
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

/// The steps of `src/ARCHITECTURE.md` for an agent that is not built in: one file, its screens, and
/// it is started, understood, spoken to, paused and resumed.
#[test]
fn a_new_agent_is_one_file_and_its_screens() {
    let camp = Camp::new();
    let agents = camp.home().join("config/agents");
    std::fs::create_dir_all(&agents).unwrap();
    let program = camp.root().join("pal");
    std::fs::write(&program, PAL).unwrap();
    let file = PAL_FILE.replace("PROGRAM", program.to_str().unwrap());
    std::fs::write(agents.join("pal.toml"), file).unwrap();
    // Its screens: the folder is the expected answer.
    for (expected, screen) in [
        ("idle", "pal 1.0\nyou> \n"),
        ("busy", "pal 1.0\nyou> hello\n~ thinking\n"),
        ("approval", "~ wants to run\n  ls -l\nmay I? [y/n]\n"),
        (
            "idle",
            "you> what do you ask?\npal: I say \"may I? [y/n]\"\nyou> \n",
        ),
        ("unknown", "$ \n"),
    ] {
        let told = camp.biv(["detect", "-a", "pal", "--json"]).stdin(screen);
        assert_eq!(told.run().ok().json()["activity"], expected, "{screen}");
    }
    let repository = camp.repository("app");
    let made = camp
        .biv([
            "new",
            "--json",
            "friend",
            "-a",
            "pal",
            "-p",
            "the tent is blue",
            "--repo",
        ])
        .arg(&repository.path)
        .run()
        .ok();
    let friend = crate::support::Instance::from_json(&made.json());
    friend.wait_screen(&camp, "pal: you said the tent is blue");
    friend.wait_for(&camp, "activity", "idle");
    let shown = camp.show(&friend);
    assert_eq!(shown["activity_source"], "screen prompt", "{shown:#}");
    let reference = shown["session_ref"].as_str().unwrap().to_owned();
    drop(camp.biv(["pause", "friend"]).run().ok());
    assert_eq!(camp.show(&friend)["pause"]["forced"], false);
    drop(camp.biv(["resume", "friend"]).run().ok());
    friend.wait_screen(&camp, &format!("pal goes on with {reference}"));
}

/// An agent as simple as they come.
const PAL: &str = r#"#!/bin/sh
stty -icanon 2>/dev/null
case "$1" in
--go-on) echo "pal goes on with $2" ;;
*) echo "pal 1.0 as $2" ;;
esac
stty icanon
while printf 'you> ' && read -r said; do
    echo "~ thinking"
    echo "pal: you said $said"
done
"#;

const PAL_FILE: &str = r#"
display = "Pal"
about = "a friend"
command = ["sh", "PROGRAM"]
limits = ["it knows nothing"]
[session]
reference = "assigned"
fresh = ["--as", "{session}"]
resume = ["--go-on", "{session}"]
strategy = "native"
turnless = "resume"
[keys]
interrupt = ["C-c"]
submit = ["Enter"]
[input]
settle_ms = 100
[[rules]]
name = "asks"
activity = "approval"
last = 1
any = ['^may I\? \[y/n\]']
[[rules]]
name = "thinking"
activity = "busy"
last = 1
any = ['^~ ']
[[rules]]
name = "prompt"
activity = "idle"
last = 1
any = ['^you> ?$']
"#;

/// An agent that chooses its id itself, keeps it and what was said in files of its own, and silently starts anew
/// with an id that it does not know: its file says so, and no code is needed.
#[test]
fn the_files_of_a_new_agent_are_described_in_its_file() {
    let camp = Camp::new();
    let agents = camp.home().join("config/agents");
    std::fs::create_dir_all(&agents).unwrap();
    let program = camp.root().join("own");
    std::fs::write(&program, OWN).unwrap();
    let file = OWN_FILE.replace("PROGRAM", program.to_str().unwrap());
    std::fs::write(agents.join("own.toml"), file).unwrap();
    let repository = camp.repository("app");
    let new = camp.biv([
        "new",
        "--json",
        "friend",
        "-a",
        "own",
        "-p",
        "the tent is blue",
        "--repo",
    ]);
    let made = new.arg(&repository.path).run().ok();
    let friend = crate::support::Instance::from_json(&made.json());
    friend.wait_screen(&camp, "own: you said the tent is blue");
    friend.wait_for(&camp, "activity", "idle");
    let log = || camp.biv(["log", "friend"]).run().ok().stdout;
    crate::support::until("the answer is in the log", || {
        log().contains("you said the tent is blue")
    });
    assert_eq!(log().matches("the tent is blue").count(), 2, "{}", log());
    drop(camp.biv(["pause", "friend"]).run().ok());
    let reference = camp.show(&friend)["session_ref"].clone();
    let reference = reference.as_str().expect("it was found").to_owned();
    drop(camp.biv(["resume", "friend"]).run().ok());
    friend.wait_screen(&camp, &format!("own goes on as {reference}"));
    drop(camp.biv(["pause", "friend"]).run().ok());
    let kept = camp.root().join("user/.own").join(&reference);
    std::fs::remove_dir_all(kept).unwrap();
    let refused = camp.biv(["resume", "friend"]).run().fails(5);
    assert!(
        refused.stderr.contains("does not know"),
        "{}",
        refused.stderr
    );
    assert_eq!(camp.show(&friend)["state"], "paused");
}

const OWN: &str = r#"#!/bin/sh
home=$HOME/.own
if [ "$1" = --go-on ] && [ -d "$home/$2" ]; then
    id=$2
    echo "own goes on as $id"
else
    id=own-$$
    echo "own is $id"
fi
mkdir -p "$home/$id"
printf '{"id":"%s","env":{"cwd":"%s"}}' "$id" "$(pwd -P)" >"$home/$id/meta.json"
while printf 'you> ' && read -r said; do
    printf '{"who":"user","text":"%s"}\n' "$said" >>"$home/$id/talk.jsonl"
    echo "own: you said $said"
    printf '{"who":"own","text":"you said %s"}\n' "$said" >>"$home/$id/talk.jsonl"
done
"#;

const OWN_FILE: &str = r#"
command = ["sh", "PROGRAM"]
[session]
reference = "discovered"
discover = "described"
resume = ["--go-on", "{session}"]
strategy = "native"
unknown_ids = "fresh"
kept = ["{OWN_HOME:~/.own}/{session}/meta.json"]
[session.find]
files = "{OWN_HOME:~/.own}/*/meta.json"
id = "id"
directory = "env.cwd"
[transcript]
format = "described"
files = ["{OWN_HOME:~/.own}/{session}/talk.jsonl"]
[[transcript.lines]]
when = { who = "user" }
is = "user"
text = "text"
activity = "busy"
[[transcript.lines]]
when = { who = "own" }
is = "assistant"
text = "text"
activity = "idle"
[keys]
interrupt = ["C-c"]
submit = ["Enter"]
[input]
settle_ms = 100
[[rules]]
name = "prompt"
activity = "idle"
last = 1
any = ['^you> ?$']
"#;

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
