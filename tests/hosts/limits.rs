//! One side sends more than the other wants to keep.

use std::path::Path;

use crate::pair::{Pair, Words};

/// The mark by which a host says that it has begun.
const BEGIN: &str = "printf '\\036biv-host begin 1 0.1.0\\n' >&2";

#[test]
fn what_is_fetched_has_a_limit_and_stays_there() {
    let pair = Pair::new(Words::Exact);
    pair.configure("[hosts]\nfetch_limit = \"2MB\"\n");
    let repository = pair.here.repository("app");
    let one = pair.here.start_shell(&repository, "one", "exec sleep 600");
    std::fs::write(one.worktree.join("work.txt"), "work\n").unwrap();
    drop(pair.biv(&["move", "one", "far"]).run().ok());
    // The second request is the one for everything.
    let counter = pair.here.root().join("requests");
    let endless = format!(
        "echo >> '{0}'\n[ $(wc -l < '{0}') = 2 ] && {{ {BEGIN}; exec yes; }}",
        counter.display()
    );
    pair.change_link(&endless);
    let refused = pair
        .biv(&["move", "one", "--take-back"])
        .with_json()
        .run()
        .fails(1);
    let error = &refused.json()["error"];
    assert_eq!(error["code"], "host_too_large", "{error}");
    let message = error["message"].as_str().unwrap();
    assert!(
        message.contains("`far` sent more than the 2000000 bytes"),
        "{message}"
    );
    assert!(
        error["hint"].to_string().contains("hosts.fetch_limit"),
        "{error}"
    );
    assert_eq!(pair.here.show(&one)["state"], "away");
    assert_eq!(pair.there.list().len(), 1, "it is still there");
    pair.mend();
    drop(pair.biv(&["move", "one", "--take-back"]).run().ok());
    let work = std::fs::read_to_string(one.worktree.join("work.txt")).unwrap();
    assert_eq!(work, "work\n");
}

#[test]
fn an_answer_has_a_limit() {
    let pair = Pair::strangers();
    pair.add_script("flood", &format!("{BEGIN}; exec yes"));
    let listed = pair.biv(&["list", "--host", "flood"]).run().ok().stderr;
    assert!(listed.contains("more than 64 MiB"), "{listed}");
}

#[test]
fn what_a_host_refuses_has_its_causes_for_scripts_too() {
    let pair = Pair::new(Words::Exact);
    let repository = pair.here.repository("app");
    let one = pair.here.start_shell(&repository, "one", "exec sleep 600");
    let answer = r#"{"error":{"code":"failed","message":"it cannot be unpacked","causes":["the disk is full"]}}"#;
    let script = format!(
        "{BEGIN}; cat > /dev/null; echo '{answer}'; printf '\\036biv-host end 1\\n' >&2; exit 1"
    );
    // Its agents are asked for, and it refuses to say.
    pair.change_link(&script);
    let refused = pair.biv(&["move", "one", "far"]).with_json().run().fails(1);
    let error = &refused.json()["error"];
    assert_eq!(error["code"], "host_refused", "{error}");
    assert_eq!(error["causes"][0], "the disk is full", "{error}");
    let told = pair.biv(&["move", "one", "far"]).run().fails(1).stderr;
    assert!(told.contains("cause: the disk is full"), "{told}");
    let drained = pair.biv(&["drain", "--to", "far"]).run().fails(1).stderr;
    assert!(drained.contains("the disk is full"), "{drained}");
    assert!(!one.processes().is_empty(), "its agent works");
}

/// The bytes of all files below a directory.
fn bytes_below(directory: &Path) -> u64 {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    entries
        .map(|entry| match entry.metadata() {
            Ok(found) if found.is_dir() => bytes_below(&entry.path()),
            Ok(found) => found.len(),
            Err(_) => 0,
        })
        .sum()
}

/// Content that cannot be compressed.
fn noise(numbers: u32) -> Vec<u8> {
    let mixed = |number: u32| {
        let mut mixed = number.wrapping_mul(2_654_435_761) ^ (number >> 3);
        for _ in 0..3 {
            mixed ^= mixed << 13;
            mixed ^= mixed >> 17;
            mixed ^= mixed << 5;
        }
        mixed.to_le_bytes()
    };
    (1..numbers).flat_map(mixed).collect()
}

#[test]
fn what_is_sent_to_a_host_has_a_limit_there_and_nothing_of_it_stays() {
    let pair = Pair::new(Words::Exact);
    let config = pair.there.home().join("config");
    std::fs::create_dir_all(&config).unwrap();
    let limit = config.join("config.toml");
    std::fs::write(&limit, "[hosts]\nfetch_limit = \"1MB\"\n").unwrap();
    let repository = pair.here.repository("app");
    std::fs::write(repository.path.join("large.bin"), noise(1 << 20)).unwrap();
    repository.commit("large");
    let new = || {
        let words = ["new", "one", "--host", "far", "-a", "demo"];
        pair.biv(&words).within(&repository.path).with_json().run()
    };
    let error = new().fails(1).json()["error"].clone();
    assert_eq!(error["code"], "host_refused", "{error}");
    let message = error["message"].as_str().unwrap();
    assert!(
        message.contains("more was sent than the 1000000 bytes"),
        "{message}"
    );
    let kept = bytes_below(&pair.there.home().join("state/repositories"));
    assert!(kept < 200_000, "{kept} bytes are left there");
    assert!(pair.there.list().is_empty());

    // An export that is put there is limited in the same way.
    let one = pair.here.start_shell(&repository, "two", "exec sleep 600");
    std::fs::write(one.worktree.join("more.bin"), noise(1 << 19)).unwrap();
    drop(pair.biv(&["pause", "two"]).run().ok());
    let key = pair.here.root().join("key");
    let made = std::process::Command::new("ssh-keygen")
        .args(["-q", "-t", "ed25519", "-N", "", "-f"])
        .arg(&key)
        .status();
    assert!(made.is_ok_and(|status| status.success()));
    let public = format!("{}.pub", key.display());
    let refused = pair.biv(&["export", "two", "--to", "far", "--key", &public]);
    let refused = refused.run().fails(1).stderr;
    assert!(
        refused.contains("more was sent than the 1000000"),
        "{refused}"
    );
    assert_eq!(bytes_below(&pair.there.home().join("state/exports")), 0);

    std::fs::write(&limit, "[hosts]\nfetch_limit = \"20MB\"\n").unwrap();
    drop(new().ok());
    assert_eq!(pair.there.list().len(), 1);
}
