//! Hosts that do not answer as they should: each has a clear sentence, a hint and an exit status.

use crate::pair::{Pair, Words};
use crate::support::Camp;

#[test]
fn each_kind_of_trouble_has_its_words() {
    let pair = Pair::strangers();
    let begin = "printf '\\036biv-host begin 1 0.1.0\\n' >&2";
    let cases = [
        (
            "bare",
            "exec env -i PATH=/usr/bin:/bin HOME=/nonexistent \"$@\"".to_owned(),
            "the host `bare` has no biv",
            "biv host install bare",
            "host_without_biv",
        ),
        (
            "old",
            "echo \"error: unrecognized subcommand '__host'\" >&2; exit 2".to_owned(),
            "has a biv that does not know hosts",
            "same version",
            "host_version",
        ),
        (
            "newer",
            "printf '\\036biv-host begin 9 7.0.0\\n\\036biv-host end 2\\n' >&2; exit 2".to_owned(),
            "has biv 7.0.0",
            "same version",
            "host_version",
        ),
        (
            "cut",
            format!("{begin}; exit 255"),
            "the connection to the host `cut` was lost",
            "biv list --host cut",
            "host_cut",
        ),
        (
            "gone",
            "echo 'Connection refused' >&2; exit 255".to_owned(),
            "the host `gone` cannot be reached",
            "biv host check gone",
            "host_unreachable",
        ),
    ];
    for (name, script, sentence, hint, code) in cases {
        pair.add_script(name, &script);
        let given = format!("{name}:fix");
        let said = pair.biv(&["pause", &given]).run().fails(1).stderr;
        assert!(said.contains(sentence), "{name}: {said}");
        assert!(
            said.contains("hint: ") && said.contains(hint),
            "{name}: {said}"
        );
        let json = pair.biv(&["pause", &given, "--json"]).run().fails(1).json();
        assert_eq!(json["error"]["code"], code, "{name}");
        let checked = pair.biv(&["host", "check", name]).run().fails(1);
        assert!(checked.stdout.contains("no  "), "{checked:?}");
    }
    pair.add_script(
        "nonsense",
        &format!("{begin}; echo '[1]'; printf '\\036biv-host end 0\\n' >&2"),
    );
    let listed = pair.biv(&["list", "--host", "nonsense"]).run().ok().stderr;
    assert!(listed.contains("not understood"), "{listed}");
    let missing = pair.biv(&["host", "add", "lost", "--connect", "/nonexistent/program"]);
    drop(missing.run().ok());
    let said = pair.biv(&["show", "lost:x"]).run().fails(1).stderr;
    assert!(said.contains("/nonexistent/program"), "{said}");
}

#[test]
fn hosts_are_added_checked_and_forgotten() {
    let pair = Pair::new(Words::Exact);
    let checked = pair.biv(&["host", "check", "far"]).run().ok();
    for line in ["ok  reachable  Linux", "ok  git ", "ok  tmux ", "ok  biv "] {
        assert!(checked.stdout.contains(line), "{checked:?}");
    }
    let json = pair
        .biv(&["host", "check", "far", "--json"])
        .run()
        .ok()
        .json();
    assert_eq!((&json["ok"], &json["host"]), (&true.into(), &"far".into()));
    let hosts = pair.biv(&["host", "list", "--json"]).run().ok().json();
    assert_eq!(hosts["hosts"][0]["name"], "far");
    let twice = pair
        .biv(&["host", "add", "far", "elsewhere"])
        .run()
        .fails(1);
    assert!(
        twice.stderr.contains("there is a host `far` already"),
        "{twice:?}"
    );
    for name in ["a:b", "../x", "-x", ""] {
        let refused = pair.biv(&["host", "add", "--", name]).run().fails(2);
        assert!(refused.stderr.contains("no name for a host"), "{refused:?}");
    }
    drop(pair.biv(&["host", "add", "box", "-x"]).run().fails(2));
    let added = pair
        .biv(&["host", "add", "box", "me@box", "--json"])
        .run()
        .ok()
        .json();
    assert_eq!(added["connect"], serde_json::json!(["ssh", "me@box"]));
    drop(pair.biv(&["host", "remove", "far"]).run().ok());
    let gone = pair.biv(&["host", "check", "far"]).run().fails(3);
    assert!(gone.stderr.contains("there is no host `far`"), "{gone:?}");
    assert!(gone.stderr.contains("known are box"), "{gone:?}");
}

#[test]
fn this_program_is_installed_whole_or_not_at_all() {
    let pair = Pair::new(Words::Joined);
    let place = pair.there.root().join("user/.local/bin/biv");
    let installed = pair
        .biv(&["host", "install", "far", "--json"])
        .run()
        .ok()
        .json();
    assert_eq!(installed["version"], env!("CARGO_PKG_VERSION"));
    let sent = std::fs::read(env!("CARGO_BIN_EXE_biv")).unwrap();
    assert!(std::fs::read(&place).unwrap() == sent);
    // What is cut on its way changes nothing.
    pair.add("lossy", Words::Joined, "exec 0<<END\nshort\nEND");
    let refused = pair.biv(&["host", "install", "lossy"]).run().fails(1);
    assert!(
        refused.stderr.contains("did not arrive whole"),
        "{refused:?}"
    );
    assert!(std::fs::read(&place).unwrap() == sent);
    let beside = std::fs::read_dir(place.parent().unwrap()).unwrap().count();
    assert_eq!(beside, 1, "nothing is left beside it");
    pair.add_script(
        "other",
        "echo biv-platform; echo Plan9; echo mips; echo; echo",
    );
    let refused = pair.biv(&["host", "install", "other"]).run().fails(1);
    assert!(refused.stderr.contains("it is Plan9 mips"), "{refused:?}");
}

#[test]
fn an_agent_does_not_act_on_hosts() {
    let camp = Camp::new();
    let repository = camp.repository("r");
    let script = "#!/bin/sh\ntouch \"$0.reached\"\nexit 255\n";
    let file = camp.root().join("to-far");
    std::fs::write(&file, script).unwrap();
    drop(
        camp.biv(["host", "add", "far", "--connect"])
            .arg(format!("sh {}", file.display()))
            .run()
            .ok(),
    );
    let agent = camp.start_shell(&repository, "agent", "exec sleep 600");
    let biv = env!("CARGO_BIN_EXE_biv");
    for words in [
        "kill -y far:x",
        "send far:x hello",
        "answer far:x yes",
        "attach far:x",
        "new -a demo --host far",
        "host add more elsewhere",
        "host install far",
        "host remove far",
    ] {
        // `exec` runs it as a process of the instance does: with its variable.
        let line = format!("{biv} {words}");
        let inside = camp
            .biv(["exec", &agent.id, "--", "sh", "-c", &line])
            .run()
            .fails(1);
        assert!(inside.stderr.contains("from inside"), "{words}: {inside:?}");
    }
    assert!(!camp.root().join("to-far.reached").exists());
    drop(camp.biv(["host", "check", "far"]).run().fails(1));
    assert!(camp.root().join("to-far.reached").exists());
}
