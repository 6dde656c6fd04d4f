//! All hosts at once.

use serde_json::Value;

use crate::pair::{Pair, Words};
use crate::support::until;

const DOWN: &str = "if [ -f \"$0.down\" ]; then echo 'no route to host' >&2; exit 255; fi";

fn titles(listing: &Value) -> Vec<(String, Value)> {
    let instances = listing["instances"].as_array().unwrap();
    let title = |view: &Value| {
        (
            view["title"].as_str().unwrap().to_owned(),
            view["host"].clone(),
        )
    };
    let mut titles: Vec<_> = instances.iter().map(title).collect();
    titles.sort_by_key(|(title, _)| title.clone());
    titles
}

#[test]
fn everything_is_listed_and_one_that_is_down_is_shown_as_last_known() {
    let pair = Pair::strangers();
    pair.add("far", Words::Exact, DOWN);
    pair.add_script("never", "echo 'no such machine' >&2; exit 255");
    drop(pair.there.start(&pair.there.repository("r"), "away", &[]));
    drop(pair.here.start(&pair.here.repository("r"), "home", &[]));
    let all = pair.biv(&["list", "--json"]).run().ok().json();
    let far = Value::from("far");
    assert_eq!(
        titles(&all),
        [
            ("away".to_owned(), far.clone()),
            ("home".to_owned(), Value::Null)
        ]
    );
    let of = |listing: &Value, name: &str| {
        let hosts = listing["hosts"].as_array().unwrap().clone();
        hosts.into_iter().find(|host| host["name"] == name).unwrap()
    };
    assert_eq!(of(&all, "far")["reachable"], true);
    assert_eq!(of(&all, "never")["reachable"], false);
    let only = pair
        .biv(&["list", "--json", "--host", "far"])
        .run()
        .ok()
        .json();
    assert_eq!(titles(&only), [("away".to_owned(), far.clone())]);
    let local = pair.biv(&["list", "--json", "--local"]).run().ok().json();
    assert_eq!(titles(&local), [("home".to_owned(), Value::Null)]);
    let table = pair.biv(&["list"]).run().ok();
    assert!(table.stdout.contains("far:away"), "{table:?}");
    assert!(table.stderr.contains("no such machine"), "{table:?}");

    let switch = pair.here.root().join("to-far.down");
    std::fs::write(&switch, "").unwrap();
    let asked = pair
        .biv(&["list", "--json", "--host", "far"])
        .run()
        .ok()
        .json();
    assert_eq!(titles(&asked), [("away".to_owned(), far.clone())]);
    assert_eq!(of(&asked, "far")["reachable"], false);
    let table = pair.biv(&["list"]).run().ok();
    assert!(table.stderr.contains("no route to host"), "{table:?}");
    assert!(table.stderr.contains("shown as it was"), "{table:?}");
    // A command for it says so, with what can be done.
    let refused = pair.biv(&["pause", "far:away"]).run().fails(1);
    assert!(
        refused.stderr.contains("the host `far` cannot be reached"),
        "{refused:?}"
    );
    assert!(
        refused.stderr.contains("hint: `biv host check far`"),
        "{refused:?}"
    );

    // It is found when it is back, without being asked for by name.
    std::fs::remove_file(&switch).unwrap();
    until("the host is found again", || {
        let all = pair.biv(&["list", "--json"]).run().ok().json();
        of(&all, "far")["reachable"] == true
    });
    until("a status line counts it", || {
        let status = pair.biv(&["status", "--json"]).run().ok().json();
        status["total"] == 2
    });
    assert_eq!(
        pair.biv(&["status", "--json", "--local"]).run().ok().json()["total"],
        1
    );
    // What happened on both is in one list.
    let events = pair.biv(&["events", "--json"]).run().ok().stdout;
    let hosts: Vec<Value> = events
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .filter(|event| event["type"] == "instance:created")
        .map(|event| event["host"].clone())
        .collect();
    assert_eq!(hosts, [far, Value::Null], "{events}");
}

#[test]
fn a_slow_host_is_waited_for_and_one_that_hangs_is_not() {
    let pair = Pair::strangers();
    pair.configure("[hosts]\ndeadline = \"20s\"\n");
    pair.add("slow", Words::Exact, "sleep 0.5");
    drop(pair.there.start(&pair.there.repository("r"), "fix", &[]));
    let all = pair.biv(&["list", "--json"]).run().ok().json();
    assert_eq!(titles(&all), [("fix".to_owned(), Value::from("slow"))]);
    assert_eq!(all["hosts"][0]["reachable"], true);
    drop(pair.biv(&["host", "remove", "slow"]).run().ok());
    pair.configure("[hosts]\ndeadline = \"1s\"\n");
    pair.add_script("hangs", "exec sleep 600");
    let all = pair.biv(&["list"]).run().ok();
    assert!(
        all.stderr.contains("did not answer within a second"),
        "{all:?}"
    );
}

#[test]
fn what_a_host_says_is_data() {
    let pair = Pair::strangers();
    let repository = pair.here.repository("r");
    let fix = pair.here.start(&repository, "fix", &[]);
    let mut listing = pair.biv(&["list", "--json"]).run().ok().json();
    listing["instances"][0]["title"] = "\u{1b}]0;owned\u{7}\u{1b}[2Jtitle".into();
    listing["instances"][0]["last_line"] = "a\u{9b}31mb\u{202e}c\r".into();
    listing["instances"][0]["agent"] = "x\u{1b}[5n".into();
    let mut newer = listing["instances"][0].clone();
    newer["state"] = "levitating".into();
    listing["instances"].as_array_mut().unwrap().push(newer);
    let file = pair.here.root().join("answer.json");
    std::fs::write(&file, listing.to_string()).unwrap();
    let script = format!(
        "printf '\\036biv-host begin 1 0.1.0\\n' >&2; cat '{}'; printf '\\036biv-host end 0\\n' >&2",
        file.display()
    );
    pair.add_script("liar", &script);
    let table = pair.biv(&["list", "--color", "never"]).run().ok();
    assert!(
        !table
            .stdout
            .chars()
            .any(|letter| letter.is_control() && letter != '\n'),
        "{table:?}"
    );
    assert!(table.stdout.contains("liar:"), "{table:?}");
    assert!(
        table
            .stderr
            .contains("1 of its instances are not understood"),
        "{table:?}"
    );
    let json = pair
        .biv(&["list", "--json", "--host", "liar"])
        .run()
        .ok()
        .json();
    // It cannot pass its own off as another's.
    assert_eq!(json["instances"][0]["host"], "liar");
    // In a terminal nothing of a forwarded command steers it either.
    let steering = "printf '\\036biv-host begin 1 0.1.0\\n\\033]0;owned\\007note\\n' >&2; \
                    printf 'a\\033[2Jb\\n'; printf '\\036biv-host end 0\\n' >&2";
    pair.add_script("steers", steering);
    let line = "biv peek steers:x > raw 2>&1; biv peek steers:x";
    let terminal = crate::support::terminal::Terminal::running(&pair.here, line);
    until("it has ended", || {
        terminal.screen().contains("ended with 0")
    });
    assert!(terminal.screen().contains("note"), "{}", terminal.screen());
    assert!(terminal.screen().contains("ab"), "{}", terminal.screen());
    pair.here.kill(&fix);
}

#[test]
fn a_host_that_has_answered_any_command_is_not_down_any_more() {
    let pair = Pair::new(Words::Exact);
    let repository = pair.here.repository("app");
    let one = pair.here.start_shell(&repository, "one", "exec sleep 600");
    let id = one.id.as_str();
    let commands: [&[&str]; 5] = [
        &["move", id, "far"],
        &["exec", "far:one", "--", "true"],
        &["move", id, "--take-back"],
        &["host", "check", "far"],
        &["host", "install", "far"],
    ];
    for command in commands {
        pair.cut();
        let down = pair
            .biv(&["list", "--json", "--host", "far"])
            .run()
            .ok()
            .json();
        assert_eq!(down["hosts"][0]["reachable"], false, "{down}");
        pair.mend();
        drop(pair.biv(command).run().ok());
        // Asked now, and not in the background.
        let listed = pair.biv(&["list", "--json"]).run().ok().json();
        assert_eq!(
            listed["hosts"][0]["reachable"], true,
            "{command:?}: {listed}"
        );
    }
}
