//! The events of hosts, beside those of this machine.

use std::time::Duration;

use serde_json::Value;

use crate::engine::base::{Core, Error};
use crate::engine::hosts::fleet::{WhichHosts, harmless};
use crate::engine::hosts::reach::told;
use crate::hosts::{HostName, Question};

/// How long a host that was lost is left alone.
const BEFORE_AGAIN: Duration = Duration::from_secs(3);

/// What one host has sent.
#[derive(Debug)]
pub(crate) struct HostEvents {
    pub host: HostName,
    /// One JSON object each, with the name of the host.
    pub lines: Result<Vec<String>, String>,
}

impl Core {
    /// The hosts that are meant, in their order.
    pub(crate) fn meant_hosts(&self, which: &WhichHosts) -> Vec<HostName> {
        match which {
            WhichHosts::All => self.host_names(),
            WhichHosts::These(names) => names.clone(),
        }
    }

    /// What has happened on hosts so far, asked side by side.
    pub(crate) fn events_of_hosts(
        &self,
        which: &WhichHosts,
        since: Option<&str>,
    ) -> Vec<HostEvents> {
        let deadline = self.settings().hosts.deadline;
        let names = self.meant_hosts(which);
        let known = self.known_hosts();
        // One that was down costs no time, unless it is asked for by name.
        let down = |name: &HostName| {
            let last = known.get(name);
            last.failure.filter(|_| *which == WhichHosts::All)
        };
        let (down, names): (Vec<_>, Vec<_>) = names
            .into_iter()
            .map(|name| (down(&name), name))
            .partition(|(failure, _)| failure.is_some());
        let names: Vec<HostName> = names.into_iter().map(|(_, name)| name).collect();
        if !down.is_empty() {
            self.renew_in_background();
        }
        let down = down.into_iter().map(|(failure, host)| HostEvents {
            host,
            lines: Err(failure.unwrap_or_default()),
        });
        std::thread::scope(|scope| {
            let asked: Vec<_> = names
                .iter()
                .map(|name| {
                    scope.spawn(move || {
                        let question =
                            Question::new(words(since, false), deadline).that_only_looks();
                        let reply = self.ask_host(name, question)?;
                        let text = String::from_utf8_lossy(&reply.stdout).into_owned();
                        Ok::<_, Error>(
                            text.lines()
                                .filter_map(|line| of_host(name, line))
                                .collect(),
                        )
                    })
                })
                .collect();
            let answers = names.iter().zip(asked).map(|(name, asked)| HostEvents {
                host: name.clone(),
                lines: match asked.join() {
                    Ok(Ok(lines)) => Ok(lines),
                    Ok(Err(error)) => Err(sentence(&error)),
                    Err(_) => Err("it could not be asked".to_owned()),
                },
            });
            answers.chain(down).collect()
        })
    }

    /// Passes on what happens on a host, until `take` says that it is enough. A connection that is lost is made
    /// again; that is told once.
    pub(crate) fn follow_host(
        &self,
        name: &HostName,
        since: Option<&str>,
        take: &(dyn Fn(Result<String, String>) -> bool + Sync),
    ) {
        let mut since = since;
        let mut told_of_loss = false;
        loop {
            let ended = self.connector(name).and_then(|connector| {
                Ok(connector.follow(&words(since, true), &mut |line: &str| {
                    of_host(name, line).is_none_or(|line| take(Ok(line)))
                })?)
            });
            let going_on = match ended {
                Ok(going_on) => going_on,
                Err(error) => told_of_loss || take(Err(format!("{name}: {}", sentence(&error)))),
            };
            if !going_on {
                return;
            }
            told_of_loss = true;
            // What was sent before is not sent again.
            since = None;
            std::thread::sleep(BEFORE_AGAIN);
        }
    }
}

fn words(since: Option<&str>, follow: bool) -> Vec<String> {
    let mut words = vec!["events".to_owned(), "--json".to_owned()];
    if follow {
        words.push("--follow".to_owned());
    }
    words.extend(since.map(|since| format!("--since={since}")));
    words
}

/// The line of a host as one of ours, with its name; None where it is no event.
fn of_host(name: &HostName, line: &str) -> Option<String> {
    let mut event = harmless(serde_json::from_str(line).ok()?);
    event
        .as_object_mut()?
        .insert("host".to_owned(), Value::String(name.to_string()));
    serde_json::to_string(&event).ok()
}

fn sentence(error: &Error) -> String {
    match error {
        Error::Host(error) => told(error),
        error => error.told(),
    }
}
