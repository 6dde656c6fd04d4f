//! Rules that a repository or another user has put where Bivouac reads.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::support::{Camp, Repository};

/// What the policy says to a harmless command there.
fn explain(camp: &Camp, repository: &Repository) -> serde_json::Value {
    let arguments = ["policy", "explain", "ls", "--json"];
    let answer = camp.biv(arguments).within(&repository.path).run().ok();
    assert!(!answer.stdout.contains("secret-word"), "{}", answer.stdout);
    answer.json()
}

#[test]
fn rules_that_are_no_file_turn_autoyes_off_and_are_not_quoted() {
    let camp = Camp::new();
    let secret = camp.root().join("secret");
    std::fs::write(&secret, "the-secret-word = [\n").unwrap();
    type Make<'a> = &'a dyn Fn(&Path);
    let link =
        |target: PathBuf| move |path: &Path| std::os::unix::fs::symlink(&target, path).unwrap();
    let cases: [(&str, Make<'_>, &str); 4] = [
        ("endless", &link("/dev/zero".into()), "symbolic link"),
        ("secret", &link(secret), "symbolic link"),
        (
            "pipe",
            &|path| rustix::fs::mkfifoat(rustix::fs::CWD, path, rustix::fs::Mode::RUSR).unwrap(),
            "not a regular file",
        ),
        (
            "large",
            &|path| std::fs::write(path, "#".repeat(1024 * 1024 + 1)).unwrap(),
            "larger than 1 MB",
        ),
    ];
    for (name, make, expected) in cases {
        let repository = camp.repository(name);
        assert_eq!(explain(&camp, &repository)["decision"], "accept");
        std::fs::create_dir(repository.path.join(".bivouac")).unwrap();
        make(&repository.path.join(".bivouac/policy.toml"));
        let said = explain(&camp, &repository);
        assert_eq!(said["decision"], "manual", "{name}: {said}");
        let reason = said["reason"].as_str().unwrap();
        assert!(reason.contains(expected), "{name}: {reason}");
    }

    // The directory itself may be the link.
    let repository = camp.repository("behind");
    let elsewhere = camp.root().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    std::fs::write(elsewhere.join("policy.toml"), "the-secret-word = [\n").unwrap();
    std::os::unix::fs::symlink(&elsewhere, repository.path.join(".bivouac")).unwrap();
    let said = explain(&camp, &repository);
    assert!(
        said["reason"].as_str().unwrap().contains("symbolic link"),
        "{said}"
    );
}

#[test]
fn the_users_rules_must_be_the_users() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let config = camp.home().join("config");
    std::fs::create_dir_all(&config).unwrap();
    let rules = config.join("policy.toml");
    std::fs::write(&rules, "schema = 1\n").unwrap();
    let mode = |mode| std::fs::set_permissions(&rules, PermissionsExt::from_mode(mode)).unwrap();
    let policy = || {
        let findings = camp.biv(["doctor", "--json"]).run().json()["findings"].clone();
        let findings = findings.as_array().unwrap().clone();
        let found = findings
            .into_iter()
            .find(|found| found["check"] == "policy");
        found.expect("the policy is looked at").to_string()
    };
    mode(0o644);
    assert!(!policy().contains("other users"), "{}", policy());
    mode(0o666);
    assert!(policy().contains("other users"), "{}", policy());
    assert_eq!(explain(&camp, &repository)["decision"], "accept");
    mode(0o644);
    if !rustix::process::geteuid().is_root() {
        // Only root can give a file away.
        return;
    }
    std::os::unix::fs::chown(&rules, Some(4711), None).unwrap();
    let said = explain(&camp, &repository);
    assert_eq!(said["decision"], "manual");
    assert!(
        said["reason"].as_str().unwrap().contains("another user"),
        "{said}"
    );
}
