//! Replaces old entries of a conversation by a summary.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::time::Duration;

use serde::Serialize;
use serde_json::json;

use crate::conversation::{ConversationEntry, Digest, transcript_text};
use crate::engine::base::{Core, Error};
use crate::model::{EventKind, RestingState};
use crate::process::Command;
use crate::store::{ConversationDir, Cut};

/// How long a model may take for a summary.
const DEADLINE: Duration = Duration::from_secs(300);
/// How much of the older part a summary program gets; the built-in summary covers the rest.
const GIVEN: usize = 256 * 1024;
/// A longer answer is no summary.
const LONGEST_ANSWER: usize = 32 * 1024;
const REQUEST: &str = "Sum up this conversation between a person and a coding agent, so that the \
agent can go on from the summary alone. Use these headings: Overview, Key decisions, Problems and \
solutions, Current state, Pending tasks. Answer with the summary only.\n\n";

/// The result of a compaction.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Compaction {
    /// False where there was nothing to sum up.
    pub compacted: bool,
    /// How many entries the summary replaces, including those of earlier summaries.
    pub summarised: u64,
    pub keep: usize,
    /// What made the summary.
    pub by: Option<Summariser>,
    /// Why it was not the one that was asked for.
    pub note: Option<String>,
    pub archive: Option<PathBuf>,
    pub summary: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Summariser {
    BuiltIn,
    Command,
}

impl Core {
    /// Replaces all but the last entries of a conversation by a summary. An archive keeps the whole.
    pub(crate) fn compact(&self, given: &str) -> Result<Compaction, Error> {
        let found = self.find_any(given)?;
        let (dir, record) = (found.dir, found.record);
        self.import_conversation(&dir, &record)?;
        let conversation = dir.conversation();
        let keep = self.settings().compact.keep;
        let mut compaction = Compaction {
            compacted: false,
            summarised: 0,
            keep,
            by: None,
            note: None,
            archive: None,
            summary: None,
        };
        let Some(cut) = conversation.cut(keep)? else {
            return Ok(compaction);
        };
        let (digest, text) = read_older(&conversation, &cut)?;
        let Some(mut summary) = digest.summary() else {
            return Ok(compaction);
        };
        // No lock is held meanwhile, so entries that arrive while a model works are kept.
        let mut by = Summariser::BuiltIn;
        match self.ask_command(&summary, &text) {
            None => {}
            Some(Ok(answer)) => {
                summary.content = answer;
                by = Summariser::Command;
            }
            Some(Err(reason)) => compaction.note = Some(reason),
        }
        let summary = summary.with(
            "by",
            if by == Summariser::Command {
                "command"
            } else {
                "built-in"
            },
        );
        let content = summary.content.clone();
        let lock = conversation.lock()?;
        let Some(archive) = conversation.replace_older(&lock, &cut, summary)? else {
            return Ok(compaction);
        };
        let mut imports = conversation.imports()?;
        conversation.save_imports(&lock, &mut imports)?;
        drop(lock);
        self.emit(
            EventKind::Compacted,
            &record,
            json!({ "summarised": digest.entries(), "kept": keep }),
        );
        Ok(Compaction {
            compacted: true,
            summarised: digest.entries(),
            by: Some(by),
            archive: Some(archive),
            summary: Some(content),
            ..compaction
        })
    }

    /// As `compact`, for a conversation that has grown long and whose agent is paused or long idle.
    pub(crate) fn compact_if_due(
        &self,
        given: &str,
        idle: Option<Duration>,
    ) -> Result<Option<Compaction>, Error> {
        let found = self.find_any(given)?;
        let settings = &self.settings().compact;
        let rests = match found.record.state {
            RestingState::Running => idle.is_some_and(|idle| idle >= settings.idle),
            RestingState::Paused
            | RestingState::Completed
            | RestingState::Failed
            | RestingState::Interrupted => true,
            RestingState::Away | RestingState::Killed => false,
        };
        if !rests || !found.dir.conversation().has_more_than(settings.after)? {
            return Ok(None);
        }
        self.compact(found.record.id.as_str()).map(Some)
    }

    /// The summary of the configured program; None if none is configured.
    fn ask_command(
        &self,
        summary: &ConversationEntry,
        text: &str,
    ) -> Option<Result<String, String>> {
        let line = self.settings().compact.command.trim();
        if line.is_empty() {
            return None;
        }
        let Some((program, args)) = shlex::split(line)
            .as_deref()
            .and_then(<[String]>::split_first)
            .map(|(program, args)| (program.clone(), args.to_vec()))
        else {
            return Some(Err("`compact.command` is not a command line".to_owned()));
        };
        let given = format!("{REQUEST}{}\n\n{text}", summary.content);
        let output = Command::new(program)
            .args(args)
            .directory(&self.home.state)
            .stdin(given)
            .deadline(DEADLINE)
            .run();
        Some(match output {
            Err(error) => Err(error.to_string()),
            Ok(answer) => {
                let answer = String::from_utf8_lossy(&answer).trim().to_owned();
                match answer.len() {
                    0 => Err("`compact.command` said nothing".to_owned()),
                    length if length > LONGEST_ANSWER => {
                        Err(format!("`compact.command` answered with {length} bytes"))
                    }
                    _ => Ok(answer),
                }
            }
        })
    }
}

/// Counts the older part and returns the end of it as text, in bounded memory.
fn read_older(conversation: &ConversationDir, cut: &Cut) -> Result<(Digest, String), Error> {
    let mut digest = Digest::default();
    let mut text: VecDeque<String> = VecDeque::new();
    let mut length = 0;
    let mut reader = conversation.older(cut)?;
    loop {
        let entries = reader.next()?;
        if entries.is_empty() {
            return Ok((digest, text.into_iter().collect()));
        }
        for entry in &entries {
            digest.take(entry);
            let told = transcript_text(entry);
            length += told.len();
            text.push_back(told);
            while length > GIVEN {
                let Some(first) = text.pop_front() else { break };
                length -= first.len();
            }
        }
    }
}
