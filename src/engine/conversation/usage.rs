//! Counts what agents have used, from their own transcripts.

use std::collections::{BTreeMap, BTreeSet};

use crate::agents::{Bookmark, Continuity, TranscriptLookup};
use crate::engine::base::resolve::state_of;
use crate::engine::base::usage::{
    DayUsage, FILE, InstanceUsage, KeptUsage, UsageOfSource, UsageReport, UsageView, stamp,
};
use crate::engine::base::{Core, Error, Found, Scope, now};
use crate::model::{InstanceRecord, RestingState, Usage, UsageLedger};
use crate::store::{InstanceDir, replace_file};

impl Core {
    /// Reads on where the last count ended, and keeps the result. What cannot be read is counted the next
    /// time.
    pub(in crate::engine) fn count_usage(
        &self,
        dir: &InstanceDir,
        record: &InstanceRecord,
    ) -> KeptUsage {
        self.count_on(dir, record, KeptUsage::of(dir))
    }

    /// The same from what was kept last.
    fn count_on(&self, dir: &InstanceDir, record: &InstanceRecord, before: KeptUsage) -> KeptUsage {
        let mut kept = before.clone();
        for reference in self.references(dir, record) {
            if let Err(error) = self.count_source(record, &reference, &mut kept) {
                tracing::debug!(%error, "count the usage of {}", record.id);
            }
        }
        if kept != before
            && let Ok(text) = serde_json::to_vec(&kept)
            && let Err(error) = replace_file(&dir.path.join(FILE), &text)
        {
            tracing::debug!(%error, "keep the usage of {}", record.id);
        }
        kept
    }

    /// Counts again what an agent that runs has written since; a look at each file is enough to know.
    pub(in crate::engine) fn follow_usage(&self, found: &Found) -> KeptUsage {
        let kept = KeptUsage::of(&found.dir);
        let running = found.record.state == RestingState::Running;
        let stale =
            || kept.sources.is_empty() || kept.sources.values().any(UsageOfSource::is_stale);
        match running && stale() {
            true => self.count_on(&found.dir, &found.record, kept),
            false => kept,
        }
    }

    fn count_source(
        &self,
        record: &InstanceRecord,
        reference: &str,
        kept: &mut KeptUsage,
    ) -> Result<(), Error> {
        let provider = self.provider_of(record)?;
        let sought = super::transcript::sought(record, reference);
        let TranscriptLookup::Found(file) = provider.transcript_of(sought, &self.host) else {
            return Ok(());
        };
        let name = super::transcript::source(record, reference);
        let known = kept.sources.get(&name).cloned().unwrap_or_default();
        let bookmark: Option<Bookmark> = serde_json::from_value(known.bookmark).ok();
        let path = file.path.clone();
        let stamp = stamp(&path);
        let read = file
            .usage_since(bookmark, now())
            .map_err(Error::files("read", &path))?;
        let mut ledger = match read.continuity {
            Continuity::Continues => known.ledger,
            Continuity::Anew => UsageLedger::default(),
        };
        for event in read.events {
            ledger.note(event);
        }
        if ledger != UsageLedger::default() {
            let bookmark = serde_json::to_value(read.bookmark).unwrap_or_default();
            kept.sources.insert(
                name,
                UsageOfSource {
                    path,
                    stamp,
                    bookmark,
                    ledger,
                },
            );
        }
        Ok(())
    }

    /// What those that are killed by now have used today.
    pub(crate) fn used_today_by_killed(&self) -> Result<Usage, Error> {
        let (killed, _) = self.all(Scope::Killed)?;
        let mut used = Usage::default();
        for found in killed {
            let view = UsageView::of(&KeptUsage::of(&found.dir), now());
            used.add(view.map(|view| view.today).unwrap_or_default());
        }
        Ok(used)
    }

    /// What the named instances have used, or all, killed ones too.
    pub(crate) fn usage(&self, given: &[String]) -> Result<UsageReport, Error> {
        let found = match given.is_empty() {
            true => self.all(Scope::WithKilled)?.0,
            false => given
                .iter()
                .map(|given| self.find(given, Scope::WithKilled))
                .collect::<Result<Vec<Found>, Error>>()?,
        };
        let mut report = UsageReport::default();
        let mut days: BTreeMap<String, Usage> = BTreeMap::new();
        let mut silent = BTreeSet::new();
        for Found {
            dir,
            record,
            journal,
        } in found
        {
            let kept = self.count_usage(&dir, &record);
            if kept.sources.is_empty() {
                silent.insert(record.agent);
                continue;
            }
            let mut total = Usage::default();
            let mut turns = Vec::new();
            for source in kept.sources.into_values() {
                total.add(source.ledger.total());
                for (day, usage) in source.ledger.days {
                    days.entry(day).or_default().add(usage);
                }
                turns.extend(source.ledger.turns);
            }
            turns.sort_by_key(|turn| turn.at);
            report.total.add(total);
            report.instances.push(InstanceUsage {
                state: state_of(&record, journal.as_ref()),
                id: record.id,
                title: record.title,
                agent: record.agent,
                total,
                turns,
            });
        }
        report.instances.sort_by(|a, b| {
            let weight = |usage: &Usage| (usage.cost_usd.unwrap_or(0.0), usage.tokens.total());
            let (a, b) = (weight(&a.total), weight(&b.total));
            b.0.total_cmp(&a.0).then(b.1.cmp(&a.1))
        });
        let days = days.into_iter().rev();
        report.days = days.map(|(day, usage)| DayUsage { day, usage }).collect();
        let told: BTreeSet<&String> = report.instances.iter().map(|one| &one.agent).collect();
        report.silent = silent
            .into_iter()
            .filter(|one| !told.contains(one))
            .collect();
        Ok(report)
    }
}
