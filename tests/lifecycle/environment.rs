//! What an agent is started with, and what is remembered of it.

use crate::support::{Camp, Instance, until};

/// An agent that writes its environment down and stays.
fn start(camp: &Camp, variables: &[(&str, &str)]) -> Instance {
    let repository = camp.repository("app");
    let arguments = [
        "new",
        "--json",
        "x",
        "-a",
        "shell",
        "--",
        "sh",
        "-c",
        "env >seen.new; mv seen.new seen; exec cat",
    ];
    let call = camp.biv(arguments).within(&repository.path);
    let call = variables
        .iter()
        .fold(call, |call, (name, value)| call.env(name, value));
    Instance::from_json(&call.run().ok().json())
}

fn seen(instance: &Instance) -> String {
    let file = instance.worktree.join("seen");
    until("the agent has started", || file.exists());
    let seen = std::fs::read_to_string(&file).unwrap();
    std::fs::remove_file(&file).unwrap();
    seen
}

#[test]
fn markers_of_an_agent_around_are_not_handed_on() {
    let camp = Camp::new();
    let markers = [
        "CLAUDECODE",
        "CLAUDE_CODE_ENTRYPOINT",
        "CLAUDE_CODE_SESSION_ID",
        "CLAUDE_PROJECT_DIR",
        "CODEX_SANDBOX",
        "CODEX_SANDBOX_NETWORK_DISABLED",
        "CODEX_THREAD_ID",
        "GEMINI_CLI",
        "OPENCODE",
        "OPENCODE_PID",
        "AI_AGENT",
    ];
    let settings = [
        "CLAUDE_CODE_USE_BEDROCK",
        "CLAUDE_CONFIG_DIR",
        "CODEX_HOME",
        "GEMINI_API_KEY",
        "OPENCODE_CONFIG",
        "AIDER_MODEL",
    ];
    let variables: Vec<(&str, &str)> = markers
        .iter()
        .chain(&settings)
        .map(|name| (*name, "1"))
        .collect();
    let seen = seen(&start(&camp, &variables));
    for marker in markers {
        assert!(!seen.contains(&format!("{marker}=")), "{marker} in {seen}");
    }
    for setting in settings {
        assert!(
            seen.contains(&format!("{setting}=1")),
            "{setting} not in {seen}"
        );
    }
}

#[test]
fn a_resume_from_a_shell_without_a_token_says_so() {
    let camp = Camp::new();
    let token = ("ACME_API_TOKEN", "s3cr3t-value-of-the-token");
    let instance = start(&camp, &[token, ("ACME_NOISE", "1"), ("SHLVL", "7")]);
    assert!(seen(&instance).contains(token.1));
    let paused = camp.biv(["pause", "x", "--now"]).run().ok();
    assert!(!paused.stderr.contains("ACME_"), "{}", paused.stderr);

    let names = |text: &str| text.contains("warning: ") && text.contains("ACME_API_TOKEN");
    for _ in 0..2 {
        let without = camp.biv(["resume", "x"]).run().ok();
        assert!(names(&without.stderr), "{}", without.stderr);
        assert!(!without.stderr.contains("ACME_NOISE"), "{}", without.stderr);
        assert!(!seen(&instance).contains(token.0));
        drop(camp.biv(["pause", "x", "--now"]).run().ok());
    }
    let with = camp.biv(["resume", "x"]).env(token.0, token.1).run().ok();
    assert!(!names(&with.stderr), "{}", with.stderr);
    assert!(seen(&instance).contains(token.1));

    // Names are kept, values never.
    let mut kept = false;
    for (path, text) in files_below(&camp.home().join("state")) {
        kept |= text.contains(token.0);
        assert!(!text.contains(token.1), "{path}");
    }
    assert!(kept);

    // A new run starts with what there is.
    drop(camp.biv(["restart", "-y", "x"]).run().ok());
    drop(camp.biv(["pause", "x", "--now"]).run().ok());
    let later = camp.biv(["resume", "x"]).run().ok();
    assert!(!names(&later.stderr), "{}", later.stderr);
}

fn files_below(directory: &std::path::Path) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(files_below(&path));
        } else if let Ok(bytes) = std::fs::read(&path) {
            found.push((
                path.display().to_string(),
                String::from_utf8_lossy(&bytes).into_owned(),
            ));
        }
    }
    found
}
