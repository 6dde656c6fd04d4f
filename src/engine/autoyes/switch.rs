//! Switches autoyes on and off, for one instance and for a limited time.

use std::time::Duration;

use crate::engine::base::{Core, Error, Scope, now};
use crate::model::{AutoyesSwitch, EventKind, InstanceRecord, Timestamp, Title};

/// The warning when autoyes starts as root.
const AS_ROOT: &str = "autoyes answers for an agent that runs as root: what it accepts can do anything to this machine";

/// The same for an agent in a seal.
const AS_SEALED_ROOT: &str = "autoyes answers for an agent that runs as root: what it accepts can do anything that its seal allows";

/// The state of autoyes for an instance.
#[derive(Debug, serde::Serialize)]
pub(crate) struct AutoyesState {
    pub id: crate::model::InstanceId,
    pub title: Title,
    pub autoyes: bool,
    pub until: Option<Timestamp>,
    /// Why it was switched off other than by the user.
    pub stopped: Option<String>,
    /// What the user should know before going away.
    pub warnings: Vec<String>,
}

impl Core {
    /// Whether autoyes is on for an instance, and until when.
    pub(crate) fn autoyes(&self, given: &str) -> Result<AutoyesState, Error> {
        let found = self.find(given, Scope::Living)?;
        let switch = found.dir.autoyes(&found.record)?;
        Ok(self.autoyes_state(&found.record, &switch))
    }

    /// Switches autoyes on, for as long as the policy or the caller says.
    pub(crate) fn autoyes_on(
        &self,
        given: &str,
        lasts: Option<Duration>,
    ) -> Result<AutoyesState, Error> {
        self.prepare()?;
        let found = self.find(given, Scope::Here)?;
        let until = match lasts {
            Some(lasts) => after(lasts),
            None => self.autoyes_ends(),
        };
        self.turn(&found.record, &AutoyesSwitch::turned(true, until, now()))
    }

    /// Switches autoyes off at once, without waiting for an operation in progress.
    pub(crate) fn autoyes_off(&self, given: &str) -> Result<AutoyesState, Error> {
        let found = self.find(given, Scope::Living)?;
        self.turn(&found.record, &AutoyesSwitch::turned(false, None, now()))
    }

    /// Ends autoyes because something went wrong, and reports it, also if it could not be ended.
    pub(super) fn stop_autoyes(&self, record: &InstanceRecord, reason: &str) -> Result<(), Error> {
        let turned = self.turn(record, &AutoyesSwitch::stopped(reason, now()));
        let data = serde_json::json!({
            "reason": reason,
            "autoyes": turned.is_err(),
            "error": turned.as_ref().err().map(Error::told),
        });
        self.emit(EventKind::AutoyesStopped, record, data);
        turned.map(drop)
    }

    fn turn(&self, record: &InstanceRecord, switch: &AutoyesSwitch) -> Result<AutoyesState, Error> {
        self.store.instance(&record.id).turn_autoyes(switch)?;
        self.wake_daemon(Some(&record.id));
        Ok(self.autoyes_state(record, switch))
    }

    /// When autoyes ends by default if it is switched on now.
    pub(in crate::engine) fn autoyes_ends(&self) -> Option<Timestamp> {
        // With a mistake in the policy nothing is answered anyway.
        let options = self.policy(&[]).map(|policy| policy.options);
        after(options.unwrap_or_default().lasts)
    }

    /// What to say when autoyes starts: every time, not only once.
    pub(crate) fn autoyes_warnings(
        &self,
        record: Option<&InstanceRecord>,
        sealed: bool,
    ) -> Vec<String> {
        let mut warnings = Vec::new();
        if rustix::process::geteuid().is_root() {
            let warning = if sealed { AS_SEALED_ROOT } else { AS_ROOT };
            warnings.push(warning.to_owned());
        }
        let checkouts: Vec<&std::path::Path> = record
            .map(|record| {
                vec![
                    record.worktree.path.as_path(),
                    record.repository.root.as_path(),
                ]
            })
            .unwrap_or_default();
        warnings.extend(self.policy_doubt());
        if let Err(mistake) = self.policy(&checkouts) {
            warnings.push(crate::engine::autoyes::policy::off(&mistake));
        }
        warnings
    }

    fn autoyes_state(&self, record: &InstanceRecord, switch: &AutoyesSwitch) -> AutoyesState {
        let on = switch.is_on(now());
        AutoyesState {
            id: record.id.clone(),
            title: record.title.clone(),
            autoyes: on,
            until: switch.until.filter(|_| on),
            stopped: switch.stopped.clone(),
            warnings: if on {
                self.autoyes_warnings(Some(record), record.seal.is_some())
            } else {
                Vec::new()
            },
        }
    }
}

fn after(lasts: Duration) -> Option<Timestamp> {
    let lasts = chrono::Duration::from_std(lasts).ok()?;
    Some(Timestamp::new(
        chrono::Utc::now().checked_add_signed(lasts)?,
    ))
}
