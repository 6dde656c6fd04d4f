//! Stored files that cannot be read: how `biv doctor` reports them and repairs damage.
//!
//! Only a file that is no JSON is ever replaced, only when asked for, and it is kept beside its successor.
//! What a newer version has written is left alone.

use std::path::Path;

use crate::engine::base::{Core, Error, Silent, now};
use crate::engine::health::finding::{Finding, Health};
use crate::engine::operate::steps::work::Work;
use crate::model::{InstanceId, InstanceRecord, RestingState, RunRecord, RunState};
use crate::store::{InstanceDir, LoadedInstance, StoreError, set_aside};

const CHECK: &str = "records";
const LEFT_ALONE: &str = "it is left alone; use the newer biv that wrote it";

impl Core {
    /// Every stored file that cannot be read; with `fix`, damaged ones are replaced by what is known.
    pub(in crate::engine) fn check_stored(&self, fix: bool) -> Result<Vec<Finding>, Error> {
        let mut findings = Vec::new();
        for id in self.store.ids()? {
            let dir = self.store.instance(&id);
            match dir.load() {
                LoadedInstance::Known { record, .. } => {
                    findings.extend(self.check_run(&dir, &record, fix));
                    if let Err(error) = dir.autoyes(&record) {
                        findings.push(self.check_switch(&record, &error, fix));
                    }
                    if let Err(error) = dir.queue() {
                        let hint = "`biv doctor --fix` moves it aside and begins an empty queue; \
                                    its prompts can be read in the file";
                        findings.push(aside(error, hint, fix));
                    }
                }
                LoadedInstance::Unreadable(error) if !error.is_missing_file() => {
                    findings.push(self.check_record(&dir, &id, &error, fix));
                }
                LoadedInstance::Unreadable(_) | LoadedInstance::Unborn { .. } => {}
            }
        }
        for (unread, hint) in self.unreadable_camp_files() {
            findings.push(aside(unread, hint, fix));
        }
        Ok(findings)
    }

    /// A switch that cannot be read counts as off.
    fn check_switch(&self, record: &InstanceRecord, error: &StoreError, fix: bool) -> Finding {
        let finding = Finding::bad(
            CHECK,
            Health::Problem,
            format!("autoyes of `{}` is off: {error}", record.title),
            format!("`biv autoyes {} off`, or on, makes it anew", record.id),
        );
        Finding {
            mended: fix && self.autoyes_off(record.id.as_str()).is_ok(),
            ..finding
        }
    }

    fn check_record(
        &self,
        dir: &InstanceDir,
        id: &InstanceId,
        error: &StoreError,
        fix: bool,
    ) -> Finding {
        let title = dir.readable_title();
        let name = title.map_or_else(|| id.to_string(), |title| format!("{id} (`{title}`)"));
        let hint = match error {
            StoreError::Corrupt { path, .. } if !is_record(path) => {
                "it is left alone, because it is not known what was under way; \
                 mend the file, or ask for help with it"
            }
            StoreError::Corrupt { .. } if dir.record_before().is_err() => {
                "it is left alone, because the record before it cannot be read either"
            }
            StoreError::Corrupt { .. } => {
                "`biv doctor --fix` restores the record from before its last change, \
                 and keeps the damaged one beside it"
            }
            _ => LEFT_ALONE,
        };
        let finding = Finding::bad(CHECK, Health::Problem, format!("{name}: {error}"), hint);
        let damaged = matches!(error, StoreError::Corrupt { path, .. } if is_record(path));
        if !fix || !damaged {
            return finding;
        }
        match self.restore_record(dir) {
            Ok(done) => Finding {
                what: format!("{name}: {done}"),
                mended: true,
                ..finding
            },
            Err(cause) => Finding {
                what: format!("{}, and {}", finding.what, cause.told()),
                ..finding
            },
        }
    }

    /// Puts the record before the last change back. Where that change was the end of an operation, its
    /// journal still knows what the operation had to record: that is recorded again.
    fn restore_record(&self, dir: &InstanceDir) -> Result<String, Error> {
        let lock = dir.try_lock_operation("doctor")?;
        let before = dir.record_before()?;
        let journal = dir.journal().read()?;
        let aside = dir.restore_record(&lock)?;
        let mut done = format!(
            "its record was damaged and is kept as {}; the record of {} was restored",
            aside.display(),
            before.updated_at.local_minute()
        );
        if let Some(journal) = journal
            && journal.is_closed()
            && journal.has_crossed()
            && before.updated_at <= journal.started_at
        {
            let operation = journal.plan.operation;
            Work::fresh(self, dir, before, &mut Silent).record_again(operation, &journal.facts)?;
            done = format!(
                "{done}, and the {} after it recorded again",
                operation.name()
            );
        }
        Ok(done)
    }

    /// The current run, without which no operation can finish.
    fn check_run(&self, dir: &InstanceDir, record: &InstanceRecord, fix: bool) -> Option<Finding> {
        let error = dir.run(&record.run).err()?;
        let damaged = matches!(error, StoreError::Corrupt { .. }) || error.is_missing_file();
        let hint = if damaged {
            "`biv doctor --fix` makes it again from the instance's record, and keeps the damaged one"
        } else {
            LEFT_ALONE
        };
        let finding = Finding::bad(
            CHECK,
            Health::Problem,
            format!("the run of `{}`: {error}", record.title),
            hint,
        );
        if !fix || !damaged {
            return Some(finding);
        }
        let path = dir.run_path(&record.run);
        let made = dir.try_lock_operation("doctor").and_then(|_lock| {
            if path.exists() {
                set_aside(&path)?;
            }
            dir.save_run(&self.run_of(record))
        });
        Some(Finding {
            mended: made.is_ok(),
            ..finding
        })
    }

    /// A run as far as the record of its instance tells of it.
    fn run_of(&self, record: &InstanceRecord) -> RunRecord {
        RunRecord {
            format: RunRecord::FORMAT,
            run_id: record.run.clone(),
            instance_id: record.id.clone(),
            state: match record.state {
                RestingState::Running => RunState::Running,
                RestingState::Paused | RestingState::Away => RunState::Paused,
                RestingState::Completed => RunState::Completed,
                RestingState::Failed => RunState::Failed,
                RestingState::Interrupted => RunState::Interrupted,
                RestingState::Killed => RunState::Killed,
            },
            provider: record.agent.clone(),
            provider_session_ref: record.session_ref.clone(),
            resumable: self.is_resumable(record),
            repo_root: record.repository.root.clone(),
            created_at: record.created_at,
            updated_at: now(),
            paused_at: record.paused_at,
            pause_reason: record.pause.as_ref().map(|pause| pause.reason),
            resumed_from_run_id: None,
            restart_of_run_id: None,
            superseded_by_run_id: None,
            exit_code: None,
        }
    }
}

/// Moves a damaged file aside; it is made again when needed.
fn aside(error: StoreError, hint: &'static str, fix: bool) -> Finding {
    let StoreError::Corrupt { path, .. } = &error else {
        return Finding::bad(CHECK, Health::Problem, error.to_string(), LEFT_ALONE);
    };
    let finding = Finding::bad(CHECK, Health::Problem, error.to_string(), hint);
    if !fix {
        return finding;
    }
    match set_aside(path) {
        Ok(aside) => Finding {
            what: format!("{error}; it is kept as {}", aside.display()),
            mended: true,
            ..finding
        },
        Err(_) => finding,
    }
}

fn is_record(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == "record.json")
}
