//! The options and the lines of commands that look at all hosts.

use clap::Args;

use super::host::parsed;
use super::output::Output;
use super::report::Report;
use super::words;
use crate::engine::{HostListing, WhichHosts, via};

#[derive(Debug, Default, Clone, Args)]
pub(super) struct WhereArgs {
    /// Only this host (can be repeated)
    #[arg(long, value_name = "HOST")]
    pub host: Vec<String>,
    /// Only here, and no host
    #[arg(long, conflicts_with = "host")]
    pub local: bool,
}

impl WhereArgs {
    /// Whether this machine is looked at.
    pub(super) fn here(&self) -> bool {
        self.host.is_empty()
    }

    /// Which hosts are asked; None: no host. A command that came from another machine is about this one.
    pub(super) fn hosts(&self) -> Result<Option<WhichHosts>, Report> {
        if self.local || via().is_some() {
            return Ok(None);
        }
        if self.host.is_empty() {
            return Ok(Some(WhichHosts::All));
        }
        let names = self.host.iter().map(|name| parsed(name));
        Ok(Some(WhichHosts::These(names.collect::<Result<_, _>>()?)))
    }
}

/// Says what of a listing is old or missing.
pub(super) fn mention(listings: &[HostListing], output: &Output) {
    let now = words::now();
    for listing in listings {
        if let Some(error) = &listing.error {
            let known = match listing.at {
                Some(at) => format!("shown as it was {}", words::ago(at, now)),
                None => "nothing is known of it".to_owned(),
            };
            output.say(&format!("{}: {error}; {known}", listing.name));
        }
        if listing.not_understood > 0 {
            output.say(&format!(
                "{}: {} of its instances are not understood by this version",
                listing.name, listing.not_understood
            ));
        }
    }
}
