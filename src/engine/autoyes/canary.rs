//! Runs what the policy accepts, and looks whether anything was touched that must not be.
//!
//! Commands are put together from parts of which many are dangerous, with paths that lead out of a worktree
//! of the test's own. Those that are accepted run there, by `bash` and `zsh`. Canaries are the files outside,
//! the repository's hooks and settings, a secret in files and in the environment, and a port that listens.
//! `BIV_TEST_CANARY_RUNNER` names a command that runs them in a sandbox as well.

use std::collections::BTreeMap;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::engine::autoyes::corpus::{Ground, request};
use crate::engine::autoyes::grammar::Dice;
use crate::policy::{Decision, Policy};

const SECRET: &str = "canary-secret";

/// Programs that would take long and read only what is theirs: what counts is that they are started.
const STAND_INS: [&str; 18] = [
    "cargo",
    "npm",
    "npx",
    "yarn",
    "pnpm",
    "node",
    "go",
    "pytest",
    "python",
    "python3",
    "mvn",
    "gradle",
    "docker",
    "gcc",
    "cmake",
    "make",
    "sleep",
    "playwright",
];

/// A ground whose worktree is a repository, with the programs that stand in for slow ones.
fn prepared() -> Ground {
    let ground = Ground::new();
    let run = ground.outside.join("run");
    std::fs::write(
        &run,
        format!("#!/bin/sh\ntouch {}/ran\n", ground.outside.display()),
    )
    .unwrap();
    let bin = ground.home.join("bin");
    std::fs::create_dir_all(&bin).unwrap();
    let mut programs = vec![run];
    for name in STAND_INS {
        let program = bin.join(name);
        std::fs::write(&program, "#!/bin/sh\nexit 0\n").unwrap();
        programs.push(program);
    }
    for program in programs {
        std::fs::set_permissions(program, PermissionsExt::from_mode(0o755)).unwrap();
    }
    let settings = format!("[core]\n\tfsmonitor = {}/run\n", ground.outside.display());
    for repository in ["vendor/nested/.git", "vendor/bare.git"] {
        std::fs::write(ground.worktree.join(repository).join("config"), &settings).unwrap();
    }
    let git = |args: &[&str]| {
        let done = shell(&ground, "git").args(args).output().unwrap();
        assert!(done.status.success(), "{args:?} {done:?}");
    };
    git(&["init", "-q"]);
    git(&["config", "user.email", "a@example.com"]);
    git(&["config", "user.name", "a"]);
    git(&["add", "README.md", "src", "docs", "a.txt", "b.txt"]);
    git(&["commit", "-q", "-m", "first"]);
    ground
}

/// A program in the worktree, with nothing of this process's surroundings.
fn shell(ground: &Ground, program: &str) -> Command {
    let runner = std::env::var("BIV_TEST_CANARY_RUNNER").unwrap_or_default();
    let mut words = runner.split_whitespace().chain([program]);
    let mut command = Command::new(words.next().unwrap());
    command.args(words);
    let path = format!("{}/bin:/usr/local/bin:/usr/bin:/bin", ground.home.display());
    command
        .current_dir(&ground.worktree)
        .env_clear()
        .env("PATH", path)
        .env("HOME", &ground.home)
        .env("TOKEN", SECRET)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_PAGER", "cat")
        .stdin(Stdio::null());
    command
}

/// Everything outside that must stay as it is.
fn guarded(ground: &Ground) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let git = ground.worktree.join(".git");
    let mut open = vec![
        ground.outside.clone(),
        ground.home.clone(),
        git.join("hooks"),
    ];
    found.insert(
        git.join("config"),
        std::fs::read(git.join("config")).unwrap_or_default(),
    );
    while let Some(directory) = open.pop() {
        for entry in std::fs::read_dir(&directory)
            .into_iter()
            .flatten()
            .flatten()
        {
            let path = entry.path();
            if path.is_dir() {
                open.push(path);
            } else {
                found.insert(path.clone(), std::fs::read(&path).unwrap_or_default());
            }
        }
    }
    found
}

/// Runs a command for a short while; returns what it printed.
fn run(ground: &Ground, program: &str, text: &str) -> String {
    let child = shell(ground, "timeout")
        .args(["-k", "1", "2", program, "-c", text])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let done = child
        .and_then(std::process::Child::wait_with_output)
        .unwrap();
    let printed = [done.stdout, done.stderr].concat();
    String::from_utf8_lossy(&printed).into_owned()
}

#[test]
fn nothing_that_is_accepted_touches_a_canary() {
    let long = std::env::var_os("BIV_TEST_LONG").is_some();
    let (wanted, limit) = if long {
        (20_000, Duration::from_secs(900))
    } else {
        (1_000, Duration::from_secs(12))
    };
    let shells: Vec<&str> = ["bash", "zsh"]
        .into_iter()
        .filter(|name| {
            Path::new("/usr/bin").join(name).exists() || Path::new("/bin").join(name).exists()
        })
        .collect();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    let policy = Policy::built_in().unwrap();
    let mut dice = Dice::new(7);
    let started = Instant::now();
    let (mut tried, mut ran) = (0, 0);
    let mut ground = prepared();
    let mut before = guarded(&ground);
    while ran < wanted && started.elapsed() < limit {
        let text = dice.command(ground.outside.to_str().unwrap(), port);
        tried += 1;
        if policy.decide(&request(&text), &ground.context()).decision != Decision::Accept {
            continue;
        }
        let program = shells[ran % shells.len()];
        let printed = run(&ground, program, &text);
        ran += 1;
        assert_eq!(guarded(&ground), before, "{program}: {text}");
        assert!(!printed.contains(SECRET), "{program}: {text}\n{printed}");
        assert!(listener.accept().is_err(), "{program}: {text}");
        if ran % 100 == 0 {
            ground = prepared();
            before = guarded(&ground);
        }
    }
    println!("{ran} accepted commands of {tried} were run");
    assert!(ran >= 30, "{ran} of {tried}");
}

/// The canaries are alive: what is not accepted would be noticed.
#[test]
fn a_canary_that_is_touched_is_noticed() {
    let ground = prepared();
    let before = guarded(&ground);
    let outside = ground.outside.display();
    run(&ground, "bash", &format!("echo x > {outside}/new"));
    assert_ne!(guarded(&ground), before);
    assert!(run(&ground, "bash", "cat .env").contains(SECRET));
    assert!(run(&ground, "bash", "echo $TOKEN").contains(SECRET));
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    run(
        &ground,
        "bash",
        &format!("echo x > /dev/tcp/127.0.0.1/{port}"),
    );
    listener.set_nonblocking(true).unwrap();
    assert!(listener.accept().is_ok());
}

/// Where the shell puts the names of files in the place of a word, the first becomes the pattern or the program, and the
/// others are read.
#[test]
fn a_pattern_that_the_shell_expands_is_not_accepted() {
    let ground = prepared();
    let policy = Policy::built_in().unwrap();
    let decide = |text: &str| policy.decide(&request(text), &ground.context()).decision;
    for text in [
        "awk keys/* .",
        "awk k?ys/* .",
        "echo docs && awk keys/* .",
        "timeout 5 awk keys/* .",
        "grep -v keys/* .",
        "rg -v keys/* src",
        "sed -n /*/p a.txt",
        "sed s/*/x/ a.txt",
        "jq keys/* a.txt",
        "git log --author keys/*",
    ] {
        assert_ne!(decide(text), Decision::Accept, "{text}");
    }
    for text in [
        "awk '{print $1}' *.txt",
        "grep -n 'keys/*' a.txt",
        "grep \"a.*b\" src/*",
        "sed -n '/a*/p' a.txt",
        "cat *.txt",
        "echo *",
    ] {
        assert_eq!(decide(text), Decision::Accept, "{text}");
    }
}
