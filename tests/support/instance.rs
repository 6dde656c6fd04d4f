//! One instance, as the program itself tells of it.

use std::path::PathBuf;

use serde_json::Value;

use super::{Camp, Process, processes_with, until, until_told};

#[derive(Debug, Clone)]
pub(crate) struct Instance {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) branch: Option<String>,
    pub(crate) worktree: PathBuf,
    pub(crate) session_ref: Option<String>,
}

impl Instance {
    pub(crate) fn from_json(json: &Value) -> Self {
        let text = |key: &str| json[key].as_str().map(str::to_owned);
        Self {
            id: text("id").expect("an instance has an id"),
            title: text("title").expect("an instance has a title"),
            branch: text("branch"),
            worktree: text("worktree").expect("an instance has a worktree").into(),
            session_ref: text("session_ref"),
        }
    }

    /// Everything that runs on its behalf, wherever it has gone.
    pub(crate) fn processes(&self) -> Vec<Process> {
        processes_with(&format!("BIV_INSTANCE={}", self.id))
    }

    /// What the demo agent was told, in order: it writes each prompt down before it does anything.
    pub(crate) fn prompts(&self, camp: &Camp) -> Vec<String> {
        self.conversation(camp)
            .into_iter()
            .filter(|entry| entry["type"] == "user")
            .filter_map(|entry| entry["content"].as_str().map(str::to_owned))
            .collect()
    }

    /// The demo agent's own session file.
    pub(crate) fn conversation(&self, camp: &Camp) -> Vec<Value> {
        let session = self.session_ref.as_deref().expect("it has a conversation");
        let file = camp.home().join("state/demo").join(session);
        std::fs::read_to_string(file.with_extension("jsonl"))
            .unwrap_or_default()
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok())
            .collect()
    }

    /// Waits until its agent is at its prompt.
    #[track_caller]
    pub(crate) fn wait_idle(&self, camp: &Camp) {
        self.wait_for(camp, "activity", "idle");
    }

    /// Waits until `show` says so.
    #[track_caller]
    pub(crate) fn wait_for(&self, camp: &Camp, key: &str, value: &str) {
        let what = || {
            format!(
                "the {key} of `{}` is {value}: {}",
                self.title,
                camp.show(self)
            )
        };
        until_told(what, || (camp.show(self)[key] == value).then_some(()));
    }

    /// Waits until its screen holds this text.
    #[track_caller]
    pub(crate) fn wait_screen(&self, camp: &Camp, text: &str) {
        until(&format!("`{}` shows {text:?}", self.title), || {
            camp.biv(["peek", &self.id])
                .run()
                .ok()
                .stdout
                .contains(text)
        });
    }
}
