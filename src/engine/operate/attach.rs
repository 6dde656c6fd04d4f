//! Attaches the user's terminal to the session of an agent.

use std::ffi::OsString;
use std::io::IsTerminal;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use crate::engine::base::{Core, Error, Progress, Scope};
use crate::engine::operate::options::ResumeOptions;
use crate::engine::operate::visit::seeing_its_end;
use crate::lifecycle::Operation;
use crate::model::{Activity, InstanceId, InstanceRecord, RestingState, State, Title};
use crate::process::Command;
use crate::tmux::Server;

/// How an attachment ended.
#[derive(Debug, Clone)]
pub(crate) struct Attached {
    /// The last one, where the user went on from one instance to another.
    pub id: InstanceId,
    pub title: Title,
    pub to: AttachedTo,
    /// True if the user has detached; false if the session has ended.
    pub detached: bool,
    /// True if the session has ended because the instance was paused, from another terminal for example.
    pub paused: bool,
}

/// The window in which the user was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AttachedTo {
    Agent,
    Shell,
}

impl Core {
    /// Attaches this terminal; returns when the user detaches or the session ends. The key for the next
    /// instance that needs them ends one attachment and begins another: each holds the presence lock of
    /// its own instance.
    pub(crate) fn attach(
        &self,
        given: &str,
        progress: &mut dyn Progress,
    ) -> Result<Attached, Error> {
        if !std::io::stdin().is_terminal() || !std::io::stdout().is_terminal() {
            return Err(Error::NoTerminal);
        }
        let attached = self.attach_once(given, None, progress)?;
        self.go_on(attached, progress)
    }

    /// Goes on to the next instance that needs the user, as often as they want it.
    pub(in crate::engine) fn go_on(
        &self,
        mut attached: Attached,
        progress: &mut dyn Progress,
    ) -> Result<Attached, Error> {
        while attached.detached
            && let Some(from) = self.wish_for_next()
        {
            attached = match self.next_that_needs_you(&from)? {
                Some(next) => self.attach_once(next.as_str(), None, progress)?,
                None => self.attach_once(
                    from.as_str(),
                    Some("No other instance needs you."),
                    progress,
                )?,
            };
        }
        Ok(attached)
    }

    /// The instance from which the user of this terminal wants to go on.
    fn wish_for_next(&self) -> Option<InstanceId> {
        let terminal = rustix::termios::ttyname(std::io::stdin(), Vec::new()).ok()?;
        let terminal = PathBuf::from(OsString::from_vec(terminal.into_bytes()));
        self.server().take_wish_for_next(&terminal)
    }

    /// The instance after this one, in the order in which they were made, that needs the user.
    fn next_that_needs_you(&self, from: &InstanceId) -> Result<Option<InstanceId>, Error> {
        let mut views = self.list_briefly()?.instances;
        views.sort_by(|a, b| (a.created_at, &a.id).cmp(&(b.created_at, &b.id)));
        let at = views.iter().position(|view| view.id == *from);
        let (before, after) = views.split_at(at.map_or(0, |at| at + 1));
        let next = after.iter().chain(before).find(|view| {
            view.id != *from
                && view.state == State::Running
                && view.activity.is_some_and(Activity::needs_you)
        });
        Ok(next.map(|view| view.id.clone()))
    }

    fn attach_once(
        &self,
        given: &str,
        note: Option<&str>,
        progress: &mut dyn Progress,
    ) -> Result<Attached, Error> {
        let found = self.find(given, Scope::Here)?;
        let _presence = found.dir.lock_presence("attach")?;
        let found = self.awake(found.record.id.as_str(), &ResumeOptions::quiet(), progress)?;
        let record = found.record;
        let server = self.server_of(&record);
        if server.pane_of(&record.id)?.is_none() {
            return Err(Error::WrongState {
                verb: "attach to",
                title: record.title,
                state: record.state.into(),
            });
        }
        self.cut_turn_was_seen(&found.dir);
        let inside = std::env::var("TMUX").ok();
        let mut command = server.attach_command(&record.id, inside.as_deref());
        if let Some(note) = note {
            command = command.args([";", "display-message", note]);
        }
        let visit = || {
            attached(&record, AttachedTo::Agent, &command, || {
                Ok(server.pane_of(&record.id)?.is_some())
            })
        };
        let attached = match &record.place {
            Some(place) => seeing_its_end(&server, place, visit),
            None => visit(),
        };
        self.resize_left(&server, &record.id);
        let attached = attached?;
        Ok(Attached {
            paused: !attached.detached && self.is_pausing_or_paused(&record.id),
            ..attached
        })
    }

    fn is_pausing_or_paused(&self, id: &InstanceId) -> bool {
        self.find(id.as_str(), Scope::WithKilled)
            .is_ok_and(|found| {
                found.record.state == RestingState::Paused
                    || found
                        .journal
                        .is_some_and(|journal| journal.plan.operation == Operation::Pause)
            })
    }

    /// When the last visitor has left, the agent's window gets its own size back.
    fn resize_left(&self, server: &Server, id: &InstanceId) {
        let terminal = &self.settings().terminal;
        let resized = server.pane_of(id).and_then(|pane| match pane {
            Some(pane) => server.resize_unattended(&pane.id, terminal.columns, terminal.rows),
            None => Ok(()),
        });
        if let Err(error) = resized {
            tracing::debug!(%error, "give a window its size back");
        }
    }
}

/// Runs a client of tmux in this terminal until it ends. `is_there` says whether what it was attached to still
/// exists.
pub(in crate::engine) fn attached(
    record: &InstanceRecord,
    to: AttachedTo,
    command: &Command,
    is_there: impl Fn() -> Result<bool, Error>,
) -> Result<Attached, Error> {
    let status = command.in_foreground_tidily()?;
    let detached = is_there()?;
    if detached && !status.success() {
        let title = record.title.clone();
        return Err(Error::NotAttached { title, status });
    }
    Ok(Attached {
        id: record.id.clone(),
        title: record.title.clone(),
        to,
        detached,
        paused: false,
    })
}
