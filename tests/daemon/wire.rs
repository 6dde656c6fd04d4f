//! The socket: who may say what, and what becomes of nonsense.

use crate::post::{Line, camp_with_daemon, status, wait_activity};

#[test]
fn the_version_comes_first_and_requests_are_answered() {
    let camp = camp_with_daemon();
    let mut line = Line::open(&camp);
    assert_eq!(line.hello["bivouac"], env!("CARGO_PKG_VERSION"));
    assert_eq!(line.hello["protocol"], 1);
    line.say("{\"do\":\"status\"}\n");
    let answer = line.hear().unwrap();
    assert_eq!(answer["status"]["running"], true);
    assert_eq!(line.hear(), None, "one request, one answer");

    let repository = camp.repository("app");
    let instance = camp.start(&repository, "asked", &[]);
    wait_activity(&camp, "idle");
    let mut line = Line::open(&camp);
    line.say("{\"do\":\"activities\"}\n");
    let answer = line.hear().unwrap();
    assert_eq!(answer["activities"][0]["instance"], instance.id.as_str());
    assert_eq!(answer["activities"][0]["activity"], "idle");
}

#[test]
fn nonsense_is_refused_and_harms_no_client() {
    let camp = camp_with_daemon();
    let pid = status(&camp)["pid"].clone();
    let long = format!("{{\"do\":\"{}\"}}\n", "x".repeat(1_000_000));
    for nonsense in ["hello\n", "{}\n", "{\"do\":\"dance\"}\n", "\u{0}\n", &long] {
        let mut line = Line::open(&camp);
        line.say(nonsense);
        // One that says too much may be cut off before it hears the answer.
        if let Some(answer) = line.hear() {
            assert!(answer["refused"].is_string(), "{answer}");
        }
    }
    // Some who say nothing do not keep others from being heard.
    let silent: Vec<Line> = (0..20).map(|_| Line::open(&camp)).collect();
    assert_eq!(status(&camp)["pid"], pid);
    drop(silent);
}

#[test]
fn any_number_that_say_nothing_keep_no_client_out() {
    let camp = camp_with_daemon();
    let pid = status(&camp)["pid"].clone();
    let silent: Vec<_> = (0..200)
        .map(|_| std::os::unix::net::UnixStream::connect(crate::post::socket(&camp)).unwrap())
        .collect();
    let answered = status(&camp);
    assert_eq!(answered["pid"], pid);
    assert_eq!(answered["running"], true);
    assert_eq!(
        answered["version"],
        env!("CARGO_PKG_VERSION"),
        "it was asked"
    );
    drop(silent);
}

#[test]
fn one_that_does_not_answer_is_not_absent() {
    let camp = camp_with_daemon();
    let daemon = crate::post::process(&camp);
    daemon.signal(rustix::process::Signal::STOP);
    let stopped = camp.biv(["daemon", "status", "--json"]).run().ok().json();
    let said = camp.biv(["daemon", "status"]).run().ok().stdout;
    daemon.signal(rustix::process::Signal::CONT);
    assert_eq!(stopped["running"], true);
    assert_eq!(stopped["pid"], daemon.pid);
    assert!(stopped["version"].is_null());
    assert!(said.contains("does not answer"), "{said}");
    assert_eq!(status(&camp)["version"], env!("CARGO_PKG_VERSION"));
}

#[test]
fn what_runs_inside_an_instance_may_look_and_not_stop() {
    let camp = camp_with_daemon();
    let repository = camp.repository("app");
    let instance = camp.start(&repository, "marked", &[]);
    let inside = |arguments: &[&str]| camp.biv(arguments).env("BIV_INSTANCE", &instance.id).run();
    assert_eq!(
        inside(&["daemon", "status", "--json"]).ok().json()["running"],
        true
    );
    let refused = inside(&["daemon", "stop", "--json"]).fails(1);
    assert_eq!(refused.error()["code"], "inside_instance");
    // The same by the socket itself.
    let script = "import socket,sys; s=socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); \
                  s.recv(4096); s.send(b'{\"do\":\"stop\"}\\n'); print(s.recv(4096).decode())";
    let said = std::process::Command::new("python3")
        .args(["-c", script])
        .arg(crate::post::socket(&camp))
        .env("BIV_INSTANCE", &instance.id)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&said.stdout).into_owned();
    assert!(
        said.contains("cannot stop the daemon from inside"),
        "{said}"
    );
    assert_eq!(status(&camp)["running"], true);
}

#[test]
fn events_and_bells_are_streamed() {
    let camp = camp_with_daemon();
    let mut line = Line::open(&camp);
    line.say("{\"do\":\"subscribe\",\"bells\":true}\n");
    assert_eq!(line.hear().unwrap(), "done");
    let repository = camp.repository("app");
    let instance = camp.start(&repository, "heard", &[]);
    let (mut bell, mut activity) = (false, false);
    while !(bell && activity) {
        let heard = line.hear().expect("it goes on");
        bell |= heard["bell"] == instance.id.as_str();
        activity |= heard["type"] == "instance:activity";
        if activity && !bell {
            drop(camp.biv(["send", "heard", "hello"]).run().ok());
        }
    }
}
