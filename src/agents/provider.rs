//! One agent, as its file describes it.

use std::sync::OnceLock;
use std::time::Duration;

use super::described::{FilePattern, Find};
use super::file::{
    Capabilities, Discovery, ProviderFile, Reference, SealSpec, SessionCommands, StopBy, Strategy,
    Transcript, Turnless, UnknownIds, Verify,
};
use crate::detect::{
    AgentVersion, Dialog, Draft, Key, Offer, Quiet, Rules, Screen, ShownPrompt, Size, Typed,
    Verdict, VersionRange, last_line,
};

#[derive(Debug, Clone)]
pub(crate) struct Provider {
    name: String,
    pub(super) file: ProviderFile,
    rules: Rules,
    /// The installed version, once it was determined.
    version: OnceLock<AgentVersion>,
}

/// How the agent is recognised as ready for a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Readiness {
    /// Its screen rules say `idle`.
    Rules,
    /// It has no rules: no output for this long.
    Quiet(Duration),
}

impl Provider {
    pub(super) fn new(name: &str, file: ProviderFile) -> Self {
        let rules = [file.extra_rules.as_slice(), &file.rules].concat();
        let rules = Rules::new(rules, file.dialogs.clone(), file.background.clone())
            .telling_failures(file.failure.clone())
            .beside_scroll_bar(file.scroll_bar.clone());
        Self {
            name: name.to_owned(),
            file,
            rules,
            version: OnceLock::new(),
        }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Its name for display.
    pub(crate) fn display(&self) -> &str {
        self.file.display.as_deref().unwrap_or(&self.name)
    }

    pub(crate) fn about(&self) -> Option<&str> {
        self.file.about.as_deref()
    }

    pub(crate) fn seal(&self) -> &SealSpec {
        &self.file.seal
    }

    /// Whether Bivouac chooses the session reference and passes it at the start.
    pub(crate) fn assigns_session_id(&self) -> bool {
        self.file.session.reference == Reference::Assigned
    }

    pub(crate) fn discovery(&self) -> Option<Discovery> {
        self.file.session.discover
    }

    pub(super) fn find(&self) -> Option<&Find> {
        self.file.session.find.as_ref()
    }

    pub(crate) fn unknown_ids(&self) -> UnknownIds {
        self.file.session.unknown_ids
    }

    /// The files that the agent has of a session, as far as they are described.
    pub(super) fn kept(&self) -> &[FilePattern] {
        &self.file.session.kept
    }

    /// The files that mark a session as in use.
    pub(super) fn in_use(&self) -> &[FilePattern] {
        &self.file.session.in_use
    }

    /// How the agent prints and reads a session, if it can.
    pub(super) fn session_commands(&self) -> Option<&SessionCommands> {
        self.file.session.travel.as_ref()
    }

    pub(crate) fn strategy(&self) -> Strategy {
        self.file.session.strategy
    }

    pub(crate) fn turnless(&self) -> Turnless {
        self.file.session.turnless
    }

    /// Whether this output of an ended agent means that it does not know the session.
    pub(crate) fn says_unknown_session(&self, output: &str) -> bool {
        let screen = Screen::new(output);
        screen.filled().any(|row| {
            self.file
                .session
                .unknown
                .iter()
                .any(|pattern| pattern.is_match(row.text()))
        })
    }

    pub(crate) fn interrupt_keys(&self) -> &[Key] {
        &self.file.keys.interrupt
    }

    /// Whether the agent shows that it has taken one interrupt key and waits for the next.
    pub(crate) fn shows_taken_interrupts(&self) -> bool {
        self.file.keys.interrupt_sign.is_some()
    }

    /// Whether the screen says that one interrupt key was taken and another one is wanted.
    pub(crate) fn wants_next_interrupt(&self, screen: &Screen) -> bool {
        let sign = self.file.keys.interrupt_sign.as_ref();
        sign.is_some_and(|sign| {
            let mut rows = screen.filled().rev().take(3);
            rows.any(|row| sign.is_match(row.text()))
        })
    }

    /// The keys that give no reason for a refusal; none where the agent does not ask for it.
    pub(crate) fn no_reason_keys(&self) -> &[Key] {
        &self.file.keys.no_reason
    }

    /// The row in which the agent asks why a request was refused.
    pub(crate) fn asks_why(&self, screen: &Screen) -> Option<usize> {
        let sign = self.file.keys.reason_sign.as_ref()?;
        let rows = screen.rows();
        rows.iter().rposition(|row| sign.is_match(row.text()))
    }

    /// The keys that bring prompts which wait inside the agent back into its input box.
    pub(crate) fn unqueue_keys(&self) -> &[Key] {
        &self.file.keys.unqueue
    }

    /// Whether the screen says that prompts wait inside the agent.
    pub(crate) fn shows_queued(&self, screen: &Screen) -> bool {
        let sign = self.file.keys.queued_sign.as_ref();
        sign.is_some_and(|sign| screen.filled().any(|row| sign.is_match(row.text())))
    }

    /// The prompts that wait inside the agent, where an interrupt puts them into its input box.
    pub(crate) fn queued(&self, screen: &Screen) -> Vec<ShownPrompt> {
        let spec = self.file.input.queued.as_ref();
        spec.map(|spec| spec.read(screen)).unwrap_or_default()
    }

    pub(crate) fn cancel_keys(&self) -> &[Key] {
        &self.file.keys.cancel
    }

    /// The keys that leave a question without an answer; none where a choice means no, or where they would do more.
    pub(crate) fn decline_keys(&self, dialog: &Dialog) -> &[Key] {
        let is_question = dialog.tool.as_deref() == Some("question") && !dialog.plain;
        match is_question && dialog.no().is_none() {
            true => self.cancel_keys(),
            false => &[],
        }
    }

    pub(crate) fn exit_keys(&self) -> &[Key] {
        &self.file.keys.exit
    }

    /// The keys that clear a line of the input box; empty where they are not known.
    pub(crate) fn clear_keys(&self) -> &[Key] {
        &self.file.keys.clear
    }

    /// Enter, unless the file says otherwise.
    pub(crate) fn submit_keys(&self) -> &[Key] {
        match self.file.keys.submit.as_slice() {
            [] => &[Key::Enter],
            keys => keys,
        }
    }

    pub(crate) fn stop_by(&self) -> StopBy {
        self.file.stop.by
    }

    /// How long to wait between a paste and Enter.
    pub(crate) fn settle_before_submit(&self) -> Duration {
        Duration::from_millis(self.file.input.settle_ms)
    }

    pub(crate) fn verify(&self) -> Verify {
        self.file.input.verify
    }

    /// The content of the input box; None for an agent whose box is not described.
    pub(crate) fn draft(&self, screen: &Screen) -> Option<Draft> {
        self.file
            .input
            .draft
            .as_ref()
            .map(|draft| draft.read(screen))
    }

    /// What it offers for a command that was typed; None where its list of commands is never late.
    pub(crate) fn offer(&self, screen: &Screen, command: &str) -> Option<Offer> {
        let input = &self.file.input;
        let (suggestions, draft) = input.suggestions.as_ref().zip(input.draft.as_ref())?;
        Some(suggestions.offer(screen, draft, command))
    }

    /// What it has drawn last, as one line; its status line only where there is nothing else.
    pub(crate) fn last_line(&self, screen: &Screen) -> Option<String> {
        last_line(screen, self.file.input.draft.as_ref())
    }

    /// The whole content of the input box, for an agent that puts prompts back into it.
    pub(crate) fn whole_draft(&self, screen: &Screen) -> Option<String> {
        self.file.input.draft.as_ref()?.whole(screen)
    }

    /// The text in the input box as it was typed, for an agent whose drafts outlive a pause.
    pub(crate) fn kept_draft(&self, screen: &Screen, size: Size) -> Option<Typed> {
        self.file.input.draft.as_ref()?.typed(screen, size)
    }

    pub(crate) fn readiness(&self) -> Readiness {
        match self.file.ready.quiet_ms {
            Some(quiet) => Readiness::Quiet(Duration::from_millis(quiet)),
            None if !self.rules.can_detect_idle() => Readiness::Quiet(Duration::from_secs(5)),
            None => Readiness::Rules,
        }
    }

    /// How long a dialog must be open before it accepts a key.
    pub(crate) fn dialog_hold(&self) -> Duration {
        Duration::from_millis(self.file.ready.dialog_ms)
    }

    /// How long the screen must not change before a started agent counts as ready.
    pub(crate) fn hold_at_start(&self) -> Option<Duration> {
        self.file.ready.hold_ms.map(Duration::from_millis)
    }

    pub(crate) fn rules(&self) -> &Rules {
        &self.rules
    }

    pub(crate) fn judge(&self, screen: &Screen, title: Option<&str>) -> Verdict {
        self.rules.judge(screen, title, self.version.get())
    }

    pub(super) fn version(&self) -> Option<&AgentVersion> {
        self.version.get()
    }

    /// Says that the installed version is none of those that its rules and dialogs were measured on. What still
    /// matches is used; its dialogs are left to the user.
    pub(crate) fn unmeasured(&self) -> Option<String> {
        self.unmeasured_as(Some(self.version()?))
    }

    /// The same of the version that was found just now. One that is not known may be any.
    pub(crate) fn unmeasured_as(&self, version: Option<&AgentVersion>) -> Option<String> {
        let measured = self.file.measured.as_ref()?;
        let name = self.display();
        match version {
            Some(version) if measured.contains(version) => None,
            Some(version) => Some(format!(
                "{name} {version} was not measured, only {measured}"
            )),
            None => Some(format!(
                "the version of {name} is not known, and only {measured} was measured"
            )),
        }
    }

    /// Whether its dialogs are those of certain versions only.
    pub(crate) fn is_measured(&self) -> bool {
        self.file.measured.is_some()
    }

    /// Whether the installed version is known to be one of these.
    pub(super) fn is_within(&self, range: &VersionRange) -> bool {
        self.version()
            .is_some_and(|version| range.contains(version))
    }

    /// Whether its version must be known for a start.
    pub(crate) fn needs_version(&self) -> bool {
        self.version().is_none() && (self.hooks_need_version() || self.guard_needs_version())
    }

    /// Sets the installed version; the first call wins.
    pub(crate) fn assume_version(&self, version: AgentVersion) {
        self.version.get_or_init(|| version);
    }

    pub(crate) fn knows_its_version(&self) -> bool {
        self.version.get().is_some()
    }

    pub(crate) fn transcript(&self) -> &Transcript {
        &self.file.transcript
    }

    pub(crate) fn capabilities(&self) -> Capabilities {
        self.file.capabilities
    }

    /// Known limitations, for display.
    pub(crate) fn limits(&self) -> &[String] {
        &self.file.limits
    }
}

impl Readiness {
    /// How [`crate::detect::Settle`] waits for it.
    pub(crate) fn quiet(self) -> Quiet {
        match self {
            Self::Rules => Quiet::Ignored,
            Self::Quiet(window) => Quiet::After(window),
        }
    }
}
