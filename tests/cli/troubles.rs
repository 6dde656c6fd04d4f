//! The messages that the troubleshooting page quotes are the ones that the program prints: each
//! situation is produced, in the order of the page.

use crate::readme::{blocks, matches, section};
use crate::support::{Camp, until};

/// Makes one trouble, and gives what is said about it.
type Trouble = fn(&Camp) -> String;

#[test]
fn what_is_quoted_for_those_in_trouble_is_what_they_see() {
    let troubles: [Trouble; 10] = [
        no_repository,
        no_such_agent,
        an_agent_that_ends,
        a_server_that_is_gone,
        a_branch_in_use,
        a_branch_that_has_moved,
        a_repository_that_was_moved,
        a_forgotten_conversation,
        a_wrong_key,
        a_wrong_rule,
    ];
    let section = section("docs/troubleshooting.md", "# Troubleshooting");
    let quoted = blocks(&section, "text");
    assert_eq!(quoted.len(), troubles.len(), "a trouble for each quotation");
    for (quotation, trouble) in quoted.iter().zip(troubles) {
        let said = trouble(&Camp::new());
        assert!(
            matches(quotation, &said),
            "the page says\n{quotation}\nbut biv prints\n{said}"
        );
    }
}

fn no_repository(camp: &Camp) -> String {
    camp.biv(["new", "work"]).run().fails(1).stderr
}

/// A directory that has, of all programs, only those that Bivouac itself needs.
fn without_agents(camp: &Camp) -> std::path::PathBuf {
    let programs = camp.root().join("programs");
    std::fs::create_dir(&programs).unwrap();
    for name in ["git", "tmux"] {
        let path = std::env::var_os("PATH").unwrap();
        let found = std::env::split_paths(&path)
            .map(|directory| directory.join(name))
            .find(|candidate| candidate.is_file())
            .unwrap();
        std::os::unix::fs::symlink(found, programs.join(name)).unwrap();
    }
    programs
}

fn no_such_agent(camp: &Camp) -> String {
    let programs = without_agents(camp);
    let repository = camp.repository("app");
    let call = camp.biv(["new", "work", "-a", "codex"]);
    let call = call.within(&repository.path).env("PATH", &programs);
    call.run().fails(1).stderr
}

#[test]
fn without_an_agent_none_is_started_unasked() {
    let camp = Camp::new();
    let programs = without_agents(&camp);
    let repository = camp.repository("app");
    let call = camp.biv(["new", "work", "-p", "Fix it"]);
    let call = call.within(&repository.path).env("PATH", &programs);
    let said = call.run().fails(1).said();
    assert!(said.contains("none of claude, codex, gemini"), "{said}");
    assert!(said.contains("-a demo"), "{said}");
    assert_eq!(camp.list().len(), 0);
}

fn an_agent_that_ends(camp: &Camp) -> String {
    let repository = camp.repository("app");
    let command = "echo no licence found; exit 3";
    let call = camp.biv(["new", "work", "-a", "shell", "--", "sh", "-c", command]);
    call.within(&repository.path).run().fails(1).stderr
}

fn a_server_that_is_gone(camp: &Camp) -> String {
    let instance = camp.start(&camp.repository("app"), "before", &[]);
    instance.wait_idle(camp);
    camp.end_server();
    let listed = camp.biv(["list"]).run().ok().stdout;
    drop(camp.biv(["resume", "before"]).run().ok());
    listed
}

fn a_branch_in_use(camp: &Camp) -> String {
    let repository = camp.repository("app");
    camp.start(&repository, "work", &[]).wait_idle(camp);
    drop(camp.biv(["pause", "work"]).run().ok());
    repository.git(&["switch", "-q", "biv/work"]);
    let said = camp.biv(["resume", "work"]).run().fails(1).stderr;
    repository.git(&["switch", "-q", "main"]);
    drop(camp.biv(["resume", "work"]).run().ok());
    said
}

fn a_branch_that_has_moved(camp: &Camp) -> String {
    let repository = camp.repository("app");
    let instance = camp.start(&repository, "work", &[]);
    instance.wait_idle(camp);
    let mine = instance.worktree.join("README.md");
    std::fs::write(&mine, "mine\n").unwrap();
    drop(camp.biv(["pause", "work"]).run().ok());
    repository.git(&["switch", "-q", "biv/work"]);
    repository.write("README.md", "theirs\n");
    repository.commit("theirs");
    repository.git(&["switch", "-q", "main"]);
    let said = camp.biv(["resume", "work"]).run().fails(6).stderr;
    let resumed = camp.biv(["resume", "work", "--on-conflict", "markers"]);
    drop(resumed.run().ok());
    let both = std::fs::read_to_string(&mine).unwrap();
    assert!(
        both.contains("mine\n") && both.contains("theirs\n"),
        "{both}"
    );
    said
}

fn a_repository_that_was_moved(camp: &Camp) -> String {
    let repository = camp.repository("app");
    camp.start(&repository, "work", &[]).wait_idle(camp);
    drop(camp.biv(["pause", "work"]).run().ok());
    let new = camp.root().join("elsewhere");
    std::fs::rename(&repository.path, &new).unwrap();
    let said = camp.biv(["resume", "work"]).run().fails(1).stderr;
    let moved = camp.biv(["repo", "moved"]).args([&repository.path, &new]);
    drop(moved.run().ok());
    drop(camp.biv(["resume", "work"]).run().ok());
    said
}

fn a_forgotten_conversation(camp: &Camp) -> String {
    let instance = camp.start(&camp.repository("app"), "talk", &["-p", "Listen"]);
    until("the agent has heard it", || {
        !instance.prompts(camp).is_empty()
    });
    instance.wait_idle(camp);
    drop(camp.biv(["pause", "talk"]).run().ok());
    std::fs::remove_dir_all(camp.home().join("state/demo")).unwrap();
    let said = camp.biv(["resume", "talk"]).run().fails(5).stderr;
    drop(camp.biv(["restart", "-y", "talk"]).run().ok());
    said
}

fn a_wrong_key(camp: &Camp) -> String {
    configure(camp, "config.toml", "[pause]\nwiat = \"30s\"\n");
    camp.biv(["list"]).run().fails(1).stderr
}

fn a_wrong_rule(camp: &Camp) -> String {
    configure(
        camp,
        "policy.toml",
        "schema = 1\n[[accept]]\nid = \"x\"\nprogram = [\"camp-lint\"]\n",
    );
    camp.start(&camp.repository("app"), "work", &[]);
    let said = camp.biv(["autoyes", "work", "on"]).run().ok().stderr;
    // Who runs as root is told about that first.
    said.lines()
        .filter(|line| line.contains("mistake"))
        .collect()
}

fn configure(camp: &Camp, name: &str, text: &str) {
    let directory = camp.home().join("config");
    std::fs::create_dir_all(&directory).unwrap();
    std::fs::write(directory.join(name), text).unwrap();
}
