//! `biv move`: an instance goes to a host, and comes back.
//!
//! The machine that gets it has all of it, compared, before the other one hands it over; the hand-over is one
//! write of a record there, and the claim one write here. Whatever is cut off in between, the numbers of the
//! leases say who has it, and the same command again goes on from there.

use std::ffi::OsString;
use std::io::{Seek, SeekFrom};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::engine::base::resolve::require_here;
use crate::engine::base::view::InstanceView;
use crate::engine::base::{Core, Error, Progress, Scope};
use crate::engine::hosts::carry::{ASKING, SENDING};
use crate::engine::operate::carry::export::{ExportOptions, PreparedExport};
use crate::engine::operate::carry::lease::{HeldLease, LeaseView};
use crate::engine::operate::options::ResumeOptions;
use crate::hosts::{HostError, HostName, Question, Trouble};
use crate::model::{
    Holder, HostInstance, InstanceId, InstanceRecord, Lease, State, printable_line,
};
use crate::process::crash;
use crate::store::ensure_private;
use crate::vault::LeftBehind;

/// How long an agent may take to come up on a host.
pub(super) const RESUMING: Duration = Duration::from_secs(600);

/// What was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MoveOptions {
    /// Files that git ignores come along.
    pub with_ignored: bool,
    /// Repositories inside of the worktree come along.
    pub nested: bool,
    /// One that ran goes on where it arrives.
    pub resume: bool,
}

/// A move that has ended.
#[derive(Debug, Serialize)]
pub(crate) struct Moved {
    pub instance: InstanceView,
    /// Where it is now; None: here.
    pub host: Option<String>,
    pub lease: u64,
    /// It was there already.
    pub already: bool,
    /// Its agent goes on there.
    pub resumed: bool,
    /// Why its agent did not go on: it is there, paused.
    pub trouble: Option<String>,
    pub bytes: u64,
    /// What stayed behind.
    pub left: Vec<LeftBehind>,
    /// What the user should know of it.
    pub notes: Vec<String>,
}

/// What a host says of an instance that has arrived there.
#[derive(Debug, Deserialize)]
struct ArrivedThere {
    id: InstanceId,
    manifest: String,
    #[serde(default)]
    notes: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct ResumedThere {
    instances: Vec<NamedThere>,
}

#[derive(Debug, Deserialize)]
struct NamedThere {
    id: InstanceId,
}

#[derive(Debug, Deserialize)]
struct AgentsThere {
    agents: Vec<AgentThere>,
}

#[derive(Debug, Deserialize)]
struct AgentThere {
    name: String,
    installed: bool,
}

/// How much was sent, and what of it.
#[derive(Debug, Default)]
pub(super) struct Sent {
    pub bytes: u64,
    pub left: Vec<LeftBehind>,
    pub notes: Vec<String>,
}

impl Core {
    /// Moves an instance to a host, or ends a move there that was cut off.
    pub(crate) fn move_to(
        &self,
        given: &str,
        host: &HostName,
        options: MoveOptions,
        progress: &mut dyn Progress,
    ) -> Result<Moved, Error> {
        self.connector(host)?;
        let seen = self.lease_of(given)?;
        if let (State::Away, Holder::Host { host: there, .. }) = (seen.state, &seen.lease.holder)
            && there == host.as_str()
        {
            let held = self.hold_lease(seen.id.as_str(), "move")?;
            return self.end_move(held, host, options, Sent::default());
        }
        let record = self.find(seen.id.as_str(), Scope::Here)?.record;
        // What would only be found out when it is stopped is asked before.
        let was_there = self.was_there(host, &record.id)?;
        if options.resume && (seen.state == State::Running || seen.lease.resume) {
            self.require_agent(host, &record)?;
        }
        match self.carry_over(&seen.id, host, options, was_there, progress) {
            Ok((held, sent)) => self.end_move(held, host, options, sent),
            Err(error) => {
                match seen.state {
                    State::Running => self.go_on_here(&seen.id, progress),
                    State::Completed | State::Failed | State::Interrupted => {
                        self.say_where_it_rests(&seen.id, progress);
                    }
                    _ => {}
                }
                Err(error)
            }
        }
    }

    /// Stops it, sends it, and hands it over once all of it is there.
    fn carry_over(
        &self,
        id: &InstanceId,
        host: &HostName,
        options: MoveOptions,
        was_there: bool,
        progress: &mut dyn Progress,
    ) -> Result<(HeldLease, Sent), Error> {
        let prepared = self.prepare_departure(id.as_str(), export_options(options), progress)?;
        let left = prepared.left().to_vec();
        for left in &left {
            progress.note(&format!(
                "stays behind: {}: {}",
                printable_line(&left.path.display().to_string()),
                left.why
            ));
        }
        let (arrived, bytes) = self.send_instance(&prepared, host, options, was_there)?;
        let there = HostInstance {
            host: host.to_string(),
            id: arrived.id,
        };
        let held = self.hand_over(prepared, there)?;
        let sent = Sent {
            bytes,
            left,
            notes: arrived.notes,
        };
        Ok((held, sent))
    }

    /// Its agent goes on there.
    pub(super) fn resume_there(
        &self,
        host: &HostName,
        id: &InstanceId,
        patience: Duration,
    ) -> Result<(), Error> {
        // A verb on instances takes only those with the name of the host before them.
        let named = format!("{host}:{id}");
        let words = ["resume", "--json", &named];
        let resumed: ResumedThere = self.ask_for(host, Question::new(words, patience))?;
        match resumed.instances.iter().any(|view| view.id == *id) {
            true => Ok(()),
            false => Err(HostError::Trouble {
                host: host.clone(),
                trouble: Trouble::Nonsense,
                said: Vec::new(),
            }
            .into()),
        }
    }

    /// A move that was not to be leaves the agent as it was.
    fn go_on_here(&self, id: &InstanceId, progress: &mut dyn Progress) {
        let stopped = self
            .lease_of(id.as_str())
            .is_ok_and(|seen| seen.state == State::Paused);
        if !stopped {
            return;
        }
        match self.resume(id.as_str(), &ResumeOptions::quiet(), progress) {
            Ok(_) => progress.note("it stays here, and goes on"),
            Err(error) => progress.note(&format!("it stays here, paused: {}", error.told())),
        }
    }

    /// One whose agent had ended may have been put away before the move failed.
    fn say_where_it_rests(&self, id: &InstanceId, progress: &mut dyn Progress) {
        if self
            .lease_of(id.as_str())
            .is_ok_and(|seen| seen.state == State::Paused)
        {
            progress.note("it stays here, paused");
        }
    }

    fn require_agent(&self, host: &HostName, record: &InstanceRecord) -> Result<(), Error> {
        let there: AgentsThere = self.ask_for(host, Question::new(["agents", "--json"], ASKING))?;
        let missing = there
            .agents
            .iter()
            .all(|agent| agent.name != record.agent || !agent.installed);
        if missing {
            return Err(HostError::NoAgent {
                host: host.clone(),
                agent: record.agent.clone(),
                title: record.title.clone(),
            }
            .into());
        }
        Ok(())
    }

    /// Sends all of it. The host unpacks it, compares it, and keeps it without using it.
    fn send_instance(
        &self,
        prepared: &PreparedExport,
        host: &HostName,
        options: MoveOptions,
        was_there: bool,
    ) -> Result<(ArrivedThere, u64), Error> {
        let record = &prepared.record;
        let lease = record.lease.clone().unwrap_or_else(Lease::first);
        let repository = match was_there {
            // It comes back into its own record there.
            true => None,
            false => {
                let root = &record.repository.root;
                Some(match &record.base.commit {
                    Some(base) => self.send_commits(host, root, Some(base))?.repository,
                    None => self.repository_for(host, root)?,
                })
            }
        };
        ensure_private(&self.home.run)?;
        let unwritable = || Error::files("write in", &self.home.run);
        let mut file = tempfile::tempfile_in(&self.home.run).map_err(unwritable())?;
        let exported = prepared.write(&mut file)?;
        file.seek(SeekFrom::Start(0)).map_err(unwritable())?;
        let mut words: Vec<OsString> = ["__arrive", "--json", "--id", record.id.as_str()]
            .map(OsString::from)
            .to_vec();
        words.push("--lease".into());
        words.push((lease.number + 1).to_string().into());
        if let Some(repository) = repository {
            words.extend(["--repo".into(), repository.into()]);
        }
        if options.nested {
            words.push("--with-nested".into());
        }
        crash::at("move:send:before");
        let question = Question::new(words, SENDING).with_input(Some(file));
        let arrived: ArrivedThere = self.ask_for(host, question)?;
        crash::at("move:send:after");
        if arrived.manifest != exported.manifest {
            return Err(HostError::Differs { host: host.clone() }.into());
        }
        Ok((arrived, exported.bytes))
    }

    /// Whether the host knows this instance as one that is away.
    fn was_there(&self, host: &HostName, id: &InstanceId) -> Result<bool, Error> {
        let words = ["list", "--json", "--local", "--state", "away"];
        let reply = self.ask_host(host, Question::new(words, ASKING))?;
        let listing: serde_json::Value = serde_json::from_slice(&reply.stdout).unwrap_or_default();
        let instances = listing["instances"].as_array();
        Ok(instances
            .into_iter()
            .flatten()
            .any(|view| view["id"] == id.as_str()))
    }

    /// The host claims it, this machine notes that, and its agent goes on there.
    fn end_move(
        &self,
        mut held: HeldLease,
        host: &HostName,
        options: MoveOptions,
        sent: Sent,
    ) -> Result<Moved, Error> {
        let lease = held.lease();
        let Holder::Host { id, confirmed, .. } = &lease.holder else {
            return Err(require_here(&held.record)
                .err()
                .unwrap_or(Error::Interrupted));
        };
        let mut moved = Moved {
            instance: self.view_at_rest(&held.record),
            host: Some(host.to_string()),
            lease: lease.number,
            already: *confirmed,
            resumed: false,
            trouble: None,
            bytes: sent.bytes,
            left: sent.left,
            notes: sent.notes,
        };
        if *confirmed {
            return Ok(moved);
        }
        crash::at("move:ask-claim:before");
        let number = lease.number.to_string();
        let words = ["__lease", "--json", "claim", id.as_str(), &number];
        self.ask_for::<LeaseView>(host, Question::new(words, ASKING))?;
        crash::at("move:ask-claim:after");
        if options.resume && lease.resume {
            match self.resume_there(host, id, RESUMING) {
                Ok(()) => moved.resumed = true,
                Err(error) => moved.trouble = Some(error.told()),
            }
        }
        crash::at("move:confirm:before");
        self.confirm_move(&mut held)?;
        moved.instance = self.view_at_rest(&held.record);
        Ok(moved)
    }
}

fn export_options(options: MoveOptions) -> ExportOptions {
    ExportOptions {
        with_ignored: options.with_ignored,
        with_history: false,
        base_only: true,
    }
}
