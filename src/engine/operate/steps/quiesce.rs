//! Brings a working agent to rest before it is stopped. Here a pause decides to force.

use std::time::{Duration, Instant};

use crate::config::brief_duration;
use crate::detect::{Quiet, RestKind};
use crate::engine::base::{Error, Progress, now};
use crate::engine::operate::options::CANCEL;
use crate::engine::operate::steps::fact::{self, Quiesced};
use crate::engine::operate::steps::keys::{dismiss, interrupt, take_back_queued};
use crate::engine::operate::steps::waiting::{Inside, look_inside};
use crate::engine::operate::steps::work::{Work, look_at_tree};
use crate::engine::typing::drafts::{Lack, draft_of, lack_of};
use crate::engine::watch::look::{Found, Watched, screen_of};
use crate::lifecycle::Facts;
use crate::model::{Activity, printable_line};
use crate::process::{Identity, commands_below};
use crate::store::InstanceDir;
use crate::tmux::Pane;

/// Seconds without output after which nothing is about to be drawn. tmux counts whole seconds.
const LONG_ENOUGH: i64 = 2;

/// A prompt that was drawn this long ago stands still if it is one.
const JUST_DRAWN: Duration = Duration::from_secs(1);
/// Between two looks at work in the background.
const BETWEEN_LOOKS: Duration = Duration::from_millis(200);
/// How much of a command is named.
const LONGEST_COMMAND: usize = 200;

impl Work<'_> {
    /// Waits for the turn to end, then interrupts, then goes on whatever the agent does (forced). A
    /// dialog is never answered, only dismissed.
    pub(super) fn quiesce(&mut self, facts: &Facts) -> Result<Facts, Error> {
        let Some(options) = facts.read(fact::PAUSE)? else {
            return Ok(Facts::none());
        };
        let server = self.core.server_of(&self.record);
        let Some(pane) = server.pane_of(&self.record.id)? else {
            return Ok(Facts::none());
        };
        let provider = self.core.provider_of(&self.record)?;
        let agent = Watched {
            server: &server,
            pane: &pane.id,
            title: &self.record.title,
            provider,
            dir: &self.dir,
            host: &self.core.host,
            leader: self.record.place.as_ref().map(|place| &place.agent),
            since: Some(self.record.resumed_at.unwrap_or(self.record.created_at)),
        };
        let mut quiesced = Quiesced::default();
        let mut inside = Inside::default();
        let grace = self.core.settings().pause.grace;
        let began = Instant::now();
        // Whoever cannot wait takes the loss, too; the idle timer does not pause an agent with a draft.
        if options.wait != Some(Duration::ZERO) {
            self.require_whole_draft(&agent, &pane)?;
        }
        let mut safe = match at_rest_already(&agent, &pane)? {
            Some(rest) => Some(rest),
            None => wait(&self.dir, &agent, options.wait)?,
        };
        // What looks idle may just have been drawn: an interrupt would go to an empty prompt.
        if safe.is_none() && looks_idle(&agent)? {
            safe = wait(&self.dir, &agent, Some(JUST_DRAWN))?;
        }
        if safe == Some(RestKind::Idle) {
            let left = options
                .wait
                .map(|wait| wait.saturating_sub(began.elapsed()));
            (safe, quiesced.stopped) = await_background(&self.dir, self.progress, &agent, left)?;
        }
        // An agent whose turn an interrupt would delete is stopped as it is.
        if safe.is_none() && !provider.interrupt_keys().is_empty() {
            self.progress.note("interrupting the agent's turn");
            quiesced.cut = true;
            look_at_tree(&mut self.tree, &self.record);
            inside = look_inside(&agent, &pane)?;
            take_back_queued(&agent)?;
            interrupt(&agent, grace)?;
            safe = wait(&self.dir, &agent, Some(grace))?;
            if safe == Some(RestKind::Idle) {
                let over = Some(Duration::ZERO);
                (safe, quiesced.stopped) =
                    await_background(&self.dir, self.progress, &agent, over)?;
            }
        }
        if let Some(RestKind::Waiting(Activity::Approval | Activity::Question)) = safe {
            quiesced.asked = asked(&agent)?;
            quiesced.cut = true;
            let what = quiesced.asked.as_deref();
            let what = what.map_or_else(String::new, |asked| format!(": it {asked}"));
            self.progress
                .note(&format!("declining the open dialog{what}"));
            // What stands still with its dialog open has not taken the key, and would ask again.
            safe = match dismiss(&agent, grace)? {
                true => wait_recorded(&self.dir, &agent, grace)?,
                false => None,
            };
        }
        let held = inside.divide(draft_of(&agent, &pane)?);
        (quiesced.queued, quiesced.draft) = (held.prompts, held.draft);
        quiesced.at = Some(now());
        if safe.is_none() {
            quiesced.forced = true;
            quiesced.cut = true;
            self.progress
                .note("the agent did not come to rest and is stopped all the same");
        }
        Ok(Facts::none().with(fact::QUIESCED, &quiesced))
    }

    /// What the agent does not show of a text that was not sent would be lost with it.
    fn require_whole_draft(&self, agent: &Watched<'_>, pane: &Pane) -> Result<(), Error> {
        let title = || self.record.title.clone();
        match draft_of(agent, pane)?.as_deref().and_then(lack_of) {
            Some(Lack::Paste) => Err(Error::PasteInTheWay { title: title() }),
            Some(Lack::Rows) => Err(Error::LongDraftInTheWay { title: title() }),
            None => Ok(()),
        }
    }
}

/// The commands that run behind the prompt, else how many there are.
fn named(work: &str, leader: Option<&Identity>) -> Vec<String> {
    let commands = leader.map(commands_below).unwrap_or_default();
    if commands.is_empty() {
        return vec![printable_line(work)];
    }
    let shown = |command: &String| cut(&printable_line(command), LONGEST_COMMAND);
    commands.iter().map(shown).collect()
}

fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or(text)),
        None => text.to_owned(),
    }
}

/// Whether the agent shows its prompt, by all that is known of it.
fn looks_idle(agent: &Watched<'_>) -> Result<bool, Error> {
    Ok(agent.look()?.is_some_and(|shot| {
        let verdict = agent.verdict(&screen_of(&shot), &shot.title, Duration::ZERO);
        verdict.activity == Activity::Idle
    }))
}

/// An agent that has said nothing for a while has been at rest for as long: one look is enough.
fn at_rest_already(agent: &Watched<'_>, pane: &Pane) -> Result<Option<RestKind>, Error> {
    let silent = now().seconds_since_epoch() - pane.active_at;
    let Some(shot) = agent.look()?.filter(|_| silent > LONG_ENOUGH) else {
        return Ok(None);
    };
    let still = Duration::from_secs(u64::try_from(silent).unwrap_or_default());
    let verdict = agent.verdict(&screen_of(&shot), &shot.title, still);
    let window = match agent.provider.readiness().quiet() {
        Quiet::After(window) => i64::try_from(window.as_secs()).unwrap_or(i64::MAX),
        Quiet::Ignored | Quiet::Counts => i64::MAX,
    };
    Ok(match verdict.activity {
        Activity::Idle => Some(RestKind::Idle),
        Activity::Approval | Activity::Question | Activity::Blocked | Activity::Menu => {
            Some(RestKind::Waiting(verdict.activity))
        }
        Activity::Unknown if silent > window => Some(RestKind::Quiet),
        Activity::Busy | Activity::Exited | Activity::Unknown => None,
    })
}

/// The question of an open dialog, in one line.
fn asked(agent: &Watched<'_>) -> Result<Option<String>, Error> {
    let Some(shot) = agent.look()? else {
        return Ok(None);
    };
    let verdict = agent.provider.judge(&screen_of(&shot), Some(&shot.title));
    Ok(verdict.dialog.map(|dialog| {
        let about = dialog
            .command
            .or_else(|| Some(dialog.paths.join(", ")).filter(|paths| !paths.is_empty()))
            .or(dialog.question)
            .unwrap_or_default();
        printable_line(&format!("asked for permission: {about}"))
    }))
}

/// Waits for what the agent has started behind its prompt, which would end with it. Names what still
/// runs when the time is over.
fn await_background(
    dir: &InstanceDir,
    progress: &mut dyn Progress,
    agent: &Watched<'_>,
    limit: Option<Duration>,
) -> Result<(Option<RestKind>, Vec<String>), Error> {
    let began = Instant::now();
    let left = || limit.map(|limit| limit.saturating_sub(began.elapsed()));
    let mut told = false;
    while let Some(work) = agent.background()? {
        if left().is_some_and(|left| left.is_zero()) {
            let stopped = named(&work, agent.leader);
            progress.note(&format!(
                "stopping what runs in the background: {}",
                stopped.join("; ")
            ));
            return Ok((Some(RestKind::Idle), stopped));
        }
        if !told {
            let most = limit.map_or_else(String::new, |limit| {
                format!("up to {} ", brief_duration(limit))
            });
            progress.note(&format!(
                "waiting {most}for what runs in the background: {work}"
            ));
            told = true;
        }
        if dir.path.join(CANCEL).exists() {
            return Err(Error::Cancelled);
        }
        std::thread::sleep(BETWEEN_LOOKS);
        // The end of such work may begin another turn.
        if !looks_idle(agent)? {
            let Some(rest) = wait(dir, agent, left())? else {
                return Ok((None, Vec::new()));
            };
            if rest != RestKind::Idle {
                return Ok((Some(rest), Vec::new()));
            }
        }
    }
    Ok((Some(RestKind::Idle), Vec::new()))
}

/// As [`wait`], after a dialog was dismissed: one that its agent still has in its files would be asked again after a
/// resume.
fn wait_recorded(
    dir: &InstanceDir,
    agent: &Watched<'_>,
    grace: Duration,
) -> Result<Option<RestKind>, Error> {
    let since = Instant::now();
    loop {
        let rest = wait(dir, agent, Some(grace))?;
        let open = matches!(
            rest,
            Some(RestKind::Waiting(Activity::Approval | Activity::Question))
        );
        if !open || since.elapsed() > grace {
            return Ok(rest);
        }
        std::thread::sleep(BETWEEN_LOOKS);
    }
}

/// Waits until the agent is at rest; None when the time is over. The pause can be cancelled meanwhile.
fn wait(
    dir: &InstanceDir,
    agent: &Watched<'_>,
    limit: Option<Duration>,
) -> Result<Option<RestKind>, Error> {
    let cancel = dir.path.join(CANCEL);
    let mut cancelled = false;
    let quiet = match agent.provider.readiness().quiet() {
        // An agent with rules shows when it is at rest; a silent one may still be thinking.
        Quiet::Ignored => Quiet::Counts,
        other => other,
    };
    let found = agent.until_rest(quiet, |elapsed, _| {
        cancelled = cancel.exists();
        !cancelled && limit.is_none_or(|limit| elapsed < limit)
    })?;
    if cancelled {
        return Err(Error::Cancelled);
    }
    Ok(match found {
        Found::AtRest(rest) => Some(rest),
        Found::Gone => Some(RestKind::Exited),
        Found::StillMoving(_) => None,
    })
}
