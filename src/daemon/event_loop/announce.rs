//! Tells subscribers and the user what has changed.

use std::sync::Arc;

use super::EventLoop;
use crate::daemon::notices::Notice;
use crate::daemon::scheduler::Announcement;
use crate::daemon::thread::{log, spawn};
use crate::engine::Notification;
use crate::model::{InstanceId, State};

impl EventLoop {
    pub(super) fn announce(&self, id: &InstanceId, announcements: Vec<Announcement>) {
        for announcement in announcements {
            match announcement {
                Announcement::Activity {
                    activity,
                    previous,
                    until,
                } => self.engine.emit_activity(id, activity, previous, until),
                Announcement::Notice(notice) => self.notify(id, notice),
            }
        }
    }

    fn notify(&self, id: &InstanceId, notice: Notice) {
        let Some(scheduler) = self.schedulers.get(id) else {
            return;
        };
        let message = match notice {
            Notice::NeedsYou => "needs you".to_owned(),
            Notice::Finished => "has finished".to_owned(),
            Notice::Failed => match &scheduler.status().queue_stopped {
                Some(reason) => format!("its queue has stopped: {reason}"),
                None if scheduler.status().state == State::Interrupted => {
                    "was interrupted: its tmux server is gone".to_owned()
                }
                None => "has failed".to_owned(),
            },
        };
        let notification = Notification {
            name: notice.name(),
            instance: id.clone(),
            title: scheduler.status().title.clone(),
            message,
        };
        let engine = Arc::clone(&self.engine);
        spawn("notify", move || {
            for trouble in engine.notify(&notification) {
                log(&trouble);
            }
        });
    }

    pub(super) fn forward_events(&mut self) {
        loop {
            match self.events.next() {
                Ok(lines) if lines.is_empty() => return,
                Ok(lines) => {
                    for line in lines {
                        self.subscribers.announce(&line);
                    }
                }
                Err(error) => return log(&error.to_string()),
            }
        }
    }
}
