//! The queue of an agent whose turn did not end well: acts for every agent.

use crate::stage::Stage;
use crate::support::{Instance, until_told};

/// A turn that the model's service ends is not done: what waits would meet the same error. Agents report nothing of
/// it, or as little as of a turn that went well.
#[track_caller]
pub(crate) fn stop_at_a_failure(stage: &Stage, instance: &Instance) {
    assert!(stage.camp.show(instance)["turn_failed"].is_null());
    let queue = stage.camp.biv(["queue", &instance.id]);
    drop(queue.args(["model:fail 400", "what waits"]).run().ok());
    let shown = || {
        let queue = stage.camp.biv(["queue", "--json", &instance.id]);
        queue.run().ok().json()
    };
    let what = || {
        let screen = stage.camp.biv(["peek", &instance.id]).run().stdout;
        format!("the queue stops: {:#}\n{screen}", shown())
    };
    let queue = until_told(what, || {
        let queue = shown();
        (!queue["stopped"].is_null()).then_some(queue)
    });
    let why = queue["stopped"].as_str().unwrap_or_default();
    assert!(why.contains("service has ended its turn: "), "{queue:#}");
    let failed = stage.camp.show(instance)["turn_failed"].clone();
    let reason = failed.as_str().expect("the list tells why, too");
    assert!(why.contains(reason), "{why}: {reason}");
    assert_eq!(queue["entries"][0]["state"], "failed", "{queue:#}");
    assert_eq!(queue["counts"]["waiting"], 1, "{queue:#}");
    assert!(stage.model.find_request("what waits").is_none());
    let_it_go_on(stage, instance);
    let asked = stage.model.request_with("what waits");
    // Claude Code puts what was not answered before it.
    assert!(asked.prompt().trim().ends_with("what waits"));
    stage.wait(instance, "idle");
    drop(stage.camp.biv(["daemon", "stop"]).run().ok());
}

/// What the user says who has looked at the turn that did not end well.
#[track_caller]
pub(crate) fn let_it_go_on(stage: &Stage, instance: &Instance) {
    let queue = stage.camp.biv(["queue", &instance.id, "--continue"]);
    let shown = queue.run().ok().stdout;
    assert!(!shown.contains("It has stopped"), "{shown}");
}
