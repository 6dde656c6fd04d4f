//! Bringing finished work onto another branch.

use crate::engine::*;
use crate::model::InstanceId;

impl Engine {
    /// The check that the repository of an instance asks for.
    pub(crate) fn repository_check(&self, given: &str) -> Result<Option<String>, Error> {
        self.core.repository_check(given)
    }

    /// Lands these, one after another, each on top of the one before. A failure does not stop the others.
    /// An agent whose work conflicts or fails the check is told, up to `fixes` times. Each landing is told in
    /// these `words` at once: the others may take long.
    pub(crate) fn land_each(
        &self,
        ids: &[InstanceId],
        options: &LandOptions,
        fixes: u32,
        words: impl Fn(&Landed) -> String,
        progress: &mut dyn Progress,
    ) -> Result<Bulk<Landed>, Error> {
        self.core
            .one_by_one(ids, words, progress, |core, id, progress| {
                core.land_with_fixes(id, options, fixes, progress)
            })
    }

    /// Says what landing these would do.
    pub(crate) fn try_land_each(
        &self,
        ids: &[InstanceId],
        options: &LandOptions,
        words: impl Fn(&Landed) -> String,
        progress: &mut dyn Progress,
    ) -> Result<Bulk<Landed>, Error> {
        let mut assumed = DryRun::default();
        self.core
            .one_by_one(ids, words, progress, |core, id, progress| {
                core.try_land(id.as_str(), options, &mut assumed, progress)
            })
    }

    /// Pushes what is committed, then opens a pull request by `gh` or `glab`.
    pub(crate) fn pull_request(
        &self,
        given: &str,
        options: PullRequestOptions,
    ) -> Result<PullRequestView, Error> {
        self.core.pull_request(given, options)
    }

    /// Stops passing failed checks and comments on to the agent.
    pub(crate) fn unwatch_pull_request(&self, given: &str) -> Result<PullRequestView, Error> {
        self.core.unwatch_pull_request(given)
    }

    /// What is known of the pull request of an instance. The forge is asked if the last answer is older than a
    /// minute.
    pub(crate) fn refreshed_pull_request(&self, id: &InstanceId) -> Option<PullRequestInfo> {
        self.core.refreshed_pull_request(id)
    }

    /// Asks the forges about all pull requests, each at most once a minute, and queues what is new in those
    /// that are watched. Returns what went wrong.
    pub(crate) fn follow_pull_requests(&self) -> Vec<String> {
        self.core.follow_pull_requests()
    }

    /// Moves the target of a landing back, and brings an instance back that it has ended.
    pub(crate) fn undo_land(
        &self,
        given: &str,
        progress: &mut dyn Progress,
    ) -> Result<Unlanded, Error> {
        self.core.undo_land(given, progress)
    }
}
