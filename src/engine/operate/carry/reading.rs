//! An export is read: what it brings, and what the user should know of it. Nothing is written yet.

use std::io::Read;

use crate::agents::{Provider, SessionTravel};
use crate::engine::base::{Core, Error};
use crate::engine::operate::carry::parts::{Luggage, record_in};
use crate::git::Repo;
use crate::model::InstanceRecord;
use crate::vault::{self, Incoming};

/// An export that was read.
#[derive(Debug)]
pub(super) struct ReadExport {
    pub incoming: Incoming,
    pub luggage: Luggage,
    /// Its record, with the session that its agent goes on with here.
    pub brought: InstanceRecord,
    /// The hash of what travels beside the work.
    pub parts: String,
    pub notes: Vec<String>,
}

impl Core {
    /// Reads an export for a new instance, or for one that comes back into its own record.
    pub(super) fn read_arriving(
        &self,
        repository: &Repo,
        input: &mut (dyn Read + Send),
        nested: bool,
        own: Option<&InstanceRecord>,
    ) -> Result<ReadExport, Error> {
        let incoming = vault::read_export(repository, input, nested)?;
        let parts = incoming.parts()?;
        let mut luggage = Luggage::sorted(&parts)?;
        let mut brought = record_in(&parts)?;
        let provider = self.catalog.require(&brought.agent)?;
        let session_here = own.and_then(|own| own.session_ref.clone());
        let stays = session_stays(provider, &luggage);
        let here = stays.then_some(session_here.as_deref());
        let notes = notes(&incoming, &brought, provider, here)?;
        if stays {
            // It goes on with the session that it had here, if it had one.
            brought.session_ref = session_here;
            luggage.without_session();
        } else if luggage.has_session() && own.is_some() && brought.session_ref == session_here {
            luggage.with_own_session();
        }
        Ok(ReadExport {
            incoming,
            luggage,
            brought,
            parts: vault::hash_of_parts(&parts),
            notes,
        })
    }
}

/// Whether the session of the agent did not come along.
fn session_stays(provider: &Provider, luggage: &Luggage) -> bool {
    match provider.session_travel() {
        SessionTravel::Stays => true,
        SessionTravel::Commands => !luggage.has_session(),
        SessionTravel::Files | SessionTravel::Worktree => false,
    }
}

/// What the user should know before the instance is resumed. If its session stays where it was, the one that it
/// had here is given.
fn notes(
    incoming: &Incoming,
    brought: &InstanceRecord,
    provider: &Provider,
    stays: Option<Option<&str>>,
) -> Result<Vec<String>, Error> {
    let mut notes = Vec::new();
    if let (Some(session_here), Some(_)) = (stays, &brought.session_ref) {
        let goes_on = match session_here {
            Some(_) => "goes on with the one that it had",
            None => "begins a new one",
        };
        notes.push(format!(
            "the session of {} stays where it was: here it {goes_on}; `biv log` has all of it",
            provider.display()
        ));
    }
    if brought.autoyes {
        notes.push("autoyes was on there; it is off here".to_owned());
    }
    if !brought.agent_args.is_empty() {
        let words = brought.agent_args.iter().map(String::as_str);
        let words = shlex::try_join(words).unwrap_or_else(|_| brought.agent_args.join(" "));
        notes.push(format!(
            "its agent {} is started with: {words}",
            brought.agent
        ));
    }
    for command in incoming.commands()? {
        notes.push(format!(
            "its rebase runs this command when it goes on: {command}"
        ));
    }
    Ok(notes)
}
