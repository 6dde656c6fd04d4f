//! A real ssh server on a loopback port.

use crate::pair::Pair;
use crate::portable::portable;
use crate::server::Server;
use crate::support::{Instance, processes_with, until};

fn server(pair: &Pair) -> Server {
    Server::start_anywhere(&pair.there.root(), "127.0.0.1")
}

fn sockets(pair: &Pair) -> usize {
    let directory = pair.here.home().join("run/ssh");
    std::fs::read_dir(directory).map_or(0, Iterator::count)
}

#[test]
fn ssh_carries_everything_and_a_cut_is_known() {
    let pair = Pair::strangers();
    pair.configure("[hosts]\ndeadline = \"30s\"\n");
    let mut server = server(&pair);
    let connect = server.connect(&pair.environment_there());
    drop(
        pair.biv(&["host", "add", "box", "--connect", &connect])
            .run()
            .ok(),
    );
    let checked = pair.biv(&["host", "check", "box"]).run().ok();
    assert!(checked.stdout.contains("ok  biv"), "{checked:?}");
    assert_eq!(sockets(&pair), 1, "the connection is shared");

    let repository = pair.here.repository("r");
    let new = pair.biv(&["new", "fix it", "--host", "box", "-a", "demo"]);
    drop(new.within(&repository.path).run().ok());
    let text = "it's \"a\" $HOME\n-- and `two` \\ lines";
    drop(
        pair.biv(&["send", "box:fix it", "--now", "--", text])
            .run()
            .ok(),
    );
    let fix = pair.there.list().pop().unwrap();
    until("the prompt has arrived", || {
        fix.prompts(&pair.there) == [text]
    });
    let script = "cat; echo problem >&2; exit 41";
    let ran = pair
        .biv(&["exec", "box:fix it", "--", "sh", "-c", script])
        .stdin("input")
        .run()
        .fails(41);
    assert_eq!(
        (ran.stdout.as_str(), ran.stderr.as_str()),
        ("input", "problem\n")
    );
    let listed = pair.biv(&["list"]).run().ok();
    assert!(listed.stdout.contains("box:fix it"), "{listed:?}");

    // The link goes away in the middle of a command.
    let waiting = std::thread::scope(|scope| {
        let waiting = scope.spawn(|| pair.biv(&["wait", "box:fix it", "--for", "exited"]).run());
        until("the command runs there", || {
            let there = processes_with(&pair.there.home().display().to_string());
            there
                .iter()
                .any(|process| process.command.contains("--via box wait"))
        });
        server.stop();
        waiting.join().unwrap()
    });
    let cut = waiting.fails(1);
    assert!(
        cut.stderr
            .contains("the connection to the host `box` was lost"),
        "{cut:?}"
    );
    until("the command there has ended too", || {
        let there = processes_with(&pair.there.home().display().to_string());
        !there
            .iter()
            .any(|process| process.command.contains("--via box"))
    });
    let down = pair.biv(&["show", "box:fix it"]).run().fails(1);
    assert!(down.stderr.contains("cannot be reached"), "{down:?}");
    assert!(down.stderr.contains("Connection refused"), "{down:?}");
    let listed = pair.biv(&["list", "--host", "box"]).run().ok();
    assert!(
        listed.stdout.contains("box:fix it"),
        "as last known: {listed:?}"
    );

    server.start_again();
    drop(pair.biv(&["show", "box:fix it"]).run().ok());
    // The host is forgotten, and its connection ends.
    drop(pair.biv(&["host", "remove", "box"]).run().ok());
    until("the shared connection has ended", || sockets(&pair) == 0);
    drop(pair.there.biv(["kill", "-y", "fix it"]).run().ok());
}

/// The other machine is the host `box`, by the server.
fn reached_by_ssh() -> (Pair, Server) {
    let pair = Pair::strangers();
    pair.configure("[hosts]\ndeadline = \"30s\"\n");
    let server = server(&pair);
    let connect = server.connect(&pair.environment_there());
    let add = ["host", "add", "box", "--connect", &connect];
    drop(pair.biv(&add).run().ok());
    (pair, server)
}

#[test]
fn an_instance_moves_over_ssh_and_back() {
    let (pair, _server) = reached_by_ssh();
    let repository = pair.here.repository("app");
    let one = pair
        .here
        .start(&repository, "one", &["-p", "remember the number 7"]);
    one.wait_idle(&pair.here);
    let work = pair.here.repository_at(&one.worktree);
    work.write(".gitignore", "*.log\n");
    work.write("staged.txt", "staged\n");
    work.git(&["add", "."]);
    work.write("staged.txt", "and changed\n");
    // More than the connection takes at once, and nothing that could be compressed.
    let bytes: Vec<u8> = (0_u32..1 << 20)
        .flat_map(|number| number.wrapping_mul(2_654_435_761).to_le_bytes())
        .collect();
    std::fs::write(one.worktree.join("large.log"), &bytes).unwrap();
    let before = portable(&repository.path, &one.worktree);
    let moved = pair
        .biv(&["move", "one", "box", "--json"])
        .run()
        .ok()
        .json();
    assert_eq!(moved["resumed"], true, "{moved}");
    let there = pair.there.list().pop().unwrap();
    assert!(there.worktree.starts_with(pair.there.root()));
    assert!(std::fs::read(there.worktree.join("large.log")).unwrap() == bytes);
    drop(
        pair.biv(&["send", "box:one", "and the number 8"])
            .run()
            .ok(),
    );
    there.wait_idle(&pair.there);
    let back = pair.biv(&["move", "one", "--take-back", "--json"]);
    assert_eq!(back.run().ok().json()["resumed"], true);
    assert_eq!(portable(&repository.path, &one.worktree), before);
    let log = pair.biv(&["log", "one"]).run().ok().stdout;
    for said in ["the number 7", "the number 8"] {
        assert!(log.contains(said), "{log}");
    }
    assert!(pair.there.list().is_empty());
    drop(pair.biv(&["kill", "-y", "one"]).run().ok());
}

/// The link goes away in the middle of a drain, with everything that carries it. What was moved is there, the rest
/// works here, and the same command later does the rest.
#[test]
fn a_drain_of_ten_whose_connections_end_is_finished_by_the_next_one() {
    const ALL: usize = 10;
    let (pair, mut server) = reached_by_ssh();
    let repository = pair.here.repository("app");
    let instances: Vec<Instance> = (0..ALL)
        .map(|number| {
            let title = format!("t{number}");
            let instance = pair.here.start_shell(&repository, &title, "exec sleep 600");
            let work = pair.here.repository_at(&instance.worktree);
            work.write("work.txt", &format!("work of {title}\n"));
            instance
        })
        .collect();
    let titles = |words: &[&str]| {
        let listing = pair.biv(words).with_json().run().ok().json();
        let views = listing["instances"].as_array().unwrap().clone();
        let at_home = views.iter().filter(|view| view["state"] != "away");
        let titles = at_home.map(|view| view["title"].as_str().unwrap().to_owned());
        titles.collect::<std::collections::BTreeSet<String>>()
    };
    let here = || titles(&["list", "--local"]);
    let drained = std::thread::scope(|scope| {
        let drained = scope.spawn(|| pair.biv(&["drain", "--to", "box", "--json"]).run());
        until("some of them are there", || pair.there.list().len() >= 3);
        server.stop();
        drained.join().unwrap()
    });
    let error = drained.fails(1).error();
    let done = error["details"]["done"].as_u64().unwrap() as usize;
    assert!((2..ALL).contains(&done), "{error}");
    // Nobody has one that another has too; at most the one that was on its way is in nobody's hands.
    let there: std::collections::BTreeSet<String> = pair
        .there
        .list()
        .iter()
        .map(|instance| {
            pair.there.show(instance)["title"]
                .as_str()
                .unwrap()
                .to_owned()
        })
        .collect();
    let both: Vec<&String> = there.iter().collect();
    assert!(
        both.iter().all(|title| !here().contains(*title)),
        "{both:?}"
    );
    assert!(there.len() + here().len() >= ALL - 1, "{there:?}");
    for instance in instances.iter().filter(|instance| {
        let shown = pair.here.show(instance);
        shown["state"] == "running"
    }) {
        assert!(!instance.processes().is_empty(), "its agent works");
        assert!(instance.worktree.join("work.txt").exists());
    }

    server.start_again();
    drop(pair.biv(&["drain", "--to", "box"]).run().ok());
    assert!(here().is_empty());
    let there = pair.there.list();
    assert_eq!(there.len(), ALL);
    for instance in &there {
        let shown = pair.there.show(instance);
        let title = shown["title"].as_str().unwrap();
        assert_eq!(shown["state"], "running", "{title}");
        let text = std::fs::read_to_string(instance.worktree.join("work.txt"));
        assert_eq!(text.unwrap(), format!("work of {title}\n"));
    }
    drop(pair.there.biv(["kill", "-y", "--all"]).run().ok());
}
