//! Why a landing was refused, for users and scripts.

use serde_json::json;

use super::word::word;
use crate::engine::{Bulk, Error, LandError, Landed};

/// The error code for scripts, and the exit status.
pub(super) fn kind(error: &LandError) -> (&'static str, u8) {
    match error {
        LandError::NotAtRest { .. } => ("not_at_rest", 4),
        LandError::Uncommitted { .. } => ("uncommitted", 4),
        LandError::InProgress { .. } => ("in_progress", 4),
        LandError::Unmerged { .. } => ("unmerged", 4),
        LandError::Nested { .. } => ("nested_repository", 4),
        LandError::PutAway { .. } => ("put_away", 4),
        LandError::NoTarget { .. } => ("no_target", 2),
        LandError::OwnBranch { .. } => ("own_branch", 2),
        LandError::Nothing { .. } => ("nothing_to_land", 4),
        LandError::Conflict { .. } => ("conflict", 6),
        LandError::Unrelated { .. } => ("unrelated", 6),
        LandError::FastForwardOnly { .. } => ("fast_forward_only", 6),
        LandError::CheckConsent { .. } => ("consent_needed", 1),
        LandError::CheckFailed { .. } => ("check_failed", 1),
        LandError::FixInterrupted { .. } => ("interrupted", super::INTERRUPTED),
        LandError::NotFixed { refusal, .. } => kind(refusal),
        LandError::HookFailed { .. } => ("hook_failed", 1),
        LandError::CheckoutDirty { .. } => ("checkout_dirty", 4),
        LandError::CheckoutBusy { .. } => ("checkout_busy", 4),
        LandError::TargetMoved { .. } => ("target_moved", 1),
        LandError::ChangedMeanwhile { .. } => ("changed_meanwhile", 4),
        LandError::NotLanded { .. } => ("not_landed", 4),
        LandError::TargetMovedOn { .. } => ("target_moved_on", 4),
    }
}

pub(super) fn hint(error: &LandError) -> String {
    match error {
        LandError::NotAtRest { title, .. } => {
            let title = word(title);
            format!("`biv wait {title} --for idle`, or `biv pause {title}` first")
        }
        LandError::Uncommitted { .. } => {
            "let the agent commit it, or land it too with `--commit`".to_owned()
        }
        LandError::InProgress { title, .. } | LandError::Unmerged { title, .. } => {
            format!("let the agent finish it: `biv attach {}`", word(title))
        }
        LandError::Nested { .. } => {
            "move them out, ignore them, or make submodules of them".to_owned()
        }
        LandError::PutAway { title, .. } => {
            format!("`biv resume {}`, and land it then", word(title))
        }
        LandError::NoTarget { .. } => "name the branch with `--into BRANCH`".to_owned(),
        LandError::OwnBranch { .. } => "name another branch with `--into BRANCH`".to_owned(),
        LandError::Nothing { title, .. } => {
            format!("`biv kill {}` ends it", word(title))
        }
        LandError::Conflict { .. } => {
            "nothing was changed; `--fix 1` tells the agent to resolve it and tries again"
                .to_owned()
        }
        LandError::Unrelated { .. } => {
            "nothing was changed; name another branch with `--into BRANCH`".to_owned()
        }
        LandError::FastForwardOnly { .. } => {
            "nothing was changed; `--rebase` puts it on top of the branch".to_owned()
        }
        LandError::CheckConsent { .. } => {
            "read it, then `biv land --trust-check` runs it from now on; `--no-check` skips it"
                .to_owned()
        }
        LandError::CheckFailed { log, .. } => format!(
            "nothing was changed; all of its output is in {}; `--fix 1` tells the agent and tries again",
            log.display()
        ),
        LandError::FixInterrupted { title } => format!(
            "nothing was landed, and the agent goes on; when it is done (`biv wait {} --for idle`) land it again",
            word(title)
        ),
        LandError::NotFixed { told, refusal } => still(*told, refusal),
        LandError::HookFailed { .. } => {
            "nothing was changed; correct it, or land without hooks: `--no-hooks`".to_owned()
        }
        LandError::CheckoutDirty { .. } => {
            "nothing was changed; commit or move away these files there".to_owned()
        }
        LandError::CheckoutBusy { .. } => "nothing was changed; finish that first".to_owned(),
        LandError::TargetMoved { .. } => "nothing was changed; try again".to_owned(),
        LandError::ChangedMeanwhile { .. } => {
            "nothing was changed; try again when its agent is at rest".to_owned()
        }
        LandError::NotLanded { title } => format!("`biv show {}` says more", word(title)),
        LandError::TargetMovedOn { .. } => {
            "nothing was changed; `git revert` takes single commits back".to_owned()
        }
    }
}

/// What helps when the agent was told, and the landing is refused for such a reason again.
fn still(told: u32, refusal: &LandError) -> String {
    let title = match refusal {
        LandError::Conflict { title, .. }
        | LandError::CheckFailed { title, .. }
        | LandError::Uncommitted { title, .. } => word(title),
        other => return hint(other),
    };
    let times = match told {
        1 => "once".to_owned(),
        _ => format!("{told} times"),
    };
    let log = match refusal {
        LandError::CheckFailed { log, .. } => {
            format!("; all of the output is in {}", log.display())
        }
        _ => String::new(),
    };
    format!(
        "nothing was changed; its agent was told {times}: `biv log {title}` shows what it did, `biv attach {title}` goes on with it{log}"
    )
}

pub(super) fn details(error: &LandError) -> Option<serde_json::Value> {
    match error {
        LandError::NotFixed { refusal, .. } => details(refusal),
        LandError::Uncommitted { files, .. }
        | LandError::Unmerged { files, .. }
        | LandError::Nested { files, .. } => Some(json!({ "files": files })),
        LandError::Conflict {
            target,
            files,
            subject,
            ..
        } => Some(json!({ "target": target, "files": files, "commit": subject })),
        LandError::CheckFailed {
            command,
            status,
            output,
            log,
            ..
        } => Some(json!({
            "command": command,
            "status": status,
            "output": output,
            "log": log,
        })),
        LandError::HookFailed { hook, output, .. } => {
            Some(json!({ "hook": hook, "output": output }))
        }
        LandError::CheckoutDirty {
            target,
            path,
            files,
        } => Some(json!({ "target": target, "checkout": path, "files": files })),
        _ => None,
    }
}

/// What is printed below the message.
pub(super) fn appendix(error: &LandError) -> Option<String> {
    match error {
        LandError::NotFixed { refusal, .. } => appendix(refusal),
        LandError::CheckFailed { output, .. } | LandError::HookFailed { output, .. }
            if !output.is_empty() =>
        {
            Some(output.clone())
        }
        LandError::Conflict {
            subject: Some(subject),
            ..
        } => Some(format!("the commit that does not fit: {subject}")),
        _ => None,
    }
}

/// What to do about several of which some have not landed. Those that have landed are ended, and cannot be
/// named again.
pub(super) fn hints_of_several(bulk: &Bulk<Landed>) -> Vec<String> {
    let interrupted = |error: &Error| super::kind(error.innermost()).1 == super::INTERRUPTED;
    let rest: Vec<String> = bulk
        .failures
        .iter()
        .map(|failure| word(&failure.title))
        .collect();
    let rest = rest.join(" ");
    let failed = |error: &Error| !interrupted(error);
    if let Some(first) = bulk.failures.iter().find(|one| failed(&one.error)) {
        return vec![format!(
            "correct `{}`, then land what is left: {rest}",
            first.title
        )];
    }
    let told = bulk
        .failures
        .iter()
        .filter_map(|one| match one.error.innermost() {
            Error::Land(LandError::FixInterrupted { title }) => Some(format!(
                "the agent of `{title}` was told, and goes on: `biv wait {} --for idle`",
                word(title)
            )),
            _ => None,
        });
    let again = format!("nothing has to be corrected; to go on, land what is left: {rest}");
    told.chain([again]).collect()
}
