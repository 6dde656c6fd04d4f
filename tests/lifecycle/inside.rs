//! What runs inside an instance may look, and act on its own instance.

use std::collections::BTreeSet;
use std::path::Path;

use crate::support::terminal::Terminal;
use crate::support::{Camp, Instance, Process, Repository, until, until_told};

/// An instance whose agent carries out shell scripts that a test gives it.
pub(crate) struct Worker {
    pub(crate) instance: Instance,
}

/// How a script ended, and what it said.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) status: i32,
    pub(crate) said: String,
}

impl Worker {
    pub(crate) fn start(camp: &Camp, repository: &Repository, title: &str) -> Self {
        let work = "while :; do if [ -f order ]; then mv order current; sh ./current >said 2>&1; \
                    echo $? >status.new; mv status.new status; fi; sleep 0.05; done";
        Self {
            instance: camp.start_shell(repository, title, work),
        }
    }

    #[track_caller]
    pub(crate) fn does(&self, script: &str) -> Done {
        let file = |name: &str| self.instance.worktree.join(name);
        std::fs::write(file("order.new"), script).unwrap();
        std::fs::rename(file("order.new"), file("order")).unwrap();
        let status = until_told(
            || format!("the agent has done {script}"),
            || std::fs::read_to_string(file("status")).ok(),
        );
        std::fs::remove_file(file("status")).unwrap();
        Done {
            status: status.trim().parse().unwrap(),
            said: std::fs::read_to_string(file("said")).unwrap(),
        }
    }
}

fn program() -> String {
    Path::new(env!("CARGO_BIN_EXE_biv")).display().to_string()
}

/// Ways in which an agent can hide that a command is its own. `BIV` stands for the command.
fn disguises(camp: &Camp) -> Vec<(&'static str, String)> {
    let home = camp.home().display();
    let bare = format!("env -i PATH=\"$PATH\" HOME=\"$HOME\" BIV_HOME='{home}'");
    vec![
        ("as it is", "BIV".to_owned()),
        ("without the variable", "env -u BIV_INSTANCE BIV".to_owned()),
        ("without an environment", format!("{bare} BIV")),
        ("in its own session", format!("setsid -w {bare} BIV")),
        (
            "as an orphan",
            // It begins when its parent has gone.
            format!(
                "A=$PPID; rm -f rc; (setsid {bare} A=$A sh -c 'while p=$(cut -d\" \" -f4 /proc/$$/stat); \
                 [ $p != 1 ] && [ $p != $A ]; do sleep 0.02; done; BIV >orphan 2>&1; echo $? >rc.new; \
                 mv rc.new rc' &); until [ -f rc ]; do sleep 0.02; done; cat orphan; exit $(cat rc)"
            ),
        ),
        (
            "in the name of another",
            "env BIV_INSTANCE=OTHER BIV".to_owned(),
        ),
    ]
}

fn disguised(disguise: &str, arguments: &str, other: &Instance) -> String {
    disguise
        .replace("BIV_INSTANCE=OTHER", &format!("BIV_INSTANCE={}", other.id))
        .replace("-u BIV_INSTANCE", "-u @")
        .replace("BIV_INSTANCE=", "@=")
        .replace("BIV_HOME=", "#=")
        .replace("BIV", &format!("{} {arguments}", program()))
        .replace("-u @", "-u BIV_INSTANCE")
        .replace("@=", "BIV_INSTANCE=")
        .replace("#=", "BIV_HOME=")
}

#[test]
fn an_agent_cannot_touch_others_however_it_hides() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let worker = Worker::start(&camp, &repository, "worker");
    let other = camp.start(&repository, "other", &[]);
    other.wait_idle(&camp);
    for (name, disguise) in disguises(&camp) {
        for arguments in [
            "kill -y other --json",
            "autoyes other on --json",
            "autoyes worker on --json",
        ] {
            let done = worker.does(&disguised(&disguise, arguments, &other));
            assert_eq!(done.status, 1, "{name}: {arguments}: {}", done.said);
            assert!(
                done.said.contains("\"inside_instance\""),
                "{name}: {arguments}: {}",
                done.said
            );
        }
        let looked = worker.does(&disguised(&disguise, "peek other", &other));
        assert_eq!(looked.status, 0, "{name}: {}", looked.said);
    }
    assert_eq!(camp.show(&other)["state"], "running");
    assert_eq!(camp.show(&other)["autoyes"], false);
    assert_eq!(camp.show(&worker.instance)["autoyes"], false);
    // From outside all of it works, also in a directory of the instance.
    let outside = camp.biv(["autoyes", "other", "on"]);
    drop(outside.within(&worker.instance.worktree).run().ok());
}

/// Every command, with arguments that name another instance; those of the last column may be used from
/// inside an instance.
const COMMANDS: &[(&str, &str, bool)] = &[
    ("new", "new fresh -a demo", false),
    ("run", "run fresh -a demo -p hello", false),
    ("adopt", "adopt .", false),
    ("export", "export other -o /tmp/nothing --plain", false),
    ("export", "export other --to origin", false),
    ("import", "import nothing.biv", false),
    ("import", "import --from origin other", false),
    ("import", "import claude-squad", false),
    ("import", "import claude-squad --dry-run", true),
    ("list", "list", true),
    ("show", "show other", true),
    ("status", "status", true),
    ("path", "path other", true),
    ("exec", "exec other -- true", false),
    ("open", "open other", false),
    ("rename", "rename other another", false),
    ("attach", "attach other", false),
    ("shell", "shell other", false),
    ("shell", "shell worker", false),
    ("send", "send other hello", false),
    ("send", "send worker other hi", false),
    ("send", "send --all hi", false),
    ("answer", "answer other", true),
    ("answer", "answer other yes", false),
    ("answer", "answer worker yes", false),
    ("peek", "peek other", true),
    ("diff", "diff other", true),
    ("review", "review other --from /dev/null", false),
    ("pause", "pause other", false),
    ("pause", "pause other --cancel", false),
    ("pause", "pause --all", false),
    ("pause", "pause --state running", false),
    ("resume", "resume other", false),
    ("resume", "resume --all", false),
    ("restart", "restart -y other", false),
    ("kill", "kill -y other", false),
    ("kill", "kill -y worker other", false),
    ("kill", "kill -y --all", false),
    ("undo-kill", "undo-kill other", false),
    ("land", "land other", false),
    ("undo-land", "undo-land other", false),
    ("push", "push other", false),
    ("pr", "pr other", false),
    ("seal", "seal try -- true", false),
    ("runs", "runs other", true),
    ("snapshots", "snapshots other", true),
    (
        "snapshots",
        "snapshots other abc --to /tmp/biv-never",
        false,
    ),
    ("log", "log other", true),
    ("search", "search hello", true),
    ("usage", "usage", true),
    ("compact", "compact other", false),
    ("queue", "queue other", true),
    ("queue", "queue other hello", false),
    ("queue", "queue other --clear", false),
    ("queue", "queue other --continue", false),
    ("queue", "queue worker other hello", false),
    ("queue", "queue --all hello", false),
    ("wait", "wait other --for exited --timeout 1s", true),
    ("timeout", "timeout other", true),
    ("timeout", "timeout other 5m", false),
    ("timeout", "timeout --all 5m", false),
    ("events", "events", true),
    ("daemon", "daemon status", true),
    ("daemon", "daemon unit systemd", true),
    ("daemon", "daemon start", false),
    ("daemon", "daemon run", false),
    ("daemon", "daemon stop", false),
    ("move", "move other box", false),
    ("move", "move other --take-back", false),
    ("drain", "drain --to box", false),
    ("host", "host list", true),
    ("host", "host check nowhere", true),
    ("host", "host add box", false),
    ("host", "host remove box", false),
    ("host", "host install box", false),
    ("new", "new fresh -a demo --host box", false),
    ("repo", "repo moved /old /new", false),
    ("gc", "gc --dry-run", true),
    ("gc", "gc", false),
    ("detect", "detect -a demo /dev/null", true),
    ("autoyes", "autoyes other", true),
    ("autoyes", "autoyes other on", false),
    ("autoyes", "autoyes other off", false),
    ("autoyes", "autoyes --all off", false),
    ("policy", "policy explain ls", true),
    ("audit", "audit", true),
    ("doctor", "doctor", true),
    ("doctor", "doctor --fix", false),
    ("agents", "agents", true),
    ("agents", "agents record mine -- true", false),
    ("config", "config path", true),
    ("config", "config show", true),
    ("config", "config init", false),
    ("completions", "completions bash", true),
    ("man", "man --help", true),
    // Its own home, which it throws away; tried elsewhere.
    ("demo", "demo --help", true),
    ("__answer", "__answer other", false),
    ("", "", false),
];

#[test]
fn every_command_knows_whether_it_may_be_used_inside() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let worker = Worker::start(&camp, &repository, "worker");
    let other = camp.start(&repository, "other", &[]);
    other.wait_idle(&camp);
    let listed: BTreeSet<String> = camp
        .biv(["--help"])
        .run()
        .ok()
        .stdout
        .lines()
        .take_while(|line| *line != "Global options:")
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next().map(str::to_owned))
        .collect();
    let known: BTreeSet<String> = COMMANDS
        .iter()
        .map(|(name, ..)| (*name).to_owned())
        .filter(|name| !name.is_empty() && !name.starts_with("__"))
        .collect();
    assert_eq!(listed, known, "each command has its row here");
    for (_, arguments, allowed) in COMMANDS {
        let line = format!("env -u BIV_INSTANCE {} {arguments} </dev/null", program());
        let done = worker.does(&line);
        let refused = done.said.contains("from inside the instance `worker`");
        assert_eq!(!refused, *allowed, "biv {arguments}: {}", done.said);
        if refused {
            assert_eq!(done.status, 1, "biv {arguments}");
            assert!(
                done.said.contains("hint: "),
                "biv {arguments}: {}",
                done.said
            );
        }
    }
    assert_eq!(camp.list().len(), 2);
    assert_eq!(camp.show(&other)["state"], "running");
    assert!(!camp.home().join("config/config.toml").exists());

    // Its own instance is its own.
    for arguments in [
        "queue worker hello",
        "queue worker --clear",
        "timeout worker off",
        "autoyes worker off",
        "compact worker",
    ] {
        let done = worker.does(&format!("{} {arguments}", program()));
        assert_eq!(done.status, 0, "biv {arguments}: {}", done.said);
    }
    // Nothing that was allowed has started a daemon with an agent's environment.
    assert!(!camp.home().join("run/daemon.sock").exists());
}

#[test]
fn a_hook_speaks_for_its_own_instance_only() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let worker = Worker::start(&camp, &repository, "worker");
    let other = camp.start(&repository, "other", &[]);
    other.wait_idle(&camp);
    let heard = |instance: &Instance| camp.instances_dir().join(&instance.id).join("hook.json");
    let hook = format!("echo '{{}}' | BIV_INSTANCE=ID {} hook demo Stop", program());
    let own = &worker.instance;
    for (instance, expected) in [(&other, false), (own, true)] {
        let done = worker.does(&hook.replace("ID", &instance.id));
        assert_eq!(done.status, 0, "{}", done.said);
        assert_eq!(heard(instance).exists(), expected, "{}", instance.title);
    }
}

/// One session within another would stay there after ctrl-q, and take what is sent to the outer one.
#[test]
fn a_person_inside_an_instance_is_told_how_to_get_to_another() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let outer = camp.start_shell(&repository, "outer", "PS1='outer> ' exec sh -i");
    let inner = camp.start(&repository, "inner", &[]);
    inner.wait_idle(&camp);
    let terminal = Terminal::running(&camp, "biv attach outer");
    terminal.wait_for("ctrl-q detach");
    terminal.wait_for("outer>");
    for line in ["attach inner", ""] {
        terminal.write(&format!("clear; env -u BIV_INSTANCE {} {line}", program()));
        terminal.press(&["Enter"]);
        terminal.wait_for("from inside the instance `outer`");
        terminal.wait_for("ctrl-q detaches from the instance");
    }
    let clients = || {
        let listed = camp.tmux(&["list-clients", "-F", "#{session_name}"]);
        String::from_utf8_lossy(&listed.stdout).into_owned()
    };
    assert_eq!(clients(), format!("biv-{}\n", outer.id));
    terminal.press(&["C-q"]);
    terminal.wait_for("ended with 0");
    until("no client is attached", || clients().is_empty());
    // What is sent to one arrives there.
    drop(
        camp.biv(["send", "outer", "echo it is $((6*7))"])
            .run()
            .ok(),
    );
    outer.wait_screen(&camp, "it is 42");
    assert!(inner.prompts(&camp).is_empty());
}

/// A child that has left its parent, its session and its environment, and ignores SIGTERM.
#[test]
fn nothing_that_an_agent_has_started_survives_a_kill() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    for stop in [&["kill", "-y"][..], &["pause", "--now"]] {
        let worker = Worker::start(&camp, &repository, stop[0]);
        let pids = camp.root().join(format!("{}.pids", stop[0]));
        // One that was left alone at once, and one that has children of its own.
        let child = "trap \"\" TERM HUP; echo $$ >>PIDS; sleep 611 & sleep 612";
        let child = child.replace("PIDS", &pids.display().to_string());
        let done = worker.does(&format!(
            "(env -i setsid sh -c '{child}' </dev/null >/dev/null 2>&1 &); \
             (cd /; env -i setsid sh -c '{child}' </dev/null >/dev/null 2>&1 &)"
        ));
        assert_eq!(done.status, 0, "{}", done.said);
        let started = until_told(
            || "both have started".to_owned(),
            || {
                let text = std::fs::read_to_string(&pids).ok()?;
                let pids: Vec<i32> = text.lines().filter_map(|pid| pid.parse().ok()).collect();
                (pids.len() == 2).then_some(pids)
            },
        );
        drop(camp.biv(stop.iter().copied().chain([stop[0]])).run().ok());
        for pid in started {
            let process = Process {
                pid,
                command: "child".to_owned(),
            };
            assert!(!process.is_alive(), "{}: process {pid} goes on", stop[0]);
        }
    }
}

/// One that outlived its agent cannot be proved to be its own: it is named, and left alone.
#[test]
fn a_process_in_the_worktree_that_may_be_the_users_is_named_and_left() {
    use std::os::unix::process::CommandExt;
    let camp = Camp::new();
    let repository = camp.repository("app");
    let instance = camp.start(&repository, "named", &[]);
    instance.wait_idle(&camp);
    let mut command = std::process::Command::new("setsid");
    let mut stranger = command
        .args(["-w", "sleep", "613"])
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap())
        .current_dir(&instance.worktree)
        .process_group(0)
        .spawn()
        .unwrap();
    let sleeps = || {
        let children = format!("/proc/{0}/task/{0}/children", stranger.id());
        let pid = std::fs::read_to_string(children).unwrap_or_default();
        let pid = pid.trim().to_owned();
        let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
        (name == "sleep\n").then_some(pid)
    };
    let pid = until_told(|| "the stranger sleeps".to_owned(), sleeps);
    let paused = camp.biv(["pause", "named"]).run().ok();
    let alive = Path::new(&format!("/proc/{pid}")).exists();
    rustix::process::kill_process(
        rustix::process::Pid::from_raw(pid.parse().unwrap()).unwrap(),
        rustix::process::Signal::KILL,
    )
    .unwrap();
    stranger.wait().unwrap();
    assert!(alive, "a foreign process was ended");
    let expected = format!("process {pid} (sleep) still works in the worktree");
    assert!(paused.stderr.contains(&expected), "{}", paused.stderr);
}
