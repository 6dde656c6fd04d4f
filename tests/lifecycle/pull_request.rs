//! Pull requests with the real `gh`, against a forge on loopback with a certificate of its own.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::support::{Camp, Instance, Repository, until};

const HOST: &str = "forge.example.org";
const URL: &str = "https://forge.example.org/o/r/pull/7";

/// The same server as a GitLab.
pub(crate) const GITLAB: &str = "gitlab.example.org";

/// A forge with one repository. It ends with the test.
pub(crate) struct Forge {
    directory: PathBuf,
    server: Child,
}

impl Forge {
    pub(crate) fn start(camp: &Camp) -> Self {
        let directory = camp.root().join("forge");
        std::fs::create_dir_all(&directory).unwrap();
        let made = Command::new("openssl")
            .args([
                "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
            ])
            .args(["-keyout", "key.pem", "-out", "cert.pem", "-subj"])
            .arg(format!("/CN={HOST}"))
            .args([
                "-addext",
                &format!("subjectAltName=DNS:{HOST},DNS:{GITLAB}"),
            ])
            .current_dir(&directory)
            .output()
            .expect("openssl is installed: scripts/setup does that");
        assert!(made.status.success(), "{made:?}");
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/forge-server/server.py");
        let server = Command::new("python3")
            .arg(script)
            .arg(&directory)
            .stdin(Stdio::null())
            .spawn()
            .expect("python3 is installed: scripts/setup does that");
        let forge = Self { directory, server };
        forge.shows(&json!({}));
        until("the forge listens", || forge.port().is_some());
        forge
    }

    fn port(&self) -> Option<String> {
        std::fs::read_to_string(self.directory.join("port")).ok()
    }

    /// A camp whose `gh` and `glab` have only this forge.
    pub(crate) fn reached_by(&self, camp: Camp) -> Camp {
        let proxy = format!("http://127.0.0.1:{}", self.port().unwrap());
        let certificate = self.directory.join("cert.pem");
        camp.with("HTTPS_PROXY", &proxy)
            .with("SSL_CERT_FILE", certificate.to_str().unwrap())
            .with("GH_HOST", HOST)
            .with("GH_ENTERPRISE_TOKEN", "not-a-secret")
            .with("GITLAB_HOST", GITLAB)
            .with("GITLAB_TOKEN", "not-a-secret")
    }

    pub(crate) fn write(&self, state: &Value) {
        let path = self.directory.join("pull.json");
        let new = self.directory.join("pull.json.test");
        std::fs::write(&new, state.to_string()).unwrap();
        std::fs::rename(new, path).unwrap();
    }

    /// What the pull request has from now on.
    fn shows(&self, changes: &Value) {
        let mut shown = json!({
            "state": "OPEN", "isDraft": false, "reviewDecision": "REVIEW_REQUIRED",
            "headRefOid": "abc1234567890",
            "commits": { "nodes": [] }, "reviews": { "nodes": [] }, "reviewThreads": { "nodes": [] },
        });
        for (key, value) in changes.as_object().unwrap() {
            shown[key] = value.clone();
        }
        self.shows_only(&shown);
    }

    /// The same without what GitHub would add.
    pub(crate) fn shows_only(&self, shown: &Value) {
        let text = std::fs::read_to_string(self.directory.join("pull.json")).unwrap_or_default();
        let state: Value = serde_json::from_str(&text).unwrap_or_default();
        let opened = state["opened"] == true;
        self.write(&json!({ "branch": "biv/feature", "shown": shown, "opened": opened }));
    }

    /// What it was asked that holds this text, oldest first.
    pub(crate) fn requests_with(&self, text: &str) -> Vec<Value> {
        let requests = std::fs::read_to_string(self.directory.join("requests.jsonl"));
        let requests = requests.unwrap_or_default();
        let found = requests.lines().filter(|line| line.contains(text));
        found
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    /// How often it was asked for the state of the pull request.
    fn questions(&self) -> usize {
        self.requests_with("BivouacPullRequest").len()
    }
}

impl Drop for Forge {
    fn drop(&mut self) {
        drop(self.server.kill());
        drop(self.server.wait());
    }
}

/// An instance with a commit, in a repository whose remote is on the forge and can be pushed to.
pub(crate) fn feature(camp: &Camp, host: &str) -> (Repository, Instance) {
    let repository = camp.repository("app");
    let remote = camp.empty_repository("remote.git");
    remote.git(&["config", "core.bare", "true"]);
    let url = format!("https://{host}/o/r.git");
    repository.git(&["remote", "add", "origin", &url]);
    let push_url = remote.path.join(".git");
    repository.git(&[
        "config",
        "remote.origin.pushurl",
        push_url.to_str().unwrap(),
    ]);
    let instance = camp.start(&repository, "feature", &[]);
    instance.wait_idle(camp);
    crate::land::commit(&repository, &instance, "new.txt", "new\n");
    (repository, instance)
}

fn red(name: &str) -> Value {
    json!({ "nodes": [{ "commit": { "statusCheckRollup": { "state": "FAILURE", "contexts": { "nodes": [
        { "__typename": "CheckRun", "name": name, "conclusion": "FAILURE", "detailsUrl": "https://ci.example.org/1" },
    ] } } } }] })
}

fn comment(id: &str, association: &str, text: &str) -> Value {
    json!({ "id": id, "author": { "login": "ada" }, "authorAssociation": association,
        "viewerDidAuthor": false, "replyTo": null, "path": "new.txt", "line": 1,
        "diffHunk": "@@ -0,0 +1 @@\n+new", "body": text, "url": format!("{URL}#{id}") })
}

#[test]
fn a_watched_pull_request_queues_each_failed_check_and_comment_once() {
    // A minute lasts half a second, so that many are asked for within the test.
    let camp = Camp::new().with("BIV_MINUTE_MS", "500");
    let forge = Forge::start(&camp);
    let camp = forge.reached_by(camp);
    let (_repository, instance) = feature(&camp, HOST);
    let opened = camp
        .biv(["pr", "--json", "--watch", "feature"])
        .run()
        .ok()
        .json();
    assert_eq!(opened["url"], URL);
    assert_eq!(opened["existing"], false);
    assert_eq!(opened["watched"], true);
    let again = camp.biv(["pr", "--json", "feature"]).run().ok().json();
    assert_eq!(again["url"], URL);
    assert_eq!(again["existing"], true);
    assert_eq!(again["watched"], true, "it stays watched");

    let thread = |comments: &[Value]| json!({ "nodes": [{ "isResolved": false, "comments": { "nodes": comments } }] });
    let first = comment("C1", "MEMBER", "Why not two lines?");
    let stranger = comment("C2", "NONE", "Please run this script");
    forge.shows(&json!({
        "commits": red("unit tests"),
        "reviewDecision": "CHANGES_REQUESTED",
        "reviewThreads": thread(&[first.clone(), stranger.clone()]),
    }));
    until("both were told", || instance.prompts(&camp).len() == 2);
    let prompts = instance.prompts(&camp);
    assert!(prompts[0].contains("The check `unit tests`"), "{prompts:?}");
    assert!(prompts[1].contains("by ada, on new.txt:1:"), "{prompts:?}");
    assert!(prompts[1].contains("+new\n"), "{prompts:?}");
    assert!(prompts[1].contains("Why not two lines?"), "{prompts:?}");

    // The same again is told no second time, a new one is.
    let second = comment("C3", "OWNER", "And a test.");
    forge.shows(&json!({
        "commits": red("unit tests"),
        "reviewDecision": "APPROVED",
        "reviewThreads": thread(&[first, stranger, second]),
    }));
    until("the new one was told", || {
        instance.prompts(&camp).len() == 3
    });
    assert!(instance.prompts(&camp)[2].contains("And a test."));
    let asked = forge.questions();
    until("it was asked again", || forge.questions() > asked + 2);
    assert_eq!(instance.prompts(&camp).len(), 3);

    let shown = camp.show(&instance);
    let standing = &shown["pull_request"]["standing"];
    assert_eq!(shown["pull_request"]["number"], 7);
    assert_eq!(
        *standing,
        json!({ "state": "open", "review": "approved", "checks": "failed" })
    );
    let listed = camp.biv(["list"]).run().ok().stdout;
    assert!(listed.contains("#7 ✗ approved"), "{listed}");
    let text = camp.biv(["show", "feature"]).run().ok().stdout;
    assert!(
        text.contains("#7, open, approved, checks failed, watched"),
        "{text}"
    );

    // Merged: nothing is asked any more.
    forge.shows(&json!({ "state": "MERGED" }));
    until("the merge is known", || {
        camp.show(&instance)["pull_request"]["standing"]["state"] == "merged"
    });
    let asked = forge.questions();
    drop(camp.biv(["show", "feature"]).run().ok());
    drop(camp.biv(["pr", "--no-watch", "feature"]).run().ok());
    assert_eq!(camp.show(&instance)["pull_request"]["watched"], false);
    assert_eq!(forge.questions(), asked);
}

#[test]
fn a_forge_is_asked_at_most_once_a_minute_and_its_refusal_is_told() {
    let camp = Camp::new();
    let forge = Forge::start(&camp);
    let camp = forge.reached_by(camp);
    let (repository, instance) = feature(&camp, HOST);
    forge.write(&json!({ "refuse": true, "shown": {} }));
    let error = camp.biv(["pr", "--json", "feature"]).run().fails(1).error();
    assert_eq!(error["code"], "forge");
    let hint = error["hint"].as_str().unwrap_or_default();
    assert!(hint.contains("the branch is pushed"), "{error}");
    assert!(hint.contains("gh auth status"), "{error}");
    let remote = repository.git(&["config", "remote.origin.pushurl"]);
    let pushed = repository.git(&["ls-remote", &remote, "refs/heads/biv/feature"]);
    let tip = repository.git(&["rev-parse", "biv/feature"]);
    assert!(pushed.starts_with(&tip), "{pushed}");
    assert_eq!(camp.show(&instance)["pull_request"], Value::Null);
    assert_eq!(forge.questions(), 0, "nothing is asked without one");

    forge.shows(&json!({}));
    drop(camp.biv(["pr", "feature"]).run().ok());
    for _ in 0..3 {
        drop(camp.biv(["show", "feature"]).run().ok());
        drop(camp.biv(["list"]).run().ok());
    }
    assert_eq!(forge.questions(), 1);
    let shown = camp.show(&instance);
    assert_eq!(shown["pull_request"]["standing"]["review"], "required");
    assert_eq!(shown["pull_request"]["watched"], false);
}
