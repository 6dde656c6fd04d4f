//! Usage limits: blocked until the time that the screen tells, and continued once after it.

use serde_json::{Value, json};

use crate::post::{configure, events, start, wait_event};
use crate::support::{Camp, Instance, until, until_told};

const CONTINUE: &str = "The usage limit has reset. Continue where you stopped.";

fn continued(camp: &Camp) -> Vec<Value> {
    let all = events(camp).into_iter();
    all.filter(|event| event["type"] == "limit:continued")
        .collect()
}

#[track_caller]
fn wait_prompts(camp: &Camp, instance: &Instance, expected: &[&str]) {
    let told = || format!("{expected:?}: {:?}", instance.prompts(camp));
    until_told(told, || (instance.prompts(camp) == expected).then_some(()));
}

#[test]
fn work_is_taken_up_once_after_the_reset_and_the_queue_goes_on_then() {
    let camp = Camp::new().with("BIV_MINUTE_MS", "500");
    configure(&camp, "limits.continue = true\n");
    let repository = camp.repository("app");
    // The setting alone is a reason for a daemon.
    let instance = camp.start(&repository, "limited", &[]);
    let running = camp.biv(["daemon", "status", "--json"]).run().ok().json();
    assert_eq!(running["running"], true, "{running}");
    let queued = ["/limit in 3s", "and then this"];
    drop(
        camp.biv(["queue", &instance.id, queued[0], queued[1]])
            .run()
            .ok(),
    );
    wait_prompts(&camp, &instance, &[queued[0], CONTINUE, queued[1]]);
    let blocked = wait_event(&camp, "blocked", |event| {
        event["data"]["activity"] == "blocked"
    });
    let done = continued(&camp);
    assert_eq!(done.len(), 1, "{done:?}");
    let resets_at = &done[0]["data"]["resets_at"];
    assert_eq!(blocked["data"]["until"], *resets_at);
    assert!(done[0]["at"].as_str() > resets_at.as_str());
    // The same limit once more: what waits is sent, and nothing is continued a second time.
    let again = format!("/limit {}", resets_at.as_str().unwrap());
    drop(camp.biv(["queue", &instance.id, &again, "last"]).run().ok());
    let all = [queued[0], CONTINUE, queued[1], &again, "last"];
    wait_prompts(&camp, &instance, &all);
    assert_eq!(continued(&camp).len(), 1);
    let queue = || {
        camp.biv(["queue", "--json", &instance.id])
            .run()
            .ok()
            .json()
    };
    until("all are done", || queue()["counts"]["done"] == 4);
    assert_eq!(queue()["stopped"], Value::Null);
}

#[test]
fn a_limit_names_its_time_and_holds_what_is_sent() {
    let camp = Camp::new();
    start(&camp);
    let repository = camp.repository("app");
    let instance = camp.start(&repository, "limited", &["-p", "/limit in 2h"]);
    until("blocked", || camp.show(&instance)["activity"] == "blocked");
    let view = camp.show(&instance);
    let until_then = view["blocked_until"].as_str().unwrap().to_owned();
    assert!(until_then.as_str() > view["updated_at"].as_str().unwrap());
    let text = |args: &[&str]| camp.biv(args).run().ok().stdout;
    assert!(text(&["show", &instance.id]).contains("blocked until "));
    assert!(text(&["list"]).contains("blocked until "));
    assert!(text(&["status"]).starts_with("1 blocked until "));
    let status = camp.biv(["status", "--json"]).run().ok().json();
    assert_eq!(status["blocked_until"], json!(until_then));
    let listed = camp.biv(["list", "--json"]).run().ok().json();
    assert_eq!(listed["instances"][0]["blocked_until"], json!(until_then));
    // It is the same time at every look.
    assert_eq!(camp.show(&instance)["blocked_until"], json!(until_then));
    let sent = camp.biv(["send", &instance.id, "later"]).run().ok();
    assert!(
        sent.stderr.contains("is at its usage limit until "),
        "{sent:?}"
    );
    let refused = camp
        .biv(["send", "--json", "--now", &instance.id, "now"])
        .run()
        .fails(4)
        .json();
    assert_eq!(refused["error"]["code"], "usage_limit", "{refused}");
    let queue = camp
        .biv(["queue", "--json", &instance.id])
        .run()
        .ok()
        .json();
    assert_eq!(queue["counts"]["waiting"], 1);
    assert_eq!(queue["stopped"], Value::Null);
    assert_eq!(instance.prompts(&camp), ["/limit in 2h"]);
    assert_eq!(continued(&camp), Vec::<Value>::new());
}
