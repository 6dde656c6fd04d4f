//! One daemon per home, which comes when it is needed and goes when it is told to.

use std::os::unix::fs::PermissionsExt;

use crate::post::{camp_with_daemon, log, process, start, status, wait_activity};
use crate::support::{Camp, until};

#[test]
fn it_starts_once_says_who_it_is_and_stops() {
    let camp = Camp::new();
    assert_eq!(
        camp.biv(["daemon", "status"]).run().ok().stdout,
        "The daemon does not run. Start it with: biv daemon start\n"
    );
    assert_eq!(status(&camp)["running"], false);
    start(&camp);
    let first = status(&camp);
    assert_eq!(first["running"], true);
    assert_eq!(first["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(first["watching"], 0);
    let again = camp.biv(["daemon", "start"]).run().ok();
    assert!(again.stdout.contains("already"), "{}", again.stdout);
    assert_eq!(status(&camp)["pid"], first["pid"]);
    // A second one in the foreground is told who has the seat.
    let second = camp.biv(["daemon", "run"]).run().fails(7);
    let holder = format!("daemon (process {})", first["pid"]);
    assert!(second.stderr.contains(&holder), "{}", second.stderr);

    for name in ["daemon.sock", "bell.sock"] {
        let mode = std::fs::metadata(camp.home().join("run").join(name))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
    let process = process(&camp);
    drop(camp.biv(["daemon", "stop"]).run().ok());
    assert!(!process.is_alive());
    assert!(!camp.home().join("run/daemon.sock").exists());
    let stopped = camp.biv(["daemon", "stop"]).run().ok();
    assert_eq!(stopped.stdout, "The daemon does not run.\n");
}

/// An agent whose dialogs or idle time must be watched is not resumed without a watcher.
#[test]
fn a_message_that_wakes_an_agent_brings_its_daemon_back() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let asked = ["--idle-timeout", "30m"];
    let watched = camp.start(&repository, "watched", &asked);
    let plain = camp.start(&repository, "plain", &[]);
    for instance in [&watched, &plain] {
        drop(camp.biv(["pause", &instance.id]).run().ok());
    }
    drop(camp.biv(["daemon", "stop"]).run().ok());
    drop(camp.biv(["send", &plain.id, "hello"]).run().ok());
    assert_eq!(status(&camp)["running"], false);
    drop(camp.biv(["send", &watched.id, "hello"]).run().ok());
    assert_eq!(status(&camp)["running"], true);
}

#[test]
fn ten_that_start_it_at_once_get_one() {
    let camp = Camp::new();
    std::thread::scope(|scope| {
        for _ in 0..10 {
            scope.spawn(|| drop(camp.biv(["daemon", "start"]).run().ok()));
        }
    });
    let serving = log(&camp).matches("serves as process").count();
    assert_eq!(serving, 1, "{}", log(&camp));
}

#[test]
fn a_deep_home_with_spaces_has_a_daemon_too() {
    let deep = format!("{}/a home", "very-long-directory-name/".repeat(8));
    let camp = Camp::with_home(&deep);
    start(&camp);
    let repository = camp.repository("app");
    camp.start(&repository, "deep", &[]);
    wait_activity(&camp, "idle");
    assert_eq!(status(&camp)["watching"], 1);
}

#[test]
fn after_kill_9_the_next_one_picks_everything_up() {
    let camp = camp_with_daemon();
    let repository = camp.repository("app");
    let instance = camp.start(&repository, "goes on", &[]);
    wait_activity(&camp, "idle");
    process(&camp).kill();
    until("it is gone", || status(&camp)["running"] == false);
    // Everything works without it.
    drop(camp.biv(["send", &instance.id, "meanwhile"]).run().ok());
    start(&camp);
    until("it is watched again", || status(&camp)["watching"] == 1);
    drop(camp.biv(["send", &instance.id, "/busy 1"]).run().ok());
    wait_activity(&camp, "busy");
    assert_eq!(instance.processes().len(), 1);
}

#[test]
fn a_signal_stops_it_and_leaves_agents_alone() {
    let camp = camp_with_daemon();
    let repository = camp.repository("app");
    let instance = camp.start(&repository, "stays", &["-p", "/busy 600"]);
    wait_activity(&camp, "busy");
    let process = process(&camp);
    let pid = rustix::process::Pid::from_raw(process.pid).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    until("it has ended", || !process.is_alive());
    assert_eq!(camp.show(&instance)["activity"], "busy");
    let run = camp.home().join("run");
    let left: Vec<_> = std::fs::read_dir(run)
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .filter(|name| name.to_string_lossy().ends_with(".sock") && name != "tmux.sock")
        .collect();
    assert!(left.is_empty(), "{left:?}");
    // Its own session has gone with it.
    assert_eq!(camp.sessions(), [format!("biv-{}", instance.id)]);
}

#[test]
fn an_old_daemon_is_noticed_by_a_new_biv() {
    use std::io::Write;
    let camp = Camp::new();
    let run = camp.home().join("run");
    std::fs::create_dir_all(&run).unwrap();
    let listener = std::os::unix::net::UnixListener::bind(run.join("daemon.sock")).unwrap();
    let old = std::thread::spawn(move || {
        // Two connections: one for the status, one for the version.
        for _ in 0..2 {
            let (mut stream, _) = listener.accept().unwrap();
            let hello = "{\"bivouac\":\"0.0.1\",\"protocol\":0,\"pid\":7,\
                         \"started_at\":\"2026-01-01T00:00:00.000Z\"}\n";
            stream.write_all(hello.as_bytes()).unwrap();
        }
    });
    let told = camp.biv(["daemon", "status"]).run().ok();
    old.join().unwrap();
    std::fs::remove_file(run.join("daemon.sock")).unwrap();
    assert!(
        told.stderr
            .contains("renew it with: biv daemon stop && biv daemon start"),
        "{}",
        told.stderr
    );
    assert!(told.stdout.contains("version 0.0.1"), "{}", told.stdout);
}

#[test]
fn units_are_printed_on_request() {
    let camp = Camp::new();
    let unit = camp
        .biv(["daemon", "unit", "systemd"])
        .env("PATH", "/where/tmux/is:/bin")
        .run()
        .ok();
    assert!(unit.stdout.contains("daemon run\n"), "{}", unit.stdout);
    // Services are started without the user's own.
    assert!(
        unit.stdout.contains("\"PATH=/where/tmux/is:/bin\"\n"),
        "{}",
        unit.stdout
    );
    assert!(
        unit.stdout
            .contains(&format!("BIV_HOME={}", camp.home().display())),
        "{}",
        unit.stdout
    );
    let plist = camp.biv(["daemon", "unit", "launchd"]).run().ok();
    assert!(plist.stdout.starts_with("<?xml"), "{}", plist.stdout);
}
