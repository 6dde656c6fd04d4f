//! The activity of all instances, with as few tmux calls as possible.

use std::path::Path;
use std::time::Duration;

use crate::agents::Provider;
use crate::detect::{Screen, Verdict, VerdictSource, combine, last_line, verdict_by_output};
use crate::engine::base::resolve::state_of;
use crate::engine::base::saved::SavedWork;
use crate::engine::base::usage::KeptUsage;
use crate::engine::base::via::via;
use crate::engine::base::view::{AskedView, AwayView, InstanceView, PauseView, SealView, WorkKept};
use crate::engine::base::{Core, Error, Found, now};
use crate::engine::watch::changes;
use crate::engine::watch::limit::with_limit;
use crate::engine::watch::look::screen_of;
use crate::engine::watch::on_disk::{ChangeSigns, OnDisk};
use crate::engine::watch::self_report::self_report;
use crate::engine::watch::standing::SharedTimes;
use crate::model::{
    Activity, DiffStat, InstanceId, InstanceRecord, Pause, RestingState, Timestamp, printable_line,
};
use crate::policy::fingerprint;
use crate::tmux::{Pane, Screenshot};

impl Core {
    /// What an agent's screen shows, by the rules of that agent.
    pub(crate) fn detect(
        &self,
        agent: &str,
        capture: &str,
        title: Option<&str>,
    ) -> Result<Verdict, Error> {
        let provider = self.catalog.require(agent)?;
        Ok(crate::detect::explain(provider.rules(), capture, title))
    }

    /// What the agent of a running instance is doing, by the best source there is.
    pub(in crate::engine) fn verdict(
        &self,
        record: &InstanceRecord,
        shot: Option<&Screenshot>,
        pane: Option<&Pane>,
    ) -> Verdict {
        let screen = shot.map(screen_of);
        self.verdict_on(record, shot.zip(screen.as_ref()), pane)
    }

    /// The same for a caller that listens to the agent's output, which has been silent for this long.
    pub(in crate::engine) fn verdict_after(
        &self,
        record: &InstanceRecord,
        shot: &Screenshot,
        silent: Duration,
    ) -> Verdict {
        self.judged(record, (shot, &screen_of(shot)), silent)
            .unwrap_or_else(Verdict::unknown)
    }

    fn verdict_on(
        &self,
        record: &InstanceRecord,
        shot: Option<(&Screenshot, &Screen)>,
        pane: Option<&Pane>,
    ) -> Verdict {
        let silent = pane
            .and_then(|pane| Timestamp::from_epoch(pane.active_at))
            .map_or(Duration::ZERO, |active| active.until(now()));
        let Some(verdict) = shot.and_then(|shot| self.judged(record, shot, silent)) else {
            return Verdict::unknown();
        };
        let by_output = self
            .provider(&record.agent)
            .is_ok_and(|provider| !provider.rules().can_detect_idle());
        match by_output && pane.is_some() {
            true => verdict_by_output(verdict, silent),
            false => verdict,
        }
    }

    /// What screen and self-report say together; None if the agent has ended or is not known.
    fn judged(
        &self,
        record: &InstanceRecord,
        (shot, screen): (&Screenshot, &Screen),
        silent: Duration,
    ) -> Option<Verdict> {
        if shot.dead {
            return None;
        }
        let provider = self.provider(&record.agent).ok()?;
        let seen = provider.judge(screen, Some(&shot.title));
        let dir = self.store.instance(&record.id);
        let leader = record.place.as_ref().map(|place| &place.agent);
        let report = self_report(provider, &dir, &self.host, leader);
        Some(with_limit(&dir, combine(seen, report.as_ref(), silent)))
    }

    /// What its agent has drawn last, as one line.
    pub(in crate::engine) fn last_line(
        &self,
        record: &InstanceRecord,
        shot: &Screenshot,
    ) -> Option<String> {
        self.last_line_on(record, &screen_of(shot))
    }

    fn last_line_on(&self, record: &InstanceRecord, screen: &Screen) -> Option<String> {
        let line = match self.provider(&record.agent) {
            Ok(provider) => provider.last_line(screen),
            Err(_) => last_line(screen, None),
        };
        line.map(|line| printable_line(&line))
    }

    /// A view of an instance that was just paused or started. Its changes are not counted and its screen
    /// is not looked at, because that would take long; [`Self::show`] does both.
    pub(in crate::engine) fn view_at_rest(&self, record: &InstanceRecord) -> InstanceView {
        let found = Found {
            dir: self.store.instance(&record.id),
            record: record.clone(),
            journal: None,
        };
        self.view_without_changes(&found, None, None)
    }

    /// Adds the counted changes to a view that lacks them.
    pub(crate) fn with_changes(&self, view: InstanceView) -> InstanceView {
        let dir = self.store.instance(&view.id);
        let Ok(record) = dir.record() else {
            return view;
        };
        let found = Found {
            dir,
            record,
            journal: None,
        };
        let signs = ChangeSigns::read(&found, &SharedTimes::default());
        self.with_counts(&found, signs, None, view)
    }

    /// What is known of an instance right now, with its changes counted.
    pub(in crate::engine) fn view(
        &self,
        found: &Found,
        pane: Option<&Pane>,
        shot: Option<&Screenshot>,
    ) -> InstanceView {
        let signs = ChangeSigns::read(found, &SharedTimes::default());
        let view = self.view_without_changes(found, pane, shot);
        self.with_counts(found, signs, pane, view)
    }

    /// The same without counting changes, which asks git.
    fn view_without_changes(
        &self,
        found: &Found,
        pane: Option<&Pane>,
        shot: Option<&Screenshot>,
    ) -> InstanceView {
        let usage = KeptUsage::of(&found.dir);
        self.view_from(found, self.on_disk(found, &usage), pane, shot)
    }

    /// The same from what was read before.
    pub(in crate::engine) fn view_from(
        &self,
        found: &Found,
        on_disk: OnDisk,
        pane: Option<&Pane>,
        shot: Option<&Screenshot>,
    ) -> InstanceView {
        let Found {
            dir: _,
            record,
            journal,
        } = found;
        let state = state_of(record, journal.as_ref());
        let screen = shot.map(screen_of);
        let shot = shot.zip(screen.as_ref());
        let verdict = shot.map(|shot| self.verdict_on(record, Some(shot), pane));
        let activity = match record.state {
            RestingState::Running => {
                Some(verdict.as_ref().map_or(Activity::Unknown, |v| v.activity))
            }
            RestingState::Completed | RestingState::Failed | RestingState::Interrupted => {
                Some(Activity::Exited)
            }
            RestingState::Paused | RestingState::Away | RestingState::Killed => None,
        };
        let last_active_at = pane
            .and_then(|pane| Timestamp::from_epoch(pane.active_at))
            .map_or(record.last_active_at, |at| at.max(record.last_active_at));
        let OnDisk { run, kept, .. } = on_disk;
        let provider = self.provider_of(record).ok();
        InstanceView {
            host: via().map(str::to_owned),
            id: record.id.clone(),
            title: record.title.clone(),
            repo: record.repository.root.clone(),
            branch: record.branch.as_ref().map(|branch| branch.name.clone()),
            base: record.base.name.clone(),
            base_commit: record.base.commit.clone(),
            worktree: record.worktree.path.clone(),
            worktree_present: kept == WorkKept::InPlace,
            subdirectory: record.below().map(Path::to_owned),
            agent: record.agent.clone(),
            command: record.command.clone(),
            tmux_session: pane.map(|pane| pane.session.clone()),
            state,
            activity,
            background: verdict
                .as_ref()
                .filter(|verdict| verdict.activity == Activity::Idle)
                .and_then(|verdict| verdict.background.clone()),
            says: verdict.as_ref().and_then(|verdict| verdict.says.clone()),
            blocked_until: verdict
                .as_ref()
                .filter(|verdict| verdict.activity == Activity::Blocked)
                .and_then(|verdict| verdict.limit)
                .map(|limit| limit.resets_at),
            autoyes: on_disk.autoyes,
            autoyes_stopped: on_disk.autoyes_stopped,
            idle_timeout_s: self.idle_timeout(record.idle_timeout_s),
            session_ref: record.session_ref.clone(),
            resumable: run.as_ref().is_some_and(|run| run.resumable),
            created_at: record.created_at,
            updated_at: record.updated_at,
            last_active_at,
            paused_at: record.paused_at,
            resumed_at: record.resumed_at,
            interrupted_at: record
                .interrupted_at
                .filter(|_| record.state == RestingState::Interrupted),
            pause: shown_pause(record).map(|pause| PauseView {
                at: pause.at,
                reason: pause.reason,
                snapshot: pause.snapshot.clone(),
                scrollback_lines: pause.scrollback_lines,
                last_action: pause.last_action.clone(),
                pending_tasks: pause.pending_tasks.clone(),
                forced: pause.forced,
                stopped: pause.stopped.clone(),
                draft: pause.draft.clone(),
                left_on_disk: crate::engine::base::saved::SavedWork::of(record)
                    .map(|vault| vault.left)
                    .unwrap_or_default(),
            }),
            draft: record.draft.clone(),
            diff: None,
            dirty: None,
            standing: None,
            pull_request: on_disk.pull_request.map(Into::into),
            queue: on_disk.queue,
            turn_cut_at: on_disk.turn_cut_at,
            turn_failed: verdict
                .as_ref()
                .filter(|verdict| verdict.activity == Activity::Idle)
                .and_then(|verdict| verdict.failed.as_deref())
                .map(printable_line),
            run_id: record.run.clone(),
            last_line: screen.and_then(|screen| self.last_line_on(record, &screen)),
            asks: verdict
                .as_ref()
                .and_then(|verdict| asked(verdict, &record.worktree.path, provider)),
            exit_code: run.and_then(|run| run.exit_code),
            unmeasured: provider.and_then(Provider::unmeasured),
            activity_source: verdict.as_ref().and_then(source_text),
            stuck: None,
            usage: on_disk.usage,
            seal: SealView::of(record, on_disk.denied),
            size: None,
            away: AwayView::of(record),
            lease: record
                .lease
                .as_ref()
                .map(|lease| lease.number)
                .filter(|number| *number > 0),
            kept,
        }
    }

    /// Makes the next look at an instance count its changes again.
    pub(crate) fn recount(&self, id: &InstanceId) {
        changes::forget(&self.store.instance(id));
    }

    /// Adds what has changed to a view, and how the branch stands to its base.
    pub(in crate::engine) fn with_counts(
        &self,
        found: &Found,
        signs: ChangeSigns,
        pane: Option<&Pane>,
        view: InstanceView,
    ) -> InstanceView {
        let (diff, dirty) = match view.worktree_present {
            true => signs
                .live
                .and_then(|live| changes::count(&found.dir, &found.record, live, pane))
                .unzip(),
            false => saved_difference(found),
        };
        InstanceView {
            diff,
            dirty,
            standing: signs.standing,
            ..view
        }
    }
}

/// What the saved work of an instance without a worktree has changed, and whether some of it is in no commit.
fn saved_difference(found: &Found) -> (Option<DiffStat>, Option<bool>) {
    let record = &found.record;
    let Some(snapshot) = SavedWork::of(record).ok().and_then(|saved| saved.snapshot) else {
        return (None, None);
    };
    // Where it cannot be asked (the repository is away), the counts of the snapshot tell.
    let counted = changes::count_saved(&found.dir, record, &snapshot);
    let dirty = counted.map_or(snapshot.changed + snapshot.untracked > 0, |(_, dirty)| {
        dirty
    });
    (counted.map(|(diff, _)| diff), Some(dirty))
}

/// The pause to show. A running instance that was killed also has a pause, which is only for `undo-kill`.
fn shown_pause(record: &InstanceRecord) -> Option<&Pause> {
    let pause = record.pause.as_ref()?;
    (record.killed_at != Some(pause.at)).then_some(pause)
}

/// What an open dialog asks, in short. A command is told as it is; paths begin at the worktree.
fn asked(verdict: &Verdict, worktree: &Path, provider: Option<&Provider>) -> Option<AskedView> {
    let dialog = verdict.dialog.as_ref()?;
    let about = dialog.paths.first().or(dialog.question.as_ref());
    let subject = dialog
        .command
        .clone()
        .or_else(|| about.map(|text| text.replace(&format!("{}/", worktree.display()), "")));
    let tool = dialog.tool.clone();
    let parts: Vec<String> = tool.into_iter().chain(subject).collect();
    let label = |choice: &crate::detect::Choice| printable_line(&choice.label);
    Some(AskedView {
        dialog: fingerprint(dialog),
        text: printable_line(&parts.join(" · ")),
        choices: dialog.choices.iter().map(label).collect(),
        numbered_from: dialog.numbered_from,
        own_words: dialog.own_words.map(|own| own + dialog.numbered_from),
        takes_yes: dialog.yes().is_some(),
        takes_no: dialog.no().is_some()
            || provider.is_some_and(|provider| !provider.decline_keys(dialog).is_empty()),
    })
}

/// The source of the activity and its evidence: `title title-busy`, `hook Stop`.
fn source_text(verdict: &Verdict) -> Option<String> {
    let source = verdict.source.name();
    match &verdict.rule {
        Some(rule) => Some(format!("{source} {rule}")),
        None => (verdict.source == VerdictSource::Output).then(|| source.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::Catalog;
    use crate::detect::Screen;

    fn captured(screen: &str) -> String {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/screens");
        std::fs::read_to_string(root.join(screen)).unwrap()
    }

    fn asked_on(agent: &str, screen: &str, worktree: &str) -> String {
        view_of(agent, screen, worktree).text
    }

    fn view_of(agent: &str, screen: &str, worktree: &str) -> AskedView {
        let catalog = Catalog::built_in();
        let provider = catalog.require(agent).unwrap();
        let verdict = provider.judge(&Screen::new(screen), None);
        let asked = asked(&verdict, Path::new(worktree), Some(provider));
        asked.unwrap()
    }

    #[test]
    fn it_is_told_which_answers_a_dialog_takes() {
        let told = |screen: &str| {
            let asked = view_of("claude", &captured(screen), "/w");
            (asked.own_words, asked.takes_yes, asked.takes_no)
        };
        // Escape leaves the question without an answer.
        let question = told("claude/question/ask-question.txt");
        assert_eq!(question, (Some(3), false, true));
    }

    #[test]
    fn a_question_names_files_from_the_worktree_on() {
        let write = captured("copilot/approval/write-80.txt");
        assert_eq!(
            asked_on("copilot", &write, "/tmp/bivouac-screens/app"),
            "write · guests.md"
        );
        // A question of no known tool.
        let other = write.replace("to create /", "to rename /");
        assert_eq!(
            asked_on("copilot", &other, "/tmp/bivouac-screens/app"),
            "Do you want to rename guests.md?"
        );
        assert_eq!(
            asked_on("copilot", &other, "/tmp/bivouac-screens/ap"),
            "Do you want to rename /tmp/bivouac-screens/app/guests.md?"
        );
    }

    /// The rows above may be anything that was there before.
    #[test]
    fn a_question_about_no_tool_is_told_alone() {
        for columns in [80, 120] {
            let screen = captured(&format!("aider/approval/analytics-{columns}.txt"));
            assert_eq!(
                asked_on("aider", &screen, "/w"),
                "Allow collection of anonymous analytics to help improve aider?"
            );
        }
    }

    /// What it touches depends on where it runs.
    #[test]
    fn a_command_is_told_as_it_is() {
        let shell = captured("codex/approval/real-shell-120.txt");
        let shell = shell.replace("touch one two three", "cd / && rm /app/one");
        assert_eq!(
            asked_on("codex", &shell, "/app"),
            "shell · cd / && rm /app/one"
        );
    }

    /// The command, or the change of a file, may be all that differs.
    #[test]
    fn dialogs_that_show_something_else_have_other_ids() {
        let catalog = Catalog::built_in();
        let provider = catalog.require("claude").unwrap();
        let id = |screen: &str| {
            let verdict = provider.judge(&Screen::new(screen), None);
            asked(&verdict, Path::new("/w"), None).unwrap().dialog
        };
        for (file, shown, other) in [
            ("v2.1.200-edit-80", "the tent is green", "the tent is red"),
            ("perm-write", "written by mock", "written by another"),
        ] {
            let screen = captured(&format!("claude/approval/{file}.txt"));
            let (above, dialog) = screen.rsplit_once("\n────").unwrap();
            assert!(dialog.contains(shown), "{dialog}");
            let (dialog, changed) = (dialog.to_owned(), dialog.replace(shown, other));
            let drawn = |above: &str, dialog: &str| id(&format!("{above}\n────{dialog}"));
            assert_eq!(drawn(above, &dialog), drawn("", &dialog), "{file}");
            assert_ne!(drawn(above, &dialog), drawn(above, &changed), "{file}");
        }
    }
}
