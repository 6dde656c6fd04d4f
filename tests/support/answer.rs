//! What a call of the program gave back.

use serde_json::Value;

use super::Camp;

/// Exit status, standard output and standard error of one call.
#[derive(Debug)]
#[must_use = "say what is expected of it: `ok()` or `fails(status)`"]
pub(crate) struct Answer {
    pub(crate) status: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) call: String,
    pub(crate) places: Vec<(String, &'static str)>,
}

impl Answer {
    pub(crate) fn of(camp: &Camp, call: String, output: std::process::Output) -> Self {
        Self {
            status: output.status.code(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
            call,
            places: camp.places(),
        }
    }

    #[track_caller]
    pub(crate) fn ok(self) -> Self {
        self.exits(0)
    }

    #[track_caller]
    pub(crate) fn fails(self, status: i32) -> Self {
        assert_ne!(status, 0, "that would be a success");
        self.exits(status)
    }

    #[track_caller]
    fn exits(self, status: i32) -> Self {
        assert_eq!(
            self.status,
            Some(status),
            "`{}` ended otherwise than expected\n--- stdout\n{}\n--- stderr\n{}",
            self.call,
            self.stdout,
            self.stderr
        );
        self
    }

    /// The process was ended by a signal, as a crash point does.
    #[track_caller]
    pub(crate) fn crashed(self) -> Self {
        assert_eq!(
            self.status, None,
            "`{}` did not crash\n--- stdout\n{}\n--- stderr\n{}",
            self.call, self.stdout, self.stderr
        );
        self
    }

    /// Standard output as one JSON document.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("`{}`: {error} in\n{}", self.call, self.stdout))
    }

    /// The error of a call with `--json`.
    #[track_caller]
    pub(crate) fn error(&self) -> Value {
        self.json()["error"].clone()
    }

    /// What a person sees on standard error, with the places of this camp by their names.
    pub(crate) fn said(&self) -> String {
        self.named(&self.stderr)
    }

    /// The same of standard output.
    pub(crate) fn printed(&self) -> String {
        self.named(&self.stdout)
    }

    fn named(&self, text: &str) -> String {
        self.places
            .iter()
            .fold(text.to_owned(), |text, (path, name)| {
                text.replace(path.as_str(), name)
            })
    }
}
