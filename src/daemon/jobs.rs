//! Engine verbs, each in a thread of its own: they wait for agents and disks.

use std::sync::Arc;
use std::sync::mpsc::Sender;

use super::keeper::{Done, Job};
use super::mail::Mail;
use super::thread::spawn;
use crate::engine::{Engine, Error};
use crate::model::InstanceId;

/// Starts a job; its end comes by mail. False where it could not be begun.
pub(super) fn start(engine: &Arc<Engine>, mail: &Sender<Mail>, id: &InstanceId, job: Job) -> bool {
    let (engine, mail, id) = (Arc::clone(engine), mail.clone(), id.clone());
    spawn("job", move || {
        let (done, trouble) = match perform(&engine, &id, &job) {
            Ok(done) => (done, None),
            Err(error) => (Done::Failed, Some(format!("{job:?}: {error}"))),
        };
        // A daemon that has ended has no use for it.
        drop(mail.send(Mail::Done(id, done, trouble)));
    })
}

fn perform(engine: &Engine, id: &InstanceId, job: &Job) -> Result<Done, Error> {
    match job {
        // To look is to write down what has ended.
        Job::Settle => engine.show(id.as_str()).map(|_| Done::Settled),
        Job::Feed => engine.feed_queue(id).map(Done::Fed),
        Job::Finish(end) => engine.finish_turn(id, end.clone()).map(|()| Done::Finished),
        Job::Answer => {
            let answer = engine.answer_dialog(id.as_str())?;
            Ok(Done::Answered(answer.outcome))
        }
        Job::Suspend(reason) => engine.suspend(id, *reason).map(Done::Suspended),
    }
}
