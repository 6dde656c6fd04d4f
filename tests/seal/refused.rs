//! What a sealed program must not be able to do. Each is tried; whatever succeeds prints its name.

use std::net::{TcpListener, UdpSocket};
use std::time::Duration;

use crate::support::{Camp, Instance, Repository};
use crate::{Kind, inside, left_out, start_sealed};

struct Site {
    camp: Camp,
    repository: Repository,
    instance: Instance,
    other: Instance,
}

fn site(kind: Kind) -> Site {
    let camp = kind.camp();
    let repository = camp.repository("app");
    let instance = start_sealed(&camp, &repository, "fix");
    let other = camp.start(&repository, "other", &[]);
    let ssh = camp.root().join("user/.ssh");
    std::fs::create_dir_all(&ssh).unwrap();
    std::fs::write(ssh.join("id_ed25519"), "secret").unwrap();
    std::fs::write(other.worktree.join("theirs"), "secret").unwrap();
    Site {
        camp,
        repository,
        instance,
        other,
    }
}

/// Tries each line; those that succeed are the answer.
#[track_caller]
fn succeeded(site: &Site, attempts: &[(&str, String)]) -> Vec<String> {
    let lines = attempts.iter().map(|(name, attempt)| {
        format!("if ( {attempt} ) >/dev/null 2>&1; then echo '{name}'; fi\n")
    });
    let script: String = lines.collect();
    let answer = inside(&site.camp, &site.instance, &script).ok();
    answer.stdout.lines().map(str::to_owned).collect()
}

fn files(site: &Site) -> Vec<(&'static str, String)> {
    let home = site.camp.root().join("user");
    let (home, state) = (home.display(), site.camp.home().join("state"));
    let (state, app) = (state.display(), site.repository.path.display());
    let other = site.other.worktree.display();
    vec![
        ("read a key", format!("cat '{home}/.ssh/id_ed25519'")),
        ("read a key through a link", format!("ln -sf '{home}/.ssh/id_ed25519' l && cat l")),
        ("list the keys", format!("ls '{home}/.ssh'")),
        ("read another worktree", format!("cat '{other}/theirs'")),
        ("write another worktree", format!("echo x > '{other}/mine'")),
        ("list the state", format!("ls '{state}/instances'")),
        ("read the audit", format!("cat '{state}/audit.jsonl' '{state}/events.jsonl'")),
        ("read the main checkout", format!("cat '{app}/README.md'")),
        ("write a hook", format!("echo x > '{app}/.git/hooks/pre-commit'")),
        ("replace the hooks", format!("mv '{app}/.git/hooks' h")),
        ("write the configuration", format!("echo x >> '{app}/.git/config'")),
        ("configure by git", "git config core.fsmonitor ./evil".to_owned()),
        ("move another branch", "git branch -f main HEAD~0; git update-ref refs/heads/main $(git commit-tree -m x HEAD^{tree})".to_owned()),
        ("move the branch of another agent", "git update-ref refs/heads/biv/other $(git commit-tree -m x HEAD^{tree})".to_owned()),
        ("make a branch beside the others", "git branch evil".to_owned()),
        ("write outside", "echo x > /etc/biv-test || echo x > /usr/biv-test".to_owned()),
        ("read the saved work", format!("ls '{app}/.git/bivouac' | grep .")),
    ]
}

#[test]
fn files_outside_cannot_be_reached() {
    if left_out(Kind::Namespaces) {
        return;
    }
    let site = site(Kind::Namespaces);
    let refs = site
        .repository
        .git(&["for-each-ref", "refs/heads/main", "refs/heads/biv/other"]);
    assert_eq!(succeeded(&site, &files(&site)), [""; 0]);
    // Its own links to git are fixed too: by them a git outside would run what they name.
    let pointers = [
        ("replace .git", "rm -f .git && mkdir .git".to_owned()),
        ("write .git", "echo gitdir: evil > .git".to_owned()),
        (
            "write commondir",
            "echo x > \"$(git rev-parse --git-dir)/commondir\"".to_owned(),
        ),
        (
            "replace commondir",
            "echo x > f; mv f \"$(git rev-parse --git-dir)/commondir\"".to_owned(),
        ),
    ];
    assert_eq!(succeeded(&site, &pointers), [""; 0]);
    let now = site
        .repository
        .git(&["for-each-ref", "refs/heads/main", "refs/heads/biv/other"]);
    assert_eq!(now, refs);
    assert_eq!(site.repository.git(&["status", "--porcelain"]), "");
}

#[test]
fn files_outside_cannot_be_reached_with_landlock_alone() {
    if left_out(Kind::LandlockAlone) {
        return;
    }
    let site = site(Kind::LandlockAlone);
    assert_eq!(succeeded(&site, &files(&site)), [""; 0]);
    assert_eq!(site.repository.git(&["status", "--porcelain"]), "");
}

/// A home of its own is written, not that of the user.
#[test]
fn the_home_and_the_temporary_directory_are_private() {
    if left_out(Kind::Namespaces) {
        return;
    }
    let site = site(Kind::Namespaces);
    let answer = inside(
        &site.camp,
        &site.instance,
        "echo x > ~/mark && echo x > /tmp/biv-mark && echo x > $TMPDIR/second && ls -A /tmp",
    )
    .ok();
    for name in ["biv-mark", "second"] {
        assert!(answer.stdout.contains(name), "{}", answer.stdout);
    }
    assert!(!site.camp.root().join("user/mark").exists());
    assert!(!std::path::Path::new("/tmp/biv-mark").exists());
}

#[test]
fn processes_outside_cannot_be_signalled_traced_or_seen() {
    if left_out(Kind::Namespaces) {
        return;
    }
    let mut outside = std::process::Command::new("sleep")
        .arg("60")
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let pid = outside.id();
    let trace = format!(
        "/usr/bin/python3 -c \"import ctypes; l = ctypes.CDLL(None); raise SystemExit(0 if l.ptrace(16, {pid}, 0, 0) == 0 else 1)\""
    );
    for kind in [Kind::Namespaces, Kind::LandlockAlone] {
        let site = site(kind);
        let mut attempts = vec![
            ("signal", format!("kill -0 {pid}")),
            ("end", format!("kill -9 {pid}")),
            ("trace", trace.clone()),
            (
                "read its memory map",
                format!("cat /proc/{pid}/maps | grep ."),
            ),
            (
                "read its environment",
                format!("cat /proc/{pid}/environ | grep ."),
            ),
        ];
        if kind == Kind::Namespaces {
            attempts.push(("see", format!("test -d /proc/{pid}")));
        }
        assert_eq!(succeeded(&site, &attempts), [""; 0], "{kind:?}");
        assert!(outside.try_wait().unwrap().is_none(), "{kind:?}");
    }
    outside.kill().unwrap();
    outside.wait().unwrap();
}

#[test]
fn tmux_cannot_be_reached() {
    if left_out(Kind::Namespaces) {
        return;
    }
    let site = site(Kind::Namespaces);
    let run = site.camp.home().join("run");
    let attempts = [
        (
            "its own server",
            format!("cd '{}' && tmux -S tmux.sock ls", run.display()),
        ),
        (
            "by its path",
            format!("tmux -S '{}' ls", run.join("tmux.sock").display()),
        ),
        ("biv", "biv list".to_owned()),
    ];
    assert_eq!(succeeded(&site, &attempts), [""; 0]);
}

/// A connection that does not go through the proxy, and a name look-up, would be a datagram or a
/// connection to this machine here: the tests have no other network.
#[test]
fn nothing_gets_out_past_the_proxy() {
    if left_out(Kind::Namespaces) {
        return;
    }
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
    let (tcp_port, udp_port) = (
        tcp.local_addr().unwrap().port(),
        udp.local_addr().unwrap().port(),
    );
    tcp.set_nonblocking(true).unwrap();
    udp.set_read_timeout(Some(Duration::from_millis(50)))
        .unwrap();
    let connect = format!(
        "/usr/bin/python3 -c \"import socket; socket.create_connection(('127.0.0.1', {tcp_port}), 2)\""
    );
    let send = format!(
        "/usr/bin/python3 -c \"import socket; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.sendto(b'x', ('127.0.0.1', {udp_port}))\""
    );
    let site_of = site(Kind::Namespaces);
    // A datagram to a port of the loopback inside is sent, and arrives nowhere.
    succeeded(&site_of, &[("udp", send)]);
    assert!(udp.recv(&mut [0; 8]).is_err(), "a datagram arrived");
    let attempts = [
        ("tcp", connect.clone()),
        ("name", "getent hosts example.org".to_owned()),
    ];
    assert_eq!(succeeded(&site_of, &attempts), [""; 0]);
    let works = [("python", "/usr/bin/python3 -c 'import socket'".to_owned())];
    assert_eq!(succeeded(&site_of, &works), ["python"]);
    let alone = site(Kind::LandlockAlone);
    assert_eq!(succeeded(&alone, &[("tcp", connect)]), [""; 0]);
    assert!(tcp.accept().is_err(), "a connection arrived");
}
