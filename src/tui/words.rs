//! What each agent said last, read from its conversation when it has come to rest.

use std::collections::BTreeMap;

use crate::engine::{Engine, InstanceView};
use crate::model::{Activity, InstanceId};

/// Reads the conversations of agents at rest whose row has changed, and remembers which these were.
#[derive(Debug, Default)]
pub(super) struct WordsReader {
    read: Vec<InstanceId>,
}

impl WordsReader {
    /// For a list that has changed.
    pub(super) fn changed(
        &mut self,
        engine: &Engine,
        views: &[InstanceView],
        before: &[InstanceView],
    ) -> BTreeMap<InstanceId, String> {
        self.read = views
            .iter()
            .filter(|view| view.activity == Some(Activity::Idle) && !before.contains(view))
            .map(|view| view.id.clone())
            .collect();
        for id in &self.read {
            engine.import_last_words(id);
        }
        last_words(engine, views)
    }

    /// For a list that is as it was. An agent may draw its answer before it writes it down: the same conversations are
    /// read once more.
    pub(super) fn unchanged(
        &mut self,
        engine: &Engine,
        views: &[InstanceView],
    ) -> Option<BTreeMap<InstanceId, String>> {
        if self.read.is_empty() {
            return None;
        }
        for id in self.read.drain(..) {
            engine.import_last_words(&id);
        }
        Some(last_words(engine, views))
    }
}

fn last_words(engine: &Engine, views: &[InstanceView]) -> BTreeMap<InstanceId, String> {
    let ids = views.iter().map(|view| &view.id);
    ids.filter_map(|id| Some((id.clone(), engine.last_words(id)?)))
        .collect()
}
