//! The proxy of a seal, and how its refusals are told.

use std::io::{Read, Write};
use std::net::TcpListener;

use crate::support::{Camp, Instance, until};
use crate::{Kind, inside, left_out, start_sealed};

/// A server that answers every request with `hello`.
fn server() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let read = stream.read(&mut [0; 4096]).unwrap_or(0);
            if read > 0 {
                let answer =
                    b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello";
                stream.write_all(answer).ok();
            }
        }
    });
    port
}

const FETCH: &str = "/usr/bin/python3 -c \"import sys, urllib.request; print(urllib.request.urlopen(sys.argv[1], timeout=5).read().decode())\"";

#[test]
fn a_named_port_of_this_machine_is_the_same_port_inside() {
    if left_out(Kind::Namespaces) {
        return;
    }
    let port = server();
    let camp = Camp::new();
    crate::configure(&camp, &format!("[seal]\nhosts = [\"127.0.0.1:{port}\"]\n"));
    let repository = camp.repository("app");
    let instance = start_sealed(&camp, &repository, "fix");
    let script = format!("{FETCH} http://127.0.0.1:{port}/");
    assert_eq!(inside(&camp, &instance, &script).ok().stdout, "hello\n");
    // Through the proxy, by the name that the list has.
    let script = format!("no_proxy= NO_PROXY= {FETCH} http://127.0.0.1:{port}/");
    assert_eq!(inside(&camp, &instance, &script).ok().stdout, "hello\n");
}

#[test]
fn what_is_refused_is_told_by_the_trial() {
    if left_out(Kind::Namespaces) {
        return;
    }
    let camp = Camp::new();
    let repository = camp.repository("app");
    let instance = start_sealed(&camp, &repository, "fix");
    let script = format!("{FETCH} https://refused.example/");
    let answer = inside(&camp, &instance, &script).fails(1);
    assert!(
        answer
            .stderr
            .contains("refused: a connection to refused.example:443"),
        "{}",
        answer.stderr
    );
    let worktree = instance.worktree.to_str().unwrap();
    let json = camp
        .biv([
            "seal", "try", "--json", "--dir", worktree, "--", "sh", "-c", &script,
        ])
        .run()
        .fails(1)
        .json();
    assert_eq!(json["denied"], serde_json::json!(["refused.example:443"]));
    assert_eq!(json["missing"], serde_json::json!([]));
}

#[test]
fn what_an_agent_is_refused_is_in_the_audit_the_events_and_the_list() {
    if left_out(Kind::Namespaces) {
        return;
    }
    let camp = Camp::new();
    let repository = camp.repository("app");
    let script =
        format!("{FETCH} https://refused.example/; {FETCH} https://refused.example/; exec cat");
    let arguments = [
        "new", "x", "--seal", "--json", "-a", "shell", "--", "sh", "-c",
    ];
    let call = camp
        .biv(arguments.into_iter().chain([script.as_str()]))
        .within(&repository.path);
    let instance = Instance::from_json(&call.run().ok().json());
    until("the refusal is counted", || {
        camp.show(&instance)["seal"]["denied"] == 1
    });
    let audit = camp.biv(["audit", "--json", "x"]).run().ok().json();
    let entries = audit["entries"].as_array().unwrap();
    assert_eq!(entries.len(), 1, "told once a minute: {audit}");
    assert_eq!(entries[0]["channel"], "seal");
    assert_eq!(entries[0]["command"], "refused.example:443");
    let events = camp.biv(["events", "--json"]).run().ok().stdout;
    assert!(events.contains("\"seal:denied\""), "{events}");
    let list = camp.biv(["list"]).run().ok().stdout;
    assert!(list.contains("◆!"), "{list}");
}

/// `seal.network` in the settings, each value with a port of this machine that the list names.
#[test]
fn the_network_is_none_or_all_as_the_settings_say() {
    for kind in [Kind::Namespaces, Kind::LandlockAlone] {
        if left_out(kind) {
            continue;
        }
        let port = server();
        let fetch = format!("no_proxy=* NO_PROXY=* {FETCH} http://127.0.0.1:{port}/");
        for (network, reached) in [("allow-list", true), ("all", true), ("none", false)] {
            let camp = kind.camp();
            let settings =
                format!("[seal]\nnetwork = \"{network}\"\nhosts = [\"127.0.0.1:{port}\"]\n");
            crate::configure(&camp, &settings);
            let repository = camp.repository("app");
            let instance = start_sealed(&camp, &repository, "fix");
            let answer = inside(&camp, &instance, &fetch);
            assert_eq!(
                answer.stdout == "hello\n",
                reached,
                "{kind:?} {network}: {}",
                answer.stderr
            );
            // Only a list has a proxy to go through.
            let proxy = inside(&camp, &instance, "echo ${HTTPS_PROXY-none}").ok();
            assert_eq!(
                proxy.stdout == "none\n",
                network != "allow-list",
                "{kind:?} {network}: {}",
                proxy.stdout
            );
            let seal = camp.show(&instance)["seal"].clone();
            assert_eq!(seal["network"], network, "{seal}");
        }
    }
}
