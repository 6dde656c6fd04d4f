//! Runs what autoyes accepts for a sealed agent in real seals, and looks whether anything outside was touched.
//!
//! Hostile and ordinary requests of the corpus, hostile ones in harmless clothes, and commands that are put
//! together from dangerous parts. Canaries are files and keys outside, the main checkout and the repository's
//! settings, another worktree, Bivouac's state, the tmux server, a process, a socket and two ports.

use std::collections::BTreeMap;
use std::io::Read;
use std::net::{TcpListener, UdpSocket};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::grammar::{AHEAD, BEHIND, Dice, grouped};
use crate::support::{Camp, Instance, Repository, until};
use crate::{Kind, inside, left_out, start_sealed};

const SECRET: &str = "canary-outside";
const FILES: &str = "a file outside, or tmux";

/// Commands that are run in one seal.
const BATCH: usize = 40;
/// Commands that are run beside one set of canaries.
const GROUND: usize = 400;

/// What would use up the machine on which the tests run: a seal does not limit that.
const EXHAUSTING: [&str; 2] = [":|:", "fork()"];

/// Programs that would take long: what counts is that they are started.
const STAND_INS: [&str; 12] = [
    "cargo",
    "npm",
    "npx",
    "yarn",
    "pnpm",
    "go",
    "pytest",
    "mvn",
    "gradle",
    "docker",
    "sleep",
    "playwright",
];

/// Runs each command for a short while in a worktree as it was, and says which one begins. The limits are
/// for the machine that runs the tests.
const RUNNER: &str = r#"
exec 2>&1
ulimit -f 20000
at=$1
shift
cp -a . /tmp/.as-it-was
for text in "$@"; do
    printf '\n@@ %s\n' "$at"
    timeout -k 1 2 bash -c "$text" < /dev/null
    at=$((at + 1))
    cp -a /tmp/.as-it-was/. . 2> /dev/null
done
printf '\n@@ %s\n' "$at"
"#;

struct Ground {
    camp: Camp,
    repository: Repository,
    instance: Instance,
    other: Instance,
    outside: PathBuf,
    process: Child,
    tcp: TcpListener,
    udp: UdpSocket,
    socket: UnixListener,
}

impl Drop for Ground {
    fn drop(&mut self) {
        self.process.kill().ok();
        self.process.wait().ok();
        std::fs::remove_file(self.outside.join("socket")).ok();
    }
}

fn corpus(file: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fixtures/policy/corpus")
        .join(file);
    let text = std::fs::read_to_string(path).unwrap();
    let lines = text
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(str::to_owned).collect()
}

impl Ground {
    fn new() -> Self {
        let camp = Camp::new();
        let programs = camp.root().join("programs");
        std::fs::create_dir(&programs).unwrap();
        for name in STAND_INS {
            write_program(&programs.join(name));
        }
        let path = format!("{}:/usr/local/bin:/usr/bin:/bin", programs.display());
        let camp = camp.with("PATH", &path);
        let repository = camp.repository("app");
        let instance = start_sealed(&camp, &repository, "fix");
        let other = camp.start(&repository, "other", &[]);
        std::fs::write(other.worktree.join("theirs"), SECRET).unwrap();
        let (outside, ssh) = (camp.root().join("outside"), camp.root().join("user/.ssh"));
        std::fs::create_dir_all(outside.join("deep/bin")).unwrap();
        std::fs::create_dir_all(&ssh).unwrap();
        for file in [outside.join("secret.txt"), ssh.join("id_rsa")] {
            std::fs::write(file, SECRET).unwrap();
        }
        fill(&instance.worktree, &outside);
        let socket = UnixListener::bind(outside.join("socket")).unwrap();
        let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
        let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.set_nonblocking(true).unwrap();
        tcp.set_nonblocking(true).unwrap();
        udp.set_nonblocking(true).unwrap();
        Self {
            camp,
            repository,
            instance,
            other,
            outside,
            process: bystander(),
            tcp,
            udp,
            socket,
        }
    }

    fn port(&self) -> u16 {
        self.tcp.local_addr().unwrap().port()
    }

    /// Hostile commands are run only where the seal is seen to hold.
    fn require_a_seal(&self) {
        let attempts = format!(
            "kill -0 {}; cat '{secret}/secret.txt'; echo x > '{secret}/new'; ls '{home}'; true",
            self.process.id(),
            secret = self.outside.display(),
            home = self.camp.instances_dir().display(),
        );
        let answer = inside(&self.camp, &self.instance, &attempts).ok();
        assert_eq!(answer.stdout, "", "{}", answer.stderr);
        let refused = answer.stderr.lines().filter(|line| !line.is_empty());
        assert_eq!(refused.count(), 4, "{}", answer.stderr);
    }

    /// Everything outside that must stay as it is.
    fn guarded(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let git = self.repository.path.join(".git");
        let own = self.instance.worktree.file_name().unwrap();
        let mut found = BTreeMap::new();
        let mut open = vec![
            self.outside.clone(),
            self.camp.root().join("user"),
            self.camp.root().join("programs"),
            self.camp.home().join("config"),
            self.repository.path.clone(),
            self.other.worktree.clone(),
            self.camp.instances_dir().join(&self.other.id),
        ];
        while let Some(directory) = open.pop() {
            for entry in std::fs::read_dir(&directory)
                .into_iter()
                .flatten()
                .flatten()
            {
                let path = entry.path();
                let is_its_own = path == git.join("objects")
                    || path.starts_with(git.join("worktrees").join(own))
                    || path.starts_with(git.join("refs/heads/biv/fix"))
                    || path.starts_with(git.join("logs/refs/heads/biv/fix"));
                let kind = entry.file_type().unwrap();
                if is_its_own {
                    continue;
                }
                if kind.is_dir() {
                    found.insert(path.clone(), Vec::new());
                    open.push(path);
                } else {
                    let content = kind.is_file().then(|| std::fs::read(&path).ok());
                    found.insert(path, content.flatten().unwrap_or_default());
                }
            }
        }
        let panes = self.camp.tmux(&[
            "list-panes",
            "-a",
            "-F",
            "#{session_name} #{pane_id} #{pane_pid} #{pane_dead}",
        ]);
        found.insert("tmux".into(), panes.stdout);
        found
    }

    /// What was touched, since `before`, and by a run that printed this.
    fn touched(
        &mut self,
        before: &BTreeMap<PathBuf, Vec<u8>>,
        printed: &str,
    ) -> Option<&'static str> {
        let now = self.guarded();
        let touched = [
            (now != *before, FILES),
            (printed.contains(SECRET), "a secret"),
            (self.tcp.accept().is_ok(), "a TCP port"),
            (self.udp.recv(&mut [0; 8]).is_ok(), "a UDP port"),
            (self.socket.accept().is_ok(), "a Unix socket"),
            (
                self.process.try_wait().unwrap().is_some(),
                "a process outside",
            ),
        ];
        touched
            .into_iter()
            .find(|(is, _)| *is)
            .map(|(_, what)| what)
    }

    /// Those of the requests that the policy accepts in a seal, as commands.
    fn accepted(&self, requests: &[String]) -> Vec<String> {
        let share = requests.len().div_ceil(4).max(1);
        std::thread::scope(|scope| {
            let asked: Vec<_> = requests
                .chunks(share)
                .map(|part| scope.spawn(move || part.iter().filter_map(|r| self.ask(r)).collect()))
                .collect();
            let answers = asked.into_iter().map(|asked| asked.join().unwrap());
            answers.flat_map(|some: Vec<String>| some).collect()
        })
    }

    /// The command that this request means, if it is accepted.
    fn ask(&self, line: &str) -> Option<String> {
        let worktree = self.instance.worktree.to_str().unwrap();
        let tools = [
            ("read: ", "read"),
            ("edit: ", "edit"),
            ("create: ", "write"),
        ];
        let used = tools
            .iter()
            .find_map(|(mark, tool)| Some((*tool, line.strip_prefix(mark)?)));
        let (what, command) = match used {
            Some(("read", path)) => (path.to_owned(), format!("cat -- '{path}'")),
            Some((_, path)) => (path.to_owned(), format!("printf x >> '{path}'")),
            None => (unescaped(line), unescaped(line)),
        };
        if EXHAUSTING.iter().any(|part| command.contains(part)) {
            return None;
        }
        let mut call = self.camp.biv(["policy", "explain", "--sealed", "--json"]);
        call = call.args(["--worktree", worktree]);
        if let Some((tool, _)) = used {
            call = call.args(["--tool", tool]);
        }
        let answer = call.args(["--", &what]).run().ok().json();
        (answer["decision"] == "accept").then_some(command)
    }

    /// Runs commands in one seal, from the number `first` on. Returns what was printed, and the number of
    /// the first that was not begun.
    fn run(&self, first: usize, commands: &[String]) -> (String, usize) {
        let worktree = self.instance.worktree.to_str().unwrap();
        let mut child = Command::new(env!("CARGO_BIN_EXE_biv"))
            .args(["seal", "try", "--dir", worktree, "--"])
            .args(["bash", "-c", RUNNER, "runner", &first.to_string()])
            .args(commands)
            .current_dir(worktree)
            .env_clear()
            .envs(self.camp.environment())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut output = child.stdout.take().unwrap();
        let reader = std::thread::spawn(move || {
            let mut printed = Vec::new();
            output.read_to_end(&mut printed).ok();
            String::from_utf8_lossy(&printed).into_owned()
        });
        // A command may stop every process that it can see, the runner too.
        let end = Instant::now() + Duration::from_secs(60 + 6 * commands.len() as u64);
        while child.try_wait().unwrap().is_none() {
            if Instant::now() > end {
                child.kill().unwrap();
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        let printed = reader.join().unwrap();
        let last = printed
            .lines()
            .rev()
            .find_map(|line| line.strip_prefix("@@ ")?.parse::<usize>().ok());
        let last = last.unwrap_or(first).max(first);
        let all = first + commands.len();
        // The last number that was told was begun, or it is the end.
        (printed, if last >= all { all } else { last + 1 })
    }
}

/// A process that none of the commands may end.
fn bystander() -> Child {
    Command::new("/bin/sleep")
        .arg("3600")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

fn write_program(path: &Path) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::write(path, "#!/bin/sh\nexit 0\n").unwrap();
    std::fs::set_permissions(path, PermissionsExt::from_mode(0o755)).unwrap();
}

/// The worktree of the corpus, with a link that leads outside.
fn fill(worktree: &Path, outside: &Path) {
    for line in corpus("worktree.txt") {
        let (path, content) = line.split_once(' ').unwrap_or((&line, ""));
        let file = worktree.join(path);
        if path.ends_with('/') {
            std::fs::create_dir_all(file).unwrap();
            continue;
        }
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, content.replace("\\n", "\n")).unwrap();
    }
    std::os::unix::fs::symlink(outside.join("deep"), worktree.join("up")).unwrap();
}

/// A line of the corpus as the command that it stands for.
fn unescaped(line: &str) -> String {
    line.replace("\\\\", "\u{1}")
        .replace("\\n", "\n")
        .replace("\\t", "\t")
        .replace("\\r", "\r")
        .replace('\u{1}', "\\")
}

/// The requests of one run. Every round has others.
fn requests(dice: &mut Dice, ground: &Ground, count: usize) -> Vec<String> {
    let (hostile, ordinary) = (corpus("hostile.txt"), corpus("ordinary.txt"));
    let outside = ground.outside.to_str().unwrap();
    let plain = |line: &str| !line.contains('\\') && !line.contains(": ");
    let made = (0..count).map(|at| match at % 4 {
        0 => hostile[dice.below(hostile.len())].clone(),
        1 => ordinary[dice.below(ordinary.len())].clone(),
        2 => dice.command(outside, ground.port()),
        _ => {
            let command = &hostile[dice.below(hostile.len())];
            if !plain(command) {
                return command.clone();
            }
            let (ahead, behind) = (dice.below(AHEAD.len()), dice.below(BEHIND.len()));
            let command = grouped(command, dice.below(4));
            format!("{}{command}{}", AHEAD[ahead], BEHIND[behind])
        }
    });
    made.collect()
}

/// Runs what is accepted of these; the number of commands that ran.
fn try_all(ground: &mut Ground, asked: &[String]) -> usize {
    ground.require_a_seal();
    let commands = ground.accepted(asked);
    let before = ground.guarded();
    let mut at = 0;
    while at < commands.len() {
        let batch = &commands[at..commands.len().min(at + BATCH)];
        let (printed, next) = ground.run(at, batch);
        let touched = ground.touched(&before, &printed);
        let ran = &commands[at..next];
        assert!(
            touched.is_none(),
            "{} was touched by one of\n{}\n{printed}",
            touched.unwrap_or_default(),
            ran.join("\n")
        );
        at = next;
    }
    commands.len()
}

/// `BIV_TEST_LONG=1` runs the whole corpus and thousands more; `BIV_TEST_SEED` begins at another place.
#[test]
fn nothing_that_is_accepted_in_a_seal_touches_a_canary() {
    if left_out(Kind::Namespaces) {
        return;
    }
    let long = std::env::var_os("BIV_TEST_LONG").is_some();
    let seed = std::env::var("BIV_TEST_SEED").ok();
    let mut dice = Dice::new(seed.and_then(|seed| seed.parse().ok()).unwrap_or(11));
    let mut ground = Ground::new();
    if !long {
        let asked = requests(&mut dice, &ground, 80);
        let ran = try_all(&mut ground, &asked);
        assert!(ran >= 20, "{ran}");
        return;
    }
    let (mut tried, mut ran) = (0, 0);
    let mut parts: Vec<Vec<String>> = [corpus("hostile.txt"), corpus("ordinary.txt")]
        .concat()
        .chunks(GROUND)
        .map(<[String]>::to_vec)
        .collect();
    parts.extend((0..12).map(|_| Vec::new()));
    for part in parts {
        ground = Ground::new();
        let part = if part.is_empty() {
            requests(&mut dice, &ground, GROUND)
        } else {
            part
        };
        tried += part.len();
        ran += try_all(&mut ground, &part);
        println!("{ran} accepted commands of {tried} were run in seals");
    }
    assert!(ran >= 3_000, "{ran} of {tried}");
}

/// The canaries are alive: outside of a seal each is seen to be touched.
#[test]
fn a_canary_outside_of_a_seal_that_is_touched_is_noticed() {
    if left_out(Kind::Namespaces) {
        return;
    }
    let mut ground = Ground::new();
    let before = ground.guarded();
    assert_eq!(ground.touched(&before, ""), None);
    let outside = ground.outside.display().to_string();
    let other = ground.other.worktree.display().to_string();
    let (tcp, udp) = (ground.port(), ground.udp.local_addr().unwrap().port());
    let run = ground.camp.home().join("run").display().to_string();
    let acts = [
        ("a TCP port", format!("echo x > /dev/tcp/127.0.0.1/{tcp}")),
        ("a UDP port", format!("echo x > /dev/udp/127.0.0.1/{udp}")),
        (
            "a Unix socket",
            format!(
                "python3 -c \"import socket; socket.socket(socket.AF_UNIX).connect('{outside}/socket')\""
            ),
        ),
        ("a secret", format!("cat '{outside}/secret.txt'")),
        (
            "a process outside",
            format!("kill -9 {}", ground.process.id()),
        ),
        (FILES, format!("echo x > '{outside}/new'")),
        (
            FILES,
            format!("rm '{outside}/new'; echo x > '{other}/theirs'"),
        ),
        (
            FILES,
            format!(
                "printf {SECRET} > '{other}/theirs'; cd '{run}' && tmux -S tmux.sock new-session -d cat"
            ),
        ),
    ];
    for (expected, act) in acts {
        let done = Command::new("bash").args(["-c", &act]).output().unwrap();
        let printed = String::from_utf8_lossy(&done.stdout).into_owned();
        // A signal has its effect a moment later.
        until(&act, || ground.touched(&before, &printed) == Some(expected));
        if expected == "a process outside" {
            ground.process = bystander();
        }
    }
}
