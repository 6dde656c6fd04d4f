//! What agents do is seen as it happens, whatever becomes of the tmux server.

use crate::post::{camp_with_daemon, events, kinds, status, wait_activity, wait_event};
use crate::support::{Camp, until};

#[test]
fn what_an_agent_does_becomes_events() {
    let camp = camp_with_daemon();
    let repository = camp.repository("app");
    let instance = camp.start(&repository, "seen", &[]);
    wait_activity(&camp, "idle");
    drop(camp.biv(["send", "seen", "/busy 1"]).run().ok());
    let busy = wait_activity(&camp, "busy");
    assert_eq!(busy["instance"], instance.id.as_str());
    assert_eq!(busy["title"], "seen");
    assert_eq!(busy["data"]["previous"], "idle");
    wait_event(&camp, "it is idle again", |event| {
        event["data"]["activity"] == "idle" && event["data"]["previous"] == "busy"
    });
    drop(camp.biv(["send", "seen", "/run touch x"]).run().ok());
    wait_activity(&camp, "approval");
    // Nothing but one helper for each pane was started, and none stays.
    let left: Vec<_> = crate::support::processes_with(&camp.root().display().to_string())
        .into_iter()
        .filter(|process| process.command.contains("__pipe"))
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn an_exit_is_noticed_with_its_code_and_last_words() {
    let camp = camp_with_daemon();
    let repository = camp.repository("app");
    for (title, command, kind, code) in [
        (
            "good",
            "read x; echo farewell; exit 0",
            "instance:completed",
            0,
        ),
        ("bad", "read x; echo oh no; exit 3", "instance:failed", 3),
    ] {
        let instance = camp.start_shell(&repository, title, command);
        until("it is watched", || status(&camp)["watching"] == 1);
        drop(camp.biv(["send", title, "go"]).run().ok());
        // No command is run: only the daemon can write it down.
        let event = wait_event(&camp, kind, |event| event["type"] == kind);
        assert_eq!(event["instance"], instance.id.as_str());
        assert_eq!(event["data"]["exit_code"], code);
        let words = event["data"]["last_words"].as_str().unwrap();
        assert!(words.contains(if code == 0 { "farewell" } else { "oh no" }));
        camp.kill(&instance);
        until("it is watched no more", || status(&camp)["watching"] == 0);
    }
}

#[test]
fn a_server_that_dies_and_comes_back_is_survived() {
    let camp = camp_with_daemon();
    let repository = camp.repository("app");
    let first = camp.start(&repository, "first", &[]);
    wait_activity(&camp, "idle");
    camp.end_server();
    wait_event(&camp, "it was interrupted", |event| {
        event["type"] == "instance:interrupted" && event["instance"] == first.id.as_str()
    });
    drop(camp.biv(["resume", &first.id]).run().ok());
    let second = camp.start(&repository, "second", &[]);
    until("both are watched", || status(&camp)["watching"] == 2);
    drop(camp.biv(["send", &second.id, "/busy 1"]).run().ok());
    wait_event(&camp, "the second one works", |event| {
        event["instance"] == second.id.as_str() && event["data"]["activity"] == "busy"
    });
    assert_eq!(first.processes().len(), 1);
}

#[test]
fn the_server_ends_with_its_last_session_though_it_is_watched() {
    let camp = camp_with_daemon();
    let repository = camp.repository("app");
    let instance = camp.start(&repository, "last", &[]);
    wait_activity(&camp, "idle");
    drop(camp.biv(["pause", &instance.id]).run().ok());
    until("there is no session", || camp.sessions().is_empty());
    until("no agent is watched", || status(&camp)["watching"] == 0);
    drop(camp.biv(["resume", &instance.id]).run().ok());
    until("it is watched again", || status(&camp)["watching"] == 1);
}

#[test]
fn a_pipe_that_is_taken_away_is_opened_again() {
    let camp = camp_with_daemon();
    let repository = camp.repository("app");
    let instance = camp.start(&repository, "mine", &[]);
    wait_activity(&camp, "idle");
    let target = format!("=biv-{}:", instance.id);
    let stolen = camp.tmux(&["pipe-pane", "-O", "-t", &target, "cat > /dev/null"]);
    assert!(stolen.status.success());
    let before = events(&camp).len();
    until("a change is noticed again", || {
        drop(camp.biv(["send", "mine", "/busy 1"]).run().ok());
        kinds(&camp)[before..].contains(&"instance:activity".to_owned())
    });
}

#[test]
fn a_flood_of_output_is_drained_and_its_end_is_seen() {
    let camp = camp_with_daemon();
    let repository = camp.repository("app");
    let instance = camp.start_shell(
        &repository,
        "flood",
        "read x; yes 'Do you want 1. Yes [y/n]' | head -c 20000000; echo done; read x; exit 4",
    );
    until("it is watched", || status(&camp)["watching"] == 1);
    drop(camp.biv(["send", "flood", "go"]).run().ok());
    instance.wait_screen(&camp, "done");
    drop(camp.biv(["send", "flood", "end"]).run().ok());
    let failed = wait_event(&camp, "it has ended", |event| {
        event["type"] == "instance:failed"
    });
    assert_eq!(failed["data"]["exit_code"], 4);
}

#[test]
fn forty_are_watched_at_once() {
    let camp = camp_with_daemon();
    let repository = camp.repository("app");
    std::thread::scope(|scope| {
        for worker in 0..4 {
            let (camp, repository) = (&camp, &repository);
            scope.spawn(move || {
                for n in 0..10 {
                    let title = format!("agent {worker}-{n}");
                    let command = "while read -r line; do echo \"$line\"; done";
                    camp.start_shell(repository, &title, command);
                }
            });
        }
    });
    until("all are watched", || status(&camp)["watching"] == 40);
    let all: Vec<String> = camp.list().into_iter().map(|one| one.id).collect();
    for chunk in all.chunks(20) {
        let mut arguments = vec!["kill", "-y"];
        arguments.extend(chunk.iter().map(String::as_str));
        drop(camp.biv(arguments).run().ok());
    }
    until("no agent is watched", || status(&camp)["watching"] == 0);
}

#[test]
fn a_record_that_is_older_than_the_machine_is_settled_at_the_start() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let instance = camp.start(&repository, "left", &[]);
    camp.end_server();
    // No command has looked since: it still counts as running on disk.
    let record = camp.instances_dir().join(&instance.id).join("record.json");
    assert!(
        std::fs::read_to_string(&record)
            .unwrap()
            .contains("\"state\": \"running\"")
    );
    crate::post::start(&camp);
    wait_event(&camp, "it was interrupted", |event| {
        event["type"] == "instance:interrupted"
    });
}

/// An agent whose screen means what its file says, as long as the file says so.
fn agent_file(camp: &Camp, activity: &str) {
    let agents = camp.home().join("config/agents");
    std::fs::create_dir_all(&agents).unwrap();
    let text = format!(
        "display = \"Mine\"\ncommand = [\"sh\", \"-c\", \"echo ready; exec cat\"]\n\
         [session]\nreference = \"none\"\nstrategy = \"replay\"\n\
         [[rules]]\nname = \"prompt\"\nactivity = \"{activity}\"\nlast = 5\nany = [\"ready\"]\n"
    );
    std::fs::write(agents.join("mine.toml"), text).unwrap();
}

#[test]
fn agents_that_come_or_change_while_it_runs_are_known() {
    let camp = camp_with_daemon();
    let repository = camp.repository("app");
    agent_file(&camp, "idle");
    drop(
        camp.biv(["new", "one", "-a", "mine"])
            .within(&repository.path)
            .run()
            .ok(),
    );
    wait_activity(&camp, "idle");
    agent_file(&camp, "blocked");
    // Any change of an instance makes it look.
    drop(camp.biv(["timeout", "one", "5m"]).run().ok());
    wait_activity(&camp, "blocked");
}
