//! What an agent reports about itself, by its hooks or in its own files.

use crate::agents::{Host, Provider, TranscriptQuery};
use crate::detect::{SelfReport, VerdictSource};
use crate::engine::base::now;
use crate::model::Activity;
use crate::process::Identity;
use crate::store::InstanceDir;

/// The latest report that names an activity, if there is one. Reads one or two small files.
pub(in crate::engine) fn self_report(
    provider: &Provider,
    dir: &InstanceDir,
    host: &Host,
    leader: Option<&Identity>,
) -> Option<SelfReport> {
    let now = now();
    let report = provider.has_hooks().then(|| dir.hook_report()).flatten();
    let hook = report.and_then(|report| {
        let activity = provider.activity_of_event(&report.event, report.detail.as_deref())?;
        Some(SelfReport {
            activity,
            source: VerdictSource::Hook,
            said: report.event,
            age: report.at.until(now),
            current: false,
        })
    });
    let registered = leader
        .and_then(|leader| provider.registered(host, leader))
        .map(|(activity, said, at)| SelfReport {
            activity,
            source: VerdictSource::Registry,
            said,
            age: at.until(now),
            current: true,
        });
    let registered = registered.or_else(|| written(provider, dir, host));
    match (hook, registered) {
        // A hook tells of a dialog once; the file says whether it still waits.
        (_, Some(registered))
            if matches!(registered.activity, Activity::Approval | Activity::Question) =>
        {
            Some(registered)
        }
        (Some(hook), Some(registered)) if registered.age < hook.age => Some(registered),
        // They agree, and silence does not end what the file says.
        (Some(hook), Some(registered))
            if registered.current && hook.activity == registered.activity =>
        {
            Some(registered)
        }
        (Some(hook), _) => Some(hook),
        (None, registered) => registered,
    }
}

/// What the agent's transcript tells, if that is newer than the last operation: an agent that was killed has
/// left a turn without its end.
fn written(provider: &Provider, dir: &InstanceDir, host: &Host) -> Option<SelfReport> {
    if !provider.writes_its_activity() {
        return None;
    }
    let record = dir.record().ok()?;
    let query = TranscriptQuery {
        reference: record.session_ref.as_deref()?,
        worktree: &record.worktree.path,
        below: record.below(),
        since: record.created_at,
    };
    let (activity, said, at) = provider.written_activity(query, host)?;
    (at >= record.updated_at).then(|| SelfReport {
        activity,
        source: VerdictSource::Registry,
        said,
        age: at.until(now()),
        current: false,
    })
}
