//! The version of each agent, asked once for all tests: `--version` takes some of them seconds.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use serde_json::{Value, json};

use crate::support::Camp;

static KNOWN: Mutex<BTreeMap<String, Value>> = Mutex::new(BTreeMap::new());

/// Writes what an earlier stage has learned about this agent.
pub(crate) fn hand_on(agent: &str, camp: &Camp) {
    let known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(version) = known.get(agent) {
        let state = camp.home().join("state");
        std::fs::create_dir_all(&state).unwrap();
        let versions = json!({ agent: version });
        std::fs::write(state.join("versions.json"), versions.to_string()).unwrap();
    }
}

/// Reads what was learned about this agent, for the next stage.
pub(crate) fn keep(agent: &str, camp: &Camp) {
    let versions = std::fs::read(camp.home().join("state/versions.json")).unwrap_or_default();
    let versions: Value = serde_json::from_slice(&versions).unwrap_or_default();
    if let Some(version) = versions.get(agent) {
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        known.insert(agent.to_owned(), version.clone());
    }
}
