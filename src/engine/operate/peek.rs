//! The screen of an agent as text, and the diff of its work.

use std::cell::Cell;

use crate::engine::base::{Core, Error, Found, Scope, now};
use crate::engine::watch::archive::Saving;
use crate::engine::watch::live::save_live;
use crate::git::{self, DiffOutput, Repo};
use crate::model::{InstanceId, RestingState, last_lines, printable};
use crate::store::LoadedInstance;
use crate::tmux::{EarlyClient, Pane};
use crate::vault;

impl Core {
    /// The last lines of an agent's screen; of one that does not run, from what was saved.
    pub(crate) fn peek(&self, given: &str, lines: usize, colours: bool) -> Result<String, Error> {
        let early = Cell::new(self.early_client());
        let look = |found: &Found| self.last_lines_of(found, lines, early.take());
        let (found, _, text) = self.settled_by(given, Scope::Here, look)?;
        let text = match text {
            Some(text) => text,
            None => {
                let path = crate::engine::watch::archive::scrollback(&found.dir);
                match std::fs::read(&path) {
                    Ok(saved) => String::from_utf8_lossy(&saved).into_owned(),
                    Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
                    Err(error) => return Err(Error::files("read", &path)(error)),
                }
            }
        };
        let text = last_lines(text.trim_end(), lines);
        Ok(if colours {
            text.to_owned()
        } else {
            plain(text)
        })
    }

    /// The pane of an instance and its last lines.
    fn last_lines_of(
        &self,
        found: &Found,
        lines: usize,
        early: Option<EarlyClient>,
    ) -> Result<(Option<Pane>, Option<String>), Error> {
        let record = &found.record;
        let server = self.server_of(record);
        let expected = match &record.place {
            Some(place) => server.pane_and_text(&place.pane, Some(lines), early)?,
            None => None,
        };
        let is_own = |pane: &Pane| pane.instance.as_ref() == Some(&record.id) && !pane.is_unclear();
        if let Some((pane, text)) = expected.filter(|(pane, _)| is_own(pane)) {
            return Ok((Some(pane), Some(text)));
        }
        let Some(pane) = server.pane_of(&record.id)? else {
            return Ok((None, None));
        };
        let text = server.tail(&pane.id, lines, true)?;
        Ok((Some(pane), Some(text)))
    }

    /// Saves the screen of a running agent, so that something is left of it when its server goes away.
    pub(crate) fn save_screen(&self, id: &InstanceId, at_rest: bool) -> Result<(), Error> {
        let dir = self.store.instance(id);
        let LoadedInstance::Known { record, journal } = dir.load() else {
            return Ok(());
        };
        let under_way = journal.is_some();
        let Some(place) = record
            .place
            .as_ref()
            .filter(|_| record.state == RestingState::Running && !under_way)
        else {
            return Ok(());
        };
        let found = self
            .server_of(&record)
            .pane_and_text(&place.pane, None, None)?;
        let Some((pane, text)) =
            found.filter(|(pane, _)| pane.instance.as_ref() == Some(id) && pane.death.is_none())
        else {
            return Ok(());
        };
        let saving = if at_rest {
            Saving::AtRest
        } else {
            Saving::WhileBusy
        };
        save_live(&dir, pane, &text, now(), saving)
    }

    /// What the instance changed against its base, committed or not.
    pub(crate) fn diff(
        &self,
        given: &str,
        output: DiffOutput,
        coloured: bool,
    ) -> Result<Vec<u8>, Error> {
        let found = self.settled(given, Scope::Here)?;
        let record = found.record;
        let base = record.base.commit.as_deref();
        let repository = Repo::discover(&record.repository.root)?;
        if record.state == RestingState::Paused
            && let Some(snapshot) = crate::engine::base::saved::SavedWork::of(&record)?.snapshot
        {
            return Ok(vault::snapshot_diff_text(
                &repository,
                &snapshot,
                base,
                output,
                coloured,
            )?);
        }
        Ok(git::diff_text(
            &repository,
            &record.worktree.path,
            base,
            output,
            coloured,
        )?)
    }
}

/// Without colours, and without anything else that a terminal would obey.
fn plain(text: &str) -> String {
    printable(&anstream::adapter::strip_str(text).to_string())
}
