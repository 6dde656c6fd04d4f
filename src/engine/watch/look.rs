//! Looks at one agent until it is at rest.

use std::time::{Duration, Instant};

use crate::agents::{Host, Provider};
use crate::detect::{Quiet, RestKind, Screen, Settle, Verdict, combine};
use crate::engine::base::error::what_is_open;
use crate::engine::base::pace::Waiting;
use crate::engine::base::{Core, Error, now, pace};
use crate::engine::watch::archive::BANNERS;
use crate::engine::watch::limit::with_limit;
use crate::engine::watch::self_report::self_report;
use crate::model::{Activity, AgentPlace, InstanceRecord, Timestamp, Title, UsageLimit, printable};
use crate::process::Identity;
use crate::store::InstanceDir;
use crate::tmux::{Screenshot, Server};

/// Time between two looks: short for a user who waits, long compared with the cost of one look.
const INTERVAL: Duration = Duration::from_millis(40);

/// After a start the next look follows sooner: most agents draw themselves within milliseconds.
const FIRST_INTERVAL: Duration = Duration::from_millis(2);

/// How long an agent counts as one that was just started.
const JUST_STARTED: Duration = Duration::from_secs(60);

/// How a wait ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::engine) enum Found {
    AtRest(RestKind),
    /// The time ran out; this was the agent's last activity.
    StillMoving(Activity),
    Gone,
}

/// One agent, its pane, and the directory with its hook reports.
#[derive(Debug, Clone, Copy)]
pub(in crate::engine) struct Watched<'a> {
    pub server: &'a Server,
    pub pane: &'a str,
    pub title: &'a Title,
    pub provider: &'a Provider,
    pub dir: &'a InstanceDir,
    pub host: &'a Host,
    pub leader: Option<&'a Identity>,
    /// When it was started; None: just now.
    pub since: Option<Timestamp>,
}

impl Core {
    /// An agent that was started some time ago.
    pub(in crate::engine) fn watched<'a>(
        &'a self,
        server: &'a Server,
        dir: &'a InstanceDir,
        record: &'a InstanceRecord,
        place: &'a AgentPlace,
    ) -> Result<Watched<'a>, Error> {
        Ok(Watched {
            server,
            pane: &place.pane,
            title: &record.title,
            provider: self.provider_of(record)?,
            dir,
            host: &self.host,
            leader: Some(&place.agent),
            since: Some(record.resumed_at.unwrap_or(record.created_at)),
        })
    }
}

impl Watched<'_> {
    /// Looks at the pane until the agent is at rest, is gone, or `goes_on` (time so far, what the
    /// agent does) says that it was long enough.
    pub(in crate::engine) fn until_rest(
        &self,
        quiet: Quiet,
        mut goes_on: impl FnMut(Duration, Activity) -> bool,
    ) -> Result<Found, Error> {
        let started = Instant::now();
        let waiting = Waiting::begin();
        let mut settle = Settle::new(quiet).holding(self.hold());
        let mut drawn = (String::new(), started);
        loop {
            let Some(shot) = self.look()? else {
                return Ok(Found::Gone);
            };
            if shot.dead {
                return Ok(Found::AtRest(RestKind::Exited));
            }
            if shot.text != drawn.0 {
                drawn = (shot.text.clone(), Instant::now());
            }
            let screen = screen_of(&shot);
            let verdict = self.verdict(&screen, &shot.title, drawn.1.elapsed());
            if let Some(rest) = settle.observe(started.elapsed(), &screen, &verdict) {
                return Ok(Found::AtRest(rest));
            }
            if !goes_on(started.elapsed(), verdict.activity) {
                return Ok(Found::StillMoving(verdict.activity));
            }
            std::thread::sleep(waiting.interval(INTERVAL));
        }
    }

    /// Looks at the pane until the agent shows something that its rules know (its prompt, a dialog, an
    /// obstacle), is gone, or `patience` is over. Whether it stays so is not waited for, except for agents
    /// that look ready before they are.
    pub(in crate::engine) fn until_shown(&self, patience: Duration) -> Result<Found, Error> {
        if self.hold().is_some() {
            return self.until_rest(Quiet::Ignored, |elapsed, _| elapsed < patience);
        }
        let started = Instant::now();
        let mut interval = FIRST_INTERVAL;
        loop {
            let Some(shot) = self.look()? else {
                return Ok(Found::Gone);
            };
            if shot.dead {
                return Ok(Found::AtRest(RestKind::Exited));
            }
            let verdict = self.verdict(&screen_of(&shot), &shot.title, Duration::ZERO);
            match verdict.activity {
                Activity::Idle => return Ok(Found::AtRest(RestKind::Idle)),
                waiting @ (Activity::Approval
                | Activity::Question
                | Activity::Blocked
                | Activity::Menu) => {
                    return Ok(Found::AtRest(RestKind::Waiting(waiting)));
                }
                Activity::Exited => return Ok(Found::AtRest(RestKind::Exited)),
                moving @ (Activity::Busy | Activity::Unknown) => {
                    if started.elapsed() > patience {
                        return Ok(Found::StillMoving(moving));
                    }
                }
            }
            std::thread::sleep(interval);
            interval = INTERVAL.min(interval * 2);
        }
    }

    /// Some agents look ready before they are.
    fn hold(&self) -> Option<Duration> {
        let young = self
            .since
            .is_none_or(|since| since.until(now()) < JUST_STARTED);
        self.provider.hold_at_start().filter(|_| young)
    }

    /// The agent's activity, by all sources; `silent` is how long nothing was drawn.
    pub(in crate::engine) fn verdict(
        &self,
        screen: &Screen,
        title: &str,
        silent: Duration,
    ) -> Verdict {
        let seen = self.provider.judge(screen, Some(title));
        let report = self_report(self.provider, self.dir, self.host, self.leader);
        with_limit(self.dir, combine(seen, report.as_ref(), silent))
    }

    /// What is open in place of the prompt, and what Enter would do there.
    pub(in crate::engine) fn says(&self) -> Result<Option<String>, Error> {
        Ok(self.seen()?.and_then(|verdict| verdict.says))
    }

    /// What only the user can settle: a dialog, or what is open in place of the prompt.
    pub(in crate::engine) fn waits_on(&self) -> Result<Option<String>, Error> {
        let waiting = self.seen()?.filter(|verdict| verdict.activity.needs_you());
        Ok(waiting.map(|verdict| what_is_open(verdict.activity, verdict.says.as_deref())))
    }

    /// The usage limit that it shows.
    pub(in crate::engine) fn limit(&self) -> Result<Option<UsageLimit>, Error> {
        let judged =
            |shot: Screenshot| self.verdict(&screen_of(&shot), &shot.title, Duration::ZERO);
        Ok(self.look()?.map(judged).and_then(|verdict| verdict.limit))
    }

    /// What goes on behind the prompt: `1 shell`.
    pub(in crate::engine) fn background(&self) -> Result<Option<String>, Error> {
        Ok(self.seen()?.and_then(|verdict| verdict.background))
    }

    /// The verdict by screen and title alone.
    fn seen(&self) -> Result<Option<Verdict>, Error> {
        let judged = |shot: Screenshot| self.provider.judge(&screen_of(&shot), Some(&shot.title));
        Ok(self.look()?.map(judged))
    }

    pub(in crate::engine) fn look(&self) -> Result<Option<Screenshot>, Error> {
        look(self.server, self.pane)
    }
}

pub(in crate::engine) fn look(server: &Server, pane: &str) -> Result<Option<Screenshot>, Error> {
    let _permit = pace::permit();
    Ok(server.look(&[pane])?.into_iter().next())
}

/// What the agent has drawn itself: a resumed agent starts below its old screen, which says nothing
/// about its activity now.
pub(in crate::engine) fn screen_of(shot: &Screenshot) -> Screen {
    Screen::new(&shot.text)
        .with_cursor(shot.cursor)
        .below(BANNERS)
}

/// Lines that are shown of an agent that has ended.
const LAST_WORDS: usize = 15;

/// The last lines of an agent that has ended, without the replayed scrollback above them.
pub(in crate::engine) fn last_words(server: &Server, pane: &str) -> String {
    let screen = server.tail(pane, LAST_WORDS, false).unwrap_or_default();
    let words: Vec<&str> = screen
        .lines()
        .filter(|line| !line.trim().is_empty() && !line.starts_with("Pane is dead"))
        .collect();
    let is_ours = |line: &&str| BANNERS.iter().any(|banner| line.starts_with(banner));
    let own = words.iter().rposition(is_ours);
    let words = &words[own.map_or(0, |at| at + 1)..];
    let start = words.len().saturating_sub(LAST_WORDS);
    printable(&words[start..].join("\n"))
}
