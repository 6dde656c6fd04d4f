//! Jobs: engine verbs, each in its own thread, because they wait for agents and disks.

use std::sync::Arc;
use std::sync::mpsc::Sender;

use super::message::DaemonMessage;
use super::scheduler::{DRAWN, Done, Job};
use super::thread::spawn;
use crate::engine::{Engine, Error};
use crate::model::InstanceId;

/// Starts a job; its end is sent as a message. False where no thread could be started.
pub(super) fn start(
    engine: &Arc<Engine>,
    messages: &Sender<DaemonMessage>,
    id: &InstanceId,
    job: Job,
) -> bool {
    let (engine, messages, id) = (Arc::clone(engine), messages.clone(), id.clone());
    spawn("job", move || {
        let (done, trouble) = match perform(&engine, &id, &job) {
            Ok(done) => (done, None),
            Err(error) => (Done::Failed, Some(format!("{job:?}: {error}"))),
        };
        // The loop has ended where this fails.
        drop(messages.send(DaemonMessage::Done(id, done, trouble)));
    })
}

fn perform(engine: &Engine, id: &InstanceId, job: &Job) -> Result<Done, Error> {
    match job {
        // `show` also records that an agent has ended.
        Job::Settle => engine.show(id.as_str()).map(|_| Done::Settled),
        Job::Feed => engine.feed_queue(id).map(Done::FeedResult),
        Job::ReturnDraft => engine.return_draft(id).map(Done::Returned),
        Job::Finish(end) => engine.finish_turn(id, end.clone()).map(|()| Done::Finished),
        Job::Answer => {
            let answer = engine.answer_dialog(id.as_str(), DRAWN)?;
            Ok(Done::Answered(answer.outcome))
        }
        Job::Continue => engine.continue_after_limit(id).map(Done::Continued),
        Job::Suspend(reason) => engine.suspend(id, *reason).map(Done::Suspended),
    }
}
