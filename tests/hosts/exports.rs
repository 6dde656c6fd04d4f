//! Exports that lie on a host.

use crate::pair::{Pair, Words};
use crate::support::Camp;

#[test]
fn an_export_lies_on_a_host_until_it_is_fetched() {
    let pair = Pair::new(Words::Joined);
    let keys = pair.here.root().join("user/.ssh");
    std::fs::create_dir_all(&keys).unwrap();
    let made = std::process::Command::new("ssh-keygen")
        .args(["-q", "-t", "ed25519", "-N", "", "-f"])
        .arg(keys.join("id_ed25519"))
        .status();
    assert!(made.unwrap().success());
    let repository = pair.here.repository("app");
    let api = pair.here.start_shell(&repository, "api", "exec cat");
    std::fs::write(api.worktree.join("new.txt"), "a secret plan\n").unwrap();
    drop(pair.biv(&["pause", "api"]).run().ok());
    let export = |more: &[&str]| {
        let call = pair.biv(&["export", "api", "--json", "--with-history", "--to", "far"]);
        call.args(more).run()
    };
    let exported = export(&[]).ok().json();
    let directory = pair.there.home().join("state/exports");
    let file = directory.join(format!("{}-api.biv", api.id));
    let bytes = std::fs::read(&file).unwrap();
    assert!(bytes.starts_with(b"age-encryption.org/v1"));
    // It is no instance there, and an older one is not replaced by accident.
    assert!(pair.there.list().is_empty());
    let taken = export(&[]).fails(1);
    assert_eq!(taken.error()["code"], "export_taken", "{}", taken.error());
    assert_eq!(std::fs::read(&file).unwrap(), bytes);

    // The link ends in the middle of what is sent: what is there stays.
    let half = "case $# in 0) ;; *) exec 3<&0; head -c 1000 <&3 > \"$0.half\"; \
                exec < \"$0.half\";; esac";
    drop(pair.script("to-far", Words::Joined, half));
    let cut = export(&["--replace"]).fails(1);
    assert!(
        cut.error().to_string().contains("not all"),
        "{}",
        cut.error()
    );
    assert_eq!(std::fs::read(&file).unwrap(), bytes);
    drop(pair.script("to-far", Words::Joined, ""));
    drop(export(&["--replace"]).ok());
    assert_ne!(std::fs::read(&file).unwrap(), bytes);
    assert_eq!(std::fs::read_dir(&directory).unwrap().count(), 1);

    // A third machine gets it from there.
    let third = Camp::new();
    let target = third.empty_repository("app");
    let script = pair.here.root().join("to-far");
    let add = ["host", "add", "box", "--shell", "--connect"];
    drop(third.biv(add).arg(script).run().ok());
    let call = third.biv(["import", "--json", "--from", "box", "api", "--repo"]);
    let call = call.arg(&target.path).arg("--key");
    let arrived = call.arg(keys.join("id_ed25519")).run().ok().json();
    assert_eq!(arrived["manifest"], exported["manifest"]);
    drop(third.biv(["resume", "api"]).run().ok());
    let work = arrived["instance"]["worktree"].as_str().unwrap();
    let text = std::fs::read_to_string(std::path::Path::new(work).join("new.txt"));
    assert_eq!(text.unwrap(), "a secret plan\n");
    drop(third.biv(["kill", "-y", "api"]).run().ok());
}
