//! Starts the agent, sends its first prompt, stops it.

use std::time::{Duration, Instant};

use crate::agents::{Readiness, StopBy, Strategy};
use crate::detect::RestKind;
use crate::engine::base::error::what_is_open;
use crate::engine::base::{Error, now};
use crate::engine::operate::first_sign::{Sign, first_sign};
use crate::engine::operate::options::Launch;
use crate::engine::operate::steps::fact;
use crate::engine::operate::steps::keys::press;
use crate::engine::operate::steps::work::{Work, look_at_tree};
use crate::engine::typing::delivery::{Receipt, Wording, type_in};
use crate::engine::typing::drafts::lack_of;
use crate::engine::typing::put_back::put_back;
use crate::engine::typing::ready::{Patience, await_ready, died};
use crate::engine::watch::look::{Found, Watched};
use crate::lifecycle::{Facts, Operation};
use crate::model::{Activity, AgentPlace, RestingState, printable_line};
use crate::process::processes_in;
use crate::tmux::Server;

/// How long recovery may wait for an agent.
const RECOVERY_PATIENCE: Duration = Duration::from_secs(5);
/// A launcher whose operation is gone ends at once; one that runs longer has become the agent.
const LAUNCHER_END: Duration = Duration::from_secs(1);

/// What became of a draft.
enum Returned {
    Typed,
    /// A dialog is open: the daemon types it later.
    Waits,
    No,
}

impl Work<'_> {
    pub(super) fn start_agent(&mut self, facts: &Facts) -> Result<Facts, Error> {
        if let Some(waiting) = self.waiting.take() {
            waiting.go()?;
            return Ok(Facts::none());
        }
        // Recovered after a crash: whether "go" was sent is known only by looking.
        let place: Option<AgentPlace> = facts.read(fact::PLACE)?;
        if place.is_some_and(|place| outlives_its_launcher(&place)) {
            return Ok(Facts::none());
        }
        let reopened = self.open_session(facts)?;
        if let Some(waiting) = self.waiting.take() {
            waiting.go()?;
        }
        Ok(reopened)
    }

    /// A prompt whose delivery was begun before a crash may have arrived: it is not sent twice.
    pub(super) fn intend_send_prompt(&self, facts: &Facts) -> Facts {
        if facts.has(fact::PROMPT_BEGUN) {
            Facts::none().with(fact::PROMPT_UNSURE, &true)
        } else {
            Facts::none().with(fact::PROMPT_BEGUN, &true)
        }
    }

    /// The prompt first: what the user has not finished goes into a box that is empty again.
    pub(super) fn send_prompt(&mut self, facts: &Facts) -> Result<Facts, Error> {
        let sent = self.send_given_prompt(facts)?;
        self.return_draft(facts)?;
        Ok(sent)
    }

    /// Types what stood in the input box at the pause, without submitting it. Where that is not possible the
    /// user is told the text, and it stays in the record.
    fn return_draft(&mut self, facts: &Facts) -> Result<(), Error> {
        let draft: Option<String> = facts.read(fact::DRAFT)?;
        let (Some(draft), Some(place)) = (draft, self.record.place.clone()) else {
            return Ok(());
        };
        // An instance that is not resumed keeps the draft in its record.
        if facts.has(fact::NOT_RESUMED) {
            return Ok(());
        }
        // The mark of a paste, typed, would be a text about nothing; a part would pass for all of it.
        let typeable = !facts.has(fact::PROMPT_UNSURE) && lack_of(&draft).is_none();
        let returned = match typeable {
            true => self.type_draft(&draft, &place, facts.has(fact::PROMPT))?,
            false => Returned::No,
        };
        let became = match returned {
            Returned::Typed => {
                self.record.draft = None;
                return Ok(self.dir.save(&mut self.record)?);
            }
            Returned::Waits => {
                self.record.draft_waits = true;
                self.dir.save(&mut self.record)?;
                "is typed again when its dialog is answered, if the daemon runs"
            }
            Returned::No => "was not typed again",
        };
        self.progress.note(&format!(
            "what stood in the input box {became}; `biv show` keeps it: {}",
            printable_line(&draft)
        ));
        Ok(())
    }

    fn type_draft(
        &self,
        draft: &str,
        place: &AgentPlace,
        working: bool,
    ) -> Result<Returned, Error> {
        let server = self.core.server_of(&self.record);
        let agent = self.watched(&server, place)?;
        let ready = self.core.settings().resume.ready;
        let _typing = self.dir.lock_typing(ready)?;
        let patience = Patience {
            starting: ready,
            busy: Some(ready),
        };
        let returned = match working {
            // Its box is open while it works.
            true => Ok(()),
            false => await_ready(&agent, &self.record.title, patience),
        };
        match returned.and_then(|()| put_back(&agent, draft)) {
            Ok(true) => Ok(Returned::Typed),
            Ok(false) => Ok(Returned::No),
            Err(Error::NeedsPerson { .. }) => Ok(Returned::Waits),
            Err(error) => {
                tracing::warn!(%error, "type a draft back");
                Ok(Returned::No)
            }
        }
    }

    fn send_given_prompt(&mut self, facts: &Facts) -> Result<Facts, Error> {
        let prompt: Option<String> = facts.read(fact::PROMPT)?;
        let (Some(prompt), Some(place)) = (prompt, self.record.place.clone()) else {
            return Ok(Facts::none());
        };
        if facts.has(fact::NOT_RESUMED) {
            return Ok(Facts::none());
        }
        if facts.has(fact::PROMPT_UNSURE) {
            self.progress
                .note("the first prompt may not have been sent: look, and send it again if not");
            return Ok(Facts::none());
        }
        let ready = if self.recovering {
            RECOVERY_PATIENCE
        } else {
            self.core.settings().launch.ready
        };
        let server = self.core.server_of(&self.record);
        let _typing = self.dir.lock_typing(ready)?;
        let patience = Patience {
            starting: ready,
            busy: Some(ready),
        };
        let agent = self.watched(&server, &place)?;
        let last = || self.core.last_prompt(&self.dir, &self.record);
        let delivered = await_ready(&agent, &self.record.title, patience).and_then(|()| {
            let noted = self.core.note_prompt(&self.dir, &prompt);
            let told = || (self.core).has_told(&self.dir, &self.record, &noted, &prompt);
            match type_in(&agent, &prompt, Wording::Text, &last, &told) {
                Ok(Receipt::NoTurn) => Err(Error::NoTurn {
                    title: self.record.title.clone(),
                }),
                // An agent that has ended since may have been told to by the prompt.
                Ok(_) => Ok(noted),
                Err(error) => {
                    if let Ok(at) = noted {
                        // A note that stays only matters for a prompt of the same text.
                        drop(self.core.forget_prompt(&self.dir, at, &prompt));
                    }
                    Err(error)
                }
            }
        });
        match delivered {
            Ok(noted) => {
                let recorded = noted
                    .and_then(|at| self.core.record_sent(&self.dir, &self.record, &prompt, at));
                // It has arrived; it must not be sent again because it is missing in the log.
                if let Err(error) = recorded {
                    self.progress
                        .note(&format!("the prompt was not recorded: {error}"));
                }
                Ok(Facts::none())
            }
            // Trying again would not help. The instance exists, and the caller is told.
            Err(
                error @ (Error::AgentDied { .. }
                | Error::NeedsPerson { .. }
                | Error::AtUsageLimit { .. }
                | Error::NotReady { .. }
                | Error::DraftInTheWay { .. }
                | Error::UnknownCommand { .. }
                | Error::NoTurn { .. }
                | Error::NotSubmitted),
            ) => {
                // Nothing was typed: the agent gets it when the user has settled what is open.
                let queued = matches!(
                    error,
                    Error::NeedsPerson { .. }
                        | Error::AtUsageLimit { .. }
                        | Error::NotReady { .. }
                        | Error::DraftInTheWay { .. }
                );
                if queued {
                    self.dir
                        .change_queue(|queue| queue.put_ahead(prompt.clone(), now()))?;
                }
                self.refusal = Some(Error::PromptNotSent {
                    id: self.record.id.clone(),
                    title: self.record.title.clone(),
                    queued,
                    source: Box::new(error),
                });
                Ok(Facts::none())
            }
            Err(error) => Err(error),
        }
    }

    fn watched<'a>(
        &'a self,
        server: &'a Server,
        place: &'a AgentPlace,
    ) -> Result<Watched<'a>, Error> {
        Ok(Watched {
            server,
            pane: &place.pane,
            title: &self.record.title,
            provider: self.provider()?,
            dir: &self.dir,
            host: &self.core.host,
            leader: Some(&place.agent),
            since: None,
        })
    }

    /// Ends the whole process tree: the pane's session, its descendants, and every process with the
    /// instance's variable in its environment.
    pub(super) fn stop_agent(&mut self, facts: &Facts) -> Result<Facts, Error> {
        let grace = self.core.settings().pause.stop;
        // A pause has waited for the last of them, and none can work in a directory that was put away. Looking
        // at every process of the machine would take longer than the rest of the step.
        let rests = self.record.state == RestingState::Paused && !self.recovering;
        if !rests || self.record.worktree.path.exists() {
            look_at_tree(&mut self.tree, &self.record);
        }
        self.close_shell()?;
        self.ask_to_exit(grace)?;
        if let Some(tree) = self.tree.take().filter(|tree| !rests || !tree.is_empty()) {
            tree.stop(grace)?;
        }
        self.queue_what_waited(facts)?;
        self.name_foreign_processes();
        Ok(Facts::none())
    }

    /// Ends the user's shell as a closed terminal does: shells ignore SIGTERM. What it runs is named.
    fn close_shell(&mut self) -> Result<(), Error> {
        if self.without_session {
            return Ok(());
        }
        let server = self.core.server_of(&self.record);
        let Some(shell) = server.shell_of(&self.record.id)? else {
            return Ok(());
        };
        if let Some(program) = shell.running {
            self.progress.note(&format!(
                "warning: the shell of `{}` runs {}, which is ended with it",
                self.record.title,
                printable_line(&program)
            ));
        }
        Ok(server.close_shell(&self.record.id)?)
    }

    /// A process in the worktree that may be the agent's, and may be the user's: it is named, and left
    /// alone.
    fn name_foreign_processes(&mut self) {
        let Some(agent) = self.record.place.as_ref().map(|place| &place.agent) else {
            return;
        };
        // Nothing works in a directory that was put away.
        if !self.record.worktree.path.exists() {
            return;
        }
        for (process, name) in processes_in(&self.record.worktree.path, agent) {
            self.progress.note(&format!(
                "warning: process {} ({}) still works in the worktree; it is not proved to be the agent's and was left alone",
                process.pid,
                printable_line(&name)
            ));
        }
    }

    /// Some agents save more when they are asked to exit than when they get a signal.
    fn ask_to_exit(&self, grace: Duration) -> Result<(), Error> {
        // An agent whose file was deleted gets the signal alone.
        let Ok(provider) = self.provider() else {
            return Ok(());
        };
        let Some(place) = self
            .record
            .place
            .as_ref()
            .filter(|place| place.agent.is_alive())
        else {
            return Ok(());
        };
        if provider.stop_by() == StopBy::Signal {
            return Ok(());
        }
        press(
            &self.core.server_of(&self.record),
            &place.pane,
            provider.exit_keys(),
        )?;
        let deadline = Instant::now() + grace;
        while place.agent.is_alive() && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }

    /// An agent that was stopped for something that is taken back goes on where it was, by its own
    /// resume. One that was to be killed stays dead.
    pub(super) fn undo_stop_agent(&mut self) -> Result<(), Error> {
        let was_running = self.record.state == RestingState::Running;
        let alive = self
            .record
            .place
            .as_ref()
            .is_some_and(|place| place.agent.is_alive());
        if self.operation == Operation::Kill || !was_running || alive {
            return Ok(());
        }
        let launch = self.core.choose_launch(&self.record, false);
        let assigns = self.core.provider_of(&self.record)?.assigns_session_id();
        let renewed = assigns && matches!(launch, Ok(Launch::Fresh));
        if renewed {
            self.record.session_ref = Some(uuid::Uuid::new_v4().to_string());
        }
        // One that cannot be resumed is at least there again, as it was at first.
        let launch = launch.unwrap_or(Launch::Fresh);
        let reference = self.record.session_ref.clone();
        self.core.server().close_session(&self.record.id)?;
        self.stop_survivors()?;
        let opened = self.open(launch, reference.as_deref())?;
        if let Some(waiting) = self.waiting.take() {
            waiting.go()?;
        }
        self.record.place = opened.read(fact::PLACE)?;
        self.record.updated_at = now();
        self.dir.save(&mut self.record)?;
        if renewed {
            self.core.write_run_reference(&self.dir, &self.record)?;
        }
        Ok(())
    }

    /// Waits until a resumed agent is there. One that ends at once was not resumed; one that asks
    /// something (to be trusted, to log in) runs and needs the user; one that takes longer than
    /// `resume.ready` runs, too.
    pub(super) fn await_ready(&mut self, facts: &Facts) -> Result<Facts, Error> {
        let Some(place) = facts.read(fact::PLACE)? else {
            return Ok(Facts::none());
        };
        let ready = if self.recovering {
            RECOVERY_PATIENCE
        } else {
            self.core.settings().resume.ready
        };
        let server = self.core.server();
        let provider = self.provider()?;
        let agent = self.watched(&server, &place)?;
        match await_back(&agent, ready) {
            Ok(None) => Ok(Facts::none()),
            Ok(Some(activity)) => {
                let says = agent.says()?;
                // A prompt that cannot be sent says the same.
                if !facts.has(fact::PROMPT) {
                    self.progress.note(&format!(
                        "the agent waits for you: {}; `biv attach` shows it",
                        what_is_open(activity, says.as_deref())
                    ));
                }
                Ok(Facts::none())
            }
            // A plain command may well be done by now.
            Err(Error::AgentDied { code: 0, .. }) if provider.strategy() != Strategy::Native => {
                Ok(Facts::none())
            }
            Err(Error::AgentDied { code, last_words }) => {
                let why = if provider.says_unknown_session(&last_words) {
                    format!("the agent does not know this session any more: {last_words}")
                } else {
                    format!("the agent ended with exit status {code}: {last_words}")
                };
                Ok(Facts::none().with(fact::NOT_RESUMED, &why))
            }
            Err(error) => Err(error),
        }
    }
}

/// Waits until a resumed agent shows something that its rules know; one without rules is back when it
/// runs. Returns what it waits for the user with, if it does.
fn await_back(agent: &Watched<'_>, ready: Duration) -> Result<Option<Activity>, Error> {
    let mut open = None;
    let dead = match (agent.provider.readiness(), agent.leader) {
        (Readiness::Quiet(_), Some(leader)) => first_sign(leader) == Sign::Death,
        (Readiness::Quiet(_), None) => false,
        (Readiness::Rules, _) => match agent.until_shown(ready)? {
            Found::Gone | Found::AtRest(RestKind::Exited) => true,
            Found::AtRest(RestKind::Waiting(activity)) => {
                open = Some(activity);
                false
            }
            Found::AtRest(RestKind::Idle | RestKind::Quiet) | Found::StillMoving(_) => false,
        },
    };
    match dead {
        true => Err(died(agent.server, agent.pane)?),
        false => Ok(open),
    }
}

fn outlives_its_launcher(place: &AgentPlace) -> bool {
    let deadline = Instant::now() + LAUNCHER_END;
    while Instant::now() < deadline {
        if !place.agent.is_alive() {
            return false;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    true
}
