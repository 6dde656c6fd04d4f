//! How many programs a command starts: each costs milliseconds, and the user waits for all of them.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use crate::land::with_commit;
use crate::support::Camp;

/// A camp in which every call of `git` and `tmux` is written down.
struct Counted {
    camp: Camp,
    log: PathBuf,
}

impl Counted {
    fn new() -> Self {
        let camp = Camp::new();
        let bin = camp.root().join("bin");
        let log = camp.root().join("calls");
        std::fs::create_dir_all(&bin).unwrap();
        let path = std::env::var("PATH").unwrap();
        for name in ["git", "tmux"] {
            let program = std::env::split_paths(&path)
                .map(|directory| directory.join(name))
                .find(|program| program.exists())
                .unwrap();
            let script = format!(
                "#!/bin/sh\necho {name} \"$@\" >> '{}'\nexec '{}' \"$@\"\n",
                log.display(),
                program.display()
            );
            std::fs::write(bin.join(name), script).unwrap();
            std::fs::set_permissions(bin.join(name), PermissionsExt::from_mode(0o755)).unwrap();
        }
        let path = format!("{}:{path}", bin.display());
        Self {
            camp: camp.with("PATH", &path),
            log,
        }
    }

    /// The calls of one program that a command makes.
    fn during(&self, program: &str, act: impl FnOnce(&Camp)) -> Vec<String> {
        std::fs::write(&self.log, "").unwrap();
        act(&self.camp);
        let text = std::fs::read_to_string(&self.log).unwrap();
        let calls = text.lines().filter(|line| line.starts_with(program));
        calls.map(str::to_owned).collect()
    }
}

#[track_caller]
fn at_most(limit: usize, calls: &[String]) {
    assert!(
        calls.len() <= limit,
        "{}:\n{}",
        calls.len(),
        calls.join("\n")
    );
}

#[test]
fn few_programs_are_started() {
    let counted = Counted::new();
    let repository = counted.camp.repository("app");
    let first = with_commit(&counted.camp, &repository, "first", "first.txt");
    let new = counted.during("git", |camp| {
        let arguments = ["new", "-a", "demo", "second"];
        drop(camp.biv(arguments).within(&repository.path).run().ok());
    });
    at_most(7, &new);
    drop(counted.camp.biv(["pause", "second"]).run().ok());
    let resume = counted.during("git", |camp| {
        drop(camp.biv(["resume", "second"]).run().ok());
    });
    at_most(5, &resume);
    first.wait_idle(&counted.camp);
    for look in [
        &["show", "first"][..],
        &["peek", "first"],
        &["status"],
        &["list"],
    ] {
        let asked = counted.during("tmux", |camp| drop(camp.biv(look).run().ok()));
        at_most(1, &asked);
    }
    drop(counted.camp.biv(["pause", "first"]).run().ok());
    let land = counted.during("", |camp| drop(camp.biv(["land", "first"]).run().ok()));
    let (git, tmux): (Vec<String>, Vec<String>) =
        land.into_iter().partition(|call| call.starts_with("git"));
    at_most(6, &git);
    at_most(1, &tmux);
}
