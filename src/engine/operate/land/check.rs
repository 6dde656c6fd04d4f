//! The check of a result: a command in a checkout of its own.

use std::cell::RefCell;
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::Duration;

use crate::config::RepositoryConfig;
use crate::engine::base::{Core, Error, LandError, Progress, Scope};
use crate::engine::operate::environment::not_for_agents;
use crate::engine::operate::land::options::LandOptions;
use crate::engine::operate::land::place::{CheckPlace, Checked};
use crate::engine::operate::setup::{self, Consent};
use crate::git::landing::uncommitted;
use crate::git::{Checkout, Repo};
use crate::model::{InstanceRecord, last_lines, printable_line};
use crate::process::{Command, Supervised};

const SHOWN_LINES: usize = 20;
/// The output of the last check, below the instance's directory.
const LOG: &str = "land-check.log";

impl Core {
    /// The check that the repository of an instance asks for.
    pub(crate) fn repository_check(&self, given: &str) -> Result<Option<String>, Error> {
        let record = self.find(given, Scope::Here)?.record;
        let repository = Repo::discover(&record.repository.root)?;
        if repository.is_bare() {
            return Ok(None);
        }
        Ok(RepositoryConfig::load(repository.root())?.land.check)
    }

    /// The command that a result must pass. One that comes with the repository needs consent.
    pub(super) fn land_check(
        &self,
        repository: &Repo,
        options: &LandOptions,
    ) -> Result<Option<String>, Error> {
        if let Some(command) = &options.check {
            return Ok(Some(command.clone()));
        }
        if repository.is_bare() || options.check_consent == Consent::Refused {
            return Ok(None);
        }
        let Some(command) = RepositoryConfig::load(repository.root())?.land.check else {
            return Ok(None);
        };
        match options.check_consent {
            Consent::Given => self.remember_consent(repository.root(), &command)?,
            Consent::AsBefore if self.has_consent(repository.root(), &command)? => {}
            Consent::AsBefore | Consent::Refused => {
                return Err(LandError::CheckConsent { command }.into());
            }
        }
        Ok(Some(command))
    }

    /// Runs the check on the result. What it writes does not land.
    pub(super) fn run_check(
        &self,
        place: &CheckPlace,
        checked: &Checked<'_>,
        command: &str,
        setup_consent: Consent,
        progress: &mut dyn Progress,
    ) -> Result<(), Error> {
        let wanted = self.wanted_setup(checked.repository, setup_consent)?;
        let checkout = self.ready_check_place(place, checked, progress)?;
        // Its processes are recognised by a mark of their own: the agent has that of the instance.
        let mut scratch = checked.record.clone();
        scratch.id = place.mark.clone();
        scratch.worktree.path = place.path.clone();
        let grace = self.settings().pause.stop;
        let passed = match &wanted {
            Some(wanted) => setup::clear(wanted, &scratch)
                .and_then(|()| setup::perform(wanted, &scratch, grace, progress)),
            None => Ok(()),
        };
        let passed =
            passed.and_then(|()| self.run_in(checked, &scratch, &checkout, command, progress));
        self.leave_check_place(place, checked.repository, progress);
        passed
    }

    fn run_in(
        &self,
        checked: &Checked<'_>,
        scratch: &InstanceRecord,
        checkout: &Checkout,
        command: &str,
        progress: &mut dyn Progress,
    ) -> Result<(), Error> {
        let log = checked.dir.path.join(LOG);
        let failed = |status: String, output: &str| {
            Error::from(LandError::CheckFailed {
                title: checked.record.title.clone(),
                target: checked.target.to_owned(),
                command: command.to_owned(),
                status,
                output: last_lines(output.trim_end(), SHOWN_LINES).to_owned(),
                log: log.clone(),
            })
        };
        let Checked { record, target, .. } = checked;
        progress.note(&format!(
            "checking `{}` on top of `{target}` in {}: {command}",
            record.title,
            checkout.dir.display()
        ));
        let limit = self.settings().land.check_timeout;
        let ended = supervise(checked, scratch, command, &log, limit, self, progress)?;
        match ended {
            Supervised::Ended { status, .. } if status.success() => {}
            Supervised::Ended { status, said } => return Err(failed(status.to_string(), &said)),
            Supervised::Interrupted(stopped) => {
                stopped?;
                return Err(Error::Interrupted);
            }
            Supervised::TooLate(stopped) => {
                stopped?;
                let said = std::fs::read(&log).unwrap_or_default();
                let limit = humantime::format_duration(limit);
                let status = format!("its time limit of {limit}");
                return Err(failed(status, &String::from_utf8_lossy(&said)));
            }
        }
        let changed = uncommitted(checkout).map_or(0, |found| found.files.len());
        if changed > 0 {
            progress.note(&format!(
                "the check has changed {changed} files of its own checkout; that does not land"
            ));
        }
        Ok(())
    }
}

fn supervise(
    checked: &Checked<'_>,
    scratch: &InstanceRecord,
    command: &str,
    log: &Path,
    limit: Duration,
    core: &Core,
    progress: &mut dyn Progress,
) -> Result<Supervised, Error> {
    let kept = std::fs::OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(log)
        .map_err(Error::files("write", log))?;
    let mut call = Command::new("sh")
        .args(["-c", command])
        .directory(&scratch.worktree.path)
        .env("BIV_INSTANCE", scratch.id.as_str())
        .env("BIV_MAIN_CHECKOUT", checked.repository.root())
        .env("BIV_LAND_TARGET", checked.target)
        .env("BIV_LAND_COMMIT", checked.commit)
        .deadline(limit);
    for name in not_for_agents() {
        call = call.env_remove(name);
    }
    let lines = RefCell::new((NewLines::of(log)?, progress));
    // Asked every few milliseconds: what was printed meanwhile is shown then.
    let look = || {
        let mut lines = lines.borrow_mut();
        let (lines, progress) = &mut *lines;
        lines.show(*progress);
        progress.is_interrupted()
    };
    let grace = core.settings().pause.stop;
    let ended = call.supervise_into(&scratch.marker(), grace, &look, Some(kept))?;
    look();
    Ok(ended)
}

/// The lines that were added to a file since the last look.
struct NewLines {
    file: File,
    begun: Vec<u8>,
}

impl NewLines {
    fn of(path: &Path) -> Result<Self, Error> {
        let file = File::open(path).map_err(Error::files("read", path))?;
        Ok(Self {
            file,
            begun: Vec::new(),
        })
    }

    fn show(&mut self, progress: &mut dyn Progress) {
        // What cannot be shown is in the file all the same.
        drop(self.file.read_to_end(&mut self.begun));
        while let Some(end) = self.begun.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.begun.drain(..=end).collect();
            let text = String::from_utf8_lossy(&line);
            progress.note(&format!("  | {}", printable_line(text.trim_end())));
        }
    }
}
