//! Why work could not be landed. Nothing was changed then.

use std::path::PathBuf;

use crate::model::{Activity, Title};

#[derive(Debug, thiserror::Error)]
pub(crate) enum LandError {
    #[error("`{title}` is not at rest: its agent is {}", activity.name())]
    NotAtRest { title: Title, activity: Activity },
    #[error("`{title}` has uncommitted work: {}", named(files))]
    Uncommitted { title: Title, files: Vec<String> },
    #[error("the worktree of `{title}` is in the middle of a {operation}")]
    InProgress { title: Title, operation: String },
    #[error("`{title}` has files with unresolved conflicts: {}", named(files))]
    Unmerged { title: Title, files: Vec<String> },
    #[error(
        "`{title}` has repositories inside that are in no commit: {}",
        named(files)
    )]
    Nested { title: Title, files: Vec<String> },
    /// The files of a paused instance were deleted to free the disk, or its branch was moved.
    #[error("the uncommitted work of `{title}` cannot be committed while it is paused: {reason}")]
    PutAway { title: Title, reason: &'static str },
    #[error("it is not known onto which branch `{title}` lands: its base `{base}` is no branch")]
    NoTarget { title: Title, base: String },
    #[error("`{title}` works on `{target}` itself")]
    OwnBranch { title: Title, target: String },
    #[error("`{title}` has nothing that `{target}` has not")]
    Nothing { title: Title, target: String },
    #[error("`{title}` conflicts with `{target}` in {}", named(files))]
    Conflict {
        title: Title,
        target: String,
        files: Vec<String>,
        /// The commit that does not fit, where commits are replayed one by one.
        subject: Option<String>,
    },
    #[error("`{title}` and `{target}` have no common history")]
    Unrelated { title: Title, target: String },
    #[error("`{target}` cannot be fast-forwarded to `{title}`, and `merge.ff` allows nothing else")]
    FastForwardOnly { title: Title, target: String },
    #[error("the repository's check needs your consent: {command}")]
    CheckConsent { command: String },
    #[error("the check of `{title}` on top of `{target}` failed with {status}: {command}")]
    CheckFailed {
        title: Title,
        target: String,
        command: String,
        status: String,
        /// Its last lines.
        output: String,
        log: PathBuf,
    },
    #[error("interrupted while the agent of `{title}` corrects its work")]
    FixInterrupted { title: Title },
    /// The same refusal after its agent was told of it.
    #[error("{refusal}")]
    NotFixed { told: u32, refusal: Box<Self> },
    #[error("the hook {hook} of the repository refused the landing of `{title}`")]
    HookFailed {
        title: Title,
        hook: String,
        /// Its last lines.
        output: String,
    },
    #[error(
        "`{target}` is checked out at {}, which has changes of its own in {}",
        path.display(),
        named(files)
    )]
    CheckoutDirty {
        target: String,
        path: PathBuf,
        files: Vec<String>,
    },
    #[error("the checkout of `{target}` at {} is in the middle of a {operation}", path.display())]
    CheckoutBusy {
        target: String,
        path: PathBuf,
        operation: String,
    },
    #[error("`{target}` was moved meanwhile")]
    TargetMoved { target: String },
    #[error("the work of `{title}` was changed meanwhile")]
    ChangedMeanwhile { title: Title },
    #[error("`{title}` was not landed")]
    NotLanded { title: Title },
    #[error("`{target}` has moved on since `{title}` was landed")]
    TargetMovedOn { title: Title, target: String },
}

fn named(files: &[String]) -> String {
    const NAMED: usize = 5;
    let mut text = files
        .iter()
        .take(NAMED)
        .map(String::as_str)
        .collect::<Vec<_>>()
        .join(", ");
    if files.len() > NAMED {
        text = format!("{text} and {} more", files.len() - NAMED);
    }
    text
}
