//! Merge requests with the real `glab`, against a GitLab on loopback with a certificate of its own.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::pull_request::{Forge, GITLAB, feature};
use crate::support::{Camp, Instance, Repository, until};

const URL: &str = "https://gitlab.example.org/o/r/-/merge_requests/7";

/// The directory of `glab`: on PATH, or where scripts/setup has unpacked it. None where scripts/test has said
/// that it cannot be installed, and has listed its tests as left out.
fn glab() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let cache = cache.or_else(|| home.map(|home| home.join(".cache")));
    let unpacked = cache.map(|cache| cache.join("bivouac/tools/bin"));
    let found = std::env::split_paths(&path)
        .chain(unpacked)
        .find(|directory| directory.join("glab").exists());
    let left_out = std::env::var_os("BIV_TEST_NO_GLAB").is_some();
    assert!(
        found.is_some() || left_out,
        "glab is not installed: scripts/setup does that. BIV_TEST_NO_GLAB=1 leaves its tests out"
    );
    found
}

/// A camp with `glab`, a forge, and an instance with a commit in a repository on it.
fn stage(camp: Camp, glab: &Path) -> (Camp, Forge, Repository, Instance) {
    let forge = Forge::start(&camp);
    forge.shows_only(&json!({}));
    let path = std::env::var("PATH").unwrap();
    let camp = forge.reached_by(camp);
    let camp = camp.with("PATH", &format!("{}:{path}", glab.display()));
    let (repository, instance) = feature(&camp, GITLAB);
    (camp, forge, repository, instance)
}

#[test]
fn a_merge_request_is_opened_found_again_and_watched() {
    let Some(glab) = glab() else { return };
    // A minute lasts half a second.
    let camp = Camp::new().with("BIV_MINUTE_MS", "500");
    let (camp, forge, repository, instance) = stage(camp, &glab);
    let pr = |more: &[&str]| {
        let arguments = [&["pr", "--json", "feature"], more].concat();
        camp.biv(arguments).run().ok().json()
    };
    let opened = pr(&["--draft", "--watch"]);
    assert_eq!(opened["url"], URL);
    assert_eq!(opened["existing"], false);
    let asked = forge.requests_with("\"post\"");
    assert_eq!(asked[0]["body"]["source_branch"], "biv/feature");
    assert_eq!(asked[0]["body"]["target_branch"], "main");
    assert_eq!(asked[0]["body"]["title"], "Draft: feature");
    let again = pr(&[]);
    assert_eq!(again["url"], URL);
    assert_eq!(again["existing"], true);
    assert_eq!(again["watched"], true, "it stays watched");
    // The branch is there, pushed by us.
    let remote = repository.git(&["config", "remote.origin.pushurl"]);
    let pushed = repository.git(&["ls-remote", &remote, "refs/heads/biv/feature"]);
    assert!(pushed.starts_with(&repository.git(&["rev-parse", "biv/feature"])));

    let pipeline =
        json!({ "id": 3, "status": "failed", "web_url": "https://gitlab.example.org/p/3" });
    forge.shows_only(&json!({ "head_pipeline": pipeline }));
    until("it was told", || instance.prompts(&camp).len() == 1);
    let prompts = instance.prompts(&camp);
    assert!(prompts[0].contains("The check `pipeline`"), "{prompts:?}");
    let asked = || forge.requests_with("merge_requests/7?").len();
    let before = asked();
    until("it was asked again", || asked() > before + 2);
    assert_eq!(instance.prompts(&camp).len(), 1, "told once");
    let standing = &camp.show(&instance)["pull_request"]["standing"];
    let expected = json!({ "state": "open", "review": "required", "checks": "failed" });
    assert_eq!(*standing, expected);
    let listed = camp.biv(["list"]).run().ok().stdout;
    assert!(listed.contains("#7 ✗"), "{listed}");

    forge.shows_only(&json!({ "state": "merged" }));
    until("the merge is known", || {
        camp.show(&instance)["pull_request"]["standing"]["state"] == "merged"
    });
}

#[test]
fn title_and_text_come_from_the_commits_and_a_refusal_is_told() {
    let Some(glab) = glab() else { return };
    let (camp, forge, repository, instance) = stage(Camp::new(), &glab);
    forge.write(&json!({ "refuse": true, "shown": {} }));
    let error = camp.biv(["pr", "--json", "feature"]).run().fails(1).error();
    assert_eq!(error["code"], "forge");
    let hint = error["hint"].as_str().unwrap_or_default();
    assert!(hint.contains("the branch is pushed"), "{error}");
    assert!(hint.contains("glab auth status"), "{error}");
    assert_eq!(camp.show(&instance)["pull_request"], Value::Null);

    // What is checked out in the main checkout is not pushed with it.
    repository.write("mine.txt", "not to be published\n");
    repository.commit("mine");
    let tip = repository.git(&["rev-parse", "biv/feature"]);
    forge.write(&json!({ "shown": {} }));
    let fill = || camp.biv(["pr", "--json", "--fill", "feature"]).run().ok();
    assert_eq!(fill().json()["url"], URL);
    let title = || {
        let asked = forge.requests_with("\"post\"");
        let body = asked.last().unwrap()["body"].clone();
        (body["title"].clone(), body["description"].clone())
    };
    assert_eq!(title(), (json!("add new.txt"), json!("")));
    let remote = repository.git(&["config", "remote.origin.pushurl"]);
    let pushed = repository.git(&["ls-remote", &remote, "refs/heads/biv/feature"]);
    assert!(pushed.starts_with(&tip), "{pushed}");

    forge.write(&json!({ "shown": {} }));
    crate::land::commit(&repository, &instance, "two.txt", "2\n");
    drop(fill());
    let list = "- add new.txt\n- add two.txt";
    assert_eq!(title(), (json!("add new.txt"), json!(list)));
    assert_eq!(repository.git(&["status", "--porcelain"]), "");
}
