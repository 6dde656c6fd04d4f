//! Pushing the branch of an instance.

use crate::support::Camp;

#[test]
fn a_branch_is_pushed_to_the_remote_of_its_repository() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let instance = camp.start(&repository, "feature", &[]);
    instance.wait_idle(&camp);
    let error = camp
        .biv(["push", "--json", "feature"])
        .run()
        .fails(1)
        .error();
    assert_eq!(error["code"], "no_remote");
    let remote = camp.empty_repository("remote.git");
    remote.git(&["config", "core.bare", "true"]);
    let url = remote.path.join(".git");
    repository.git(&["remote", "add", "origin", url.to_str().unwrap()]);
    let checkout = repository.seen_from(&instance.worktree);
    checkout.write("new.txt", "new\n");
    let tip = checkout.commit("new");
    checkout.write("uncommitted.txt", "stays here\n");
    let pushed = camp.biv(["push", "--json", "feature"]).run().ok().json();
    assert_eq!(pushed["pushed"][0]["remote"], "origin");
    assert_eq!(pushed["pushed"][0]["branch"], "biv/feature");
    assert_eq!(remote.git(&["rev-parse", "biv/feature"]), tip);
}

/// The forge's program, as far as it is called: it writes its arguments down and prints an address.
const FORGE: &str = "#!/bin/sh\nprintf '%s\\n' \"$@\" > \"$0.args\"\necho Creating… >&2\necho https://forge.example.org/o/r/pull/7\n";

#[test]
fn a_pull_request_is_opened_by_the_forges_own_program() {
    for (host, program, first) in [("github.com", "gh", "pr"), ("gitlab.com", "glab", "mr")] {
        let camp = Camp::new();
        let bin = camp.root().join("bin");
        std::fs::create_dir_all(&bin).unwrap();
        std::fs::write(bin.join(program), FORGE).unwrap();
        let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(bin.join(program), executable).unwrap();
        let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
        let camp = camp.with("PATH", &path);
        let repository = camp.repository("app");
        let remote = camp.empty_repository("remote.git");
        remote.git(&["config", "core.bare", "true"]);
        let url = format!("git@{host}:o/r.git");
        repository.git(&["remote", "add", "origin", &url]);
        let push_url = remote.path.join(".git");
        repository.git(&[
            "config",
            "remote.origin.pushurl",
            push_url.to_str().unwrap(),
        ]);
        let instance = camp.start(&repository, "feature", &["-p", "/lines 1\nand more"]);
        instance.wait_idle(&camp);
        let opened = camp
            .biv(["pr", "--json", "--draft", "feature"])
            .run()
            .ok()
            .json();
        assert_eq!(opened["url"], "https://forge.example.org/o/r/pull/7");
        assert_eq!(opened["opened"], true);
        let arguments = std::fs::read_to_string(bin.join(format!("{program}.args"))).unwrap();
        let arguments: Vec<&str> = arguments.lines().collect();
        assert_eq!(arguments[..2], [first, "create"]);
        for word in ["biv/feature", "main", "--draft", "/lines 1"] {
            assert!(arguments.contains(&word), "{word}: {arguments:?}");
        }
        assert_eq!(
            remote.git(&["rev-parse", "biv/feature"]),
            repository.git(&["rev-parse", "main"])
        );
    }
}
