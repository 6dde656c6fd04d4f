//! All hosts at once: each asked beside the others, within a deadline, and shown as last known where it is down.

use std::time::Duration;

use serde::Serialize;
use serde_json::Value;

use crate::engine::base::view::InstanceView;
use crate::engine::base::{Core, Error, now};
use crate::engine::hosts::reach::told;
use crate::hosts::{HostError, HostName, Known, Question, Trouble};
use crate::model::{Timestamp, printable_line};
use crate::process::Command;
use crate::store::{Lock, LockMode};

/// A host that was down is asked in the background, with this much more patience.
const BACKGROUND: u32 = 3;

/// What is younger is not asked for again in the background: prompts are drawn often.
const FRESH: Duration = Duration::from_secs(5);

/// Which hosts are meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum WhichHosts {
    All,
    /// Asked in any case, also where they were down a moment ago.
    These(Vec<HostName>),
}

/// How fresh an answer must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Freshness {
    /// Hosts are asked and waited for.
    Now,
    /// What is known is enough, and is renewed in the background: for a status line.
    LastKnown,
}

/// What one host has.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct HostListing {
    pub name: HostName,
    /// Whether this is its answer of now, not the last known one.
    pub reachable: bool,
    /// When it answered.
    pub at: Option<Timestamp>,
    pub error: Option<String>,
    /// Instances in its answer that this version does not understand.
    pub not_understood: usize,
    #[serde(skip)]
    pub instances: Vec<InstanceView>,
}

impl Core {
    /// The instances of hosts. A host that was down the last time costs no time: its last answer is shown, and
    /// it is asked in the background.
    pub(crate) fn list_hosts(
        &self,
        which: &WhichHosts,
        freshness: Freshness,
    ) -> Result<Vec<HostListing>, Error> {
        let (names, insist) = match which {
            WhichHosts::All => (self.host_names(), false),
            WhichHosts::These(names) => (names.clone(), true),
        };
        for name in names.iter().filter(|_| insist) {
            self.registry().get(name)?;
        }
        let deadline = self.settings().hosts.deadline;
        let known = self.known_hosts();
        let mut later = false;
        let listings = std::thread::scope(|scope| {
            let asked: Vec<_> = names
                .iter()
                .map(|name| {
                    let last = known.standing(name);
                    let waits = insist || freshness == Freshness::Now && last.failed_at.is_none();
                    later |= !waits && last.is_older_than(now(), FRESH);
                    match waits {
                        true => {
                            Ok(scope
                                .spawn(move || shown(name, self.renew(name, deadline), freshness)))
                        }
                        false => Err(()),
                    }
                })
                .collect();
            let listing = |(name, asked): (&HostName, Result<_, ()>)| {
                let asked = asked.map(std::thread::ScopedJoinHandle::join);
                match asked {
                    Ok(Ok(listing)) => listing,
                    Ok(Err(_)) | Err(()) => shown(name, known.get(name), freshness),
                }
            };
            names.iter().zip(asked).map(listing).collect()
        });
        if later {
            self.renew_in_background();
        }
        Ok(listings)
    }

    /// What was last known of all hosts; none is asked.
    pub(crate) fn last_known_of_hosts(&self) -> Vec<HostListing> {
        let known = self.known_hosts();
        let listing = |host| shown(&host, known.get(&host), Freshness::LastKnown);
        self.host_names().into_iter().map(listing).collect()
    }

    /// What was last known on hosts, as `HOST:TITLE` and id, for completion. Their state may be another by now.
    pub(crate) fn known_on_hosts(&self) -> Vec<(String, String)> {
        let mut names = Vec::new();
        for HostListing {
            name, instances, ..
        } in self.last_known_of_hosts()
        {
            for view in instances {
                names.push((format!("{name}:{}", view.title), view.id.to_string()));
            }
        }
        names
    }

    /// Asks all hosts and keeps their answers; what `list_hosts` starts in the background.
    pub(crate) fn renew_hosts(&self) -> Result<(), Error> {
        let lock = self.known_hosts().lock_file()?;
        // Where another process asks already, there is nothing to do.
        let Ok(_lock) = Lock::take(&lock, LockMode::Exclusive, Duration::ZERO, "asking hosts")
        else {
            return Ok(());
        };
        let deadline = self.settings().hosts.deadline * BACKGROUND;
        std::thread::scope(|scope| {
            for name in self.host_names() {
                scope.spawn(move || self.renew(&name, deadline));
            }
        });
        Ok(())
    }

    pub(in crate::engine) fn renew_in_background(&self) {
        let silence = std::fs::OpenOptions::new().write(true).open("/dev/null");
        let started = silence.map_err(|error| error.to_string()).and_then(|file| {
            let command = Command::new(&self.host.biv).arg("__renew-hosts");
            command
                .spawn_detached(file)
                .map_err(|error| error.to_string())
        });
        if let Err(error) = started {
            tracing::debug!(%error, "hosts are not asked in the background");
        }
    }

    /// Asks one host and keeps what it said.
    fn renew(&self, name: &HostName, deadline: Duration) -> Known {
        let words = ["list", "--json"];
        let question = Question::new(words, deadline).that_only_looks();
        let asked = self
            .connector(name)
            .and_then(|connector| Ok(connector.ask(question)?));
        let asked = asked.and_then(|reply| {
            let listing: Option<Value> = serde_json::from_slice(&reply.stdout).ok();
            let listing = listing.filter(|listing| listing["instances"].is_array());
            listing.ok_or_else(|| {
                let said = vec![printable_line(&String::from_utf8_lossy(&reply.stderr))];
                HostError::Trouble {
                    host: name.clone(),
                    trouble: Trouble::Nonsense,
                    said,
                }
                .into()
            })
        });
        let known = match asked {
            Ok(listing) => Known {
                at: Some(now()),
                listing: Some(harmless(listing)),
                failed_at: None,
                failure: None,
            },
            Err(error) => Known {
                failed_at: Some(now()),
                failure: Some(match &error {
                    Error::Host(error) => told(error),
                    error => error.told(),
                }),
                ..self.known_hosts().get(name)
            },
        };
        if let Err(error) = self.known_hosts().set(name, &known) {
            tracing::warn!(%error, "the answer of a host was not kept");
        }
        known
    }
}

fn shown(name: &HostName, known: Known, freshness: Freshness) -> HostListing {
    let mut listing = known.listing.unwrap_or_default();
    let instances = match listing.get_mut("instances").map(Value::take) {
        Some(Value::Array(instances)) => instances,
        _ => Vec::new(),
    };
    let all = instances.len();
    let views: Vec<InstanceView> = instances
        .into_iter()
        .filter_map(|value| serde_json::from_value(value).ok())
        .map(|view: InstanceView| InstanceView {
            host: Some(name.to_string()),
            ..view
        })
        .collect();
    HostListing {
        name: name.clone(),
        reachable: known.failed_at.is_none()
            && (known.at.is_some() || freshness == Freshness::LastKnown),
        at: known.at,
        error: known.failure,
        not_understood: all - views.len(),
        instances: views,
    }
}

/// The same answer without characters that could steer a terminal: its text is foreign.
pub(in crate::engine) fn harmless(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(printable_line(&text)),
        Value::Array(values) => Value::Array(values.into_iter().map(harmless).collect()),
        Value::Object(fields) => fields
            .into_iter()
            .map(|(name, value)| (printable_line(&name), harmless(value)))
            .collect(),
        other => other,
    }
}
