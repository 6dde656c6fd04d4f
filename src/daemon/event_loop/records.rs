//! Reads records and settings again when they have changed.

use std::sync::Arc;

use super::EventLoop;
use crate::daemon::scheduler::InstanceScheduler;
use crate::daemon::thread::log;
use crate::model::InstanceId;

impl EventLoop {
    pub(super) fn load(&mut self, id: &InstanceId, found: bool) {
        let now = self.now();
        let Some(status) = self.engine.instance_status(id) else {
            self.schedulers.remove(id);
            return;
        };
        if status.queue.running > 0 {
            match self.engine.recover_queue(id) {
                Ok(true) => {
                    self.schedulers.remove(id);
                    return self.load(id, found);
                }
                Ok(false) => {}
                Err(error) => log(&format!("{id}: {error}")),
            }
        }
        self.schedulers
            .insert(id.clone(), InstanceScheduler::new(status, now, found));
    }

    pub(super) fn reload(&mut self, id: &InstanceId) {
        // Read without comparing file times: these may be too coarse to show a change.
        self.engine.has_changed(&mut self.roster, id);
        let now = self.now();
        match (self.engine.instance_status(id), self.schedulers.get_mut(id)) {
            (Some(status), Some(scheduler)) => {
                let announcements = scheduler.record_changed(now, status);
                self.announce(id, announcements);
            }
            (Some(_), None) => self.load(id, false),
            (None, _) => drop(self.schedulers.remove(id)),
        }
    }

    pub(super) fn scan_files(&mut self) {
        for id in self.engine.changed(&mut self.roster) {
            self.reload(&id);
        }
        self.read_camp();
    }

    /// Reads settings and agent files again if they have changed. Files that cannot be read change
    /// nothing.
    pub(super) fn read_settings(&mut self) {
        let sources = self.engine.sources();
        if sources == self.sources {
            return;
        }
        match self.engine.reopened() {
            Ok(engine) => {
                if engine.config().settings != self.engine.config().settings {
                    log("the settings were read again");
                }
                self.engine = Arc::new(engine);
                // The set of source files depends on the new settings.
                self.sources = self.engine.sources();
                if let Some(watcher) = &self.watcher {
                    self.engine.update_watcher(watcher);
                }
                let ids: Vec<InstanceId> = self.schedulers.keys().cloned().collect();
                for id in ids {
                    self.reload(&id);
                }
            }
            Err(error) => {
                // Logged once for each change.
                self.sources = sources;
                log(&error.to_string());
            }
        }
    }

    pub(super) fn read_camp(&mut self) {
        match self.engine.camp_is_paused() {
            Ok(paused) => self.camp_paused = paused,
            // If it cannot be read, the camp counts as paused: then nothing is started.
            Err(error) => {
                self.camp_paused = true;
                log(&error.to_string());
            }
        }
    }
}
