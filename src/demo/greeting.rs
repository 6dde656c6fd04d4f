//! The start of a session: finds or creates it, and prints its header.

use std::path::Path;
use std::time::Duration;

use uuid::Uuid;

use super::args::DemoArgs;
use super::editor::Editor;
use super::memory::Memory;
use super::paint::{Ink, Line, cut, short_block};
use super::reply;
use super::session::{SessionEntry, SessionFile, Speaker};
use super::state::{Agent, Audience, Size};

/// How many entries of an earlier conversation are shown again, and how many rows of each.
const REPLAYED_ENTRIES: usize = 12;
const REPLAYED_ROWS: usize = 4;

pub(super) struct Opening {
    pub file: SessionFile,
    session: Uuid,
    directory: String,
    past: Vec<SessionEntry>,
    memory: Memory,
}

/// Opens the requested session; an error message where it does not exist.
pub(super) fn open(args: &DemoArgs) -> Result<Opening, String> {
    let session = args.resume.or(args.session_id).unwrap_or_else(Uuid::new_v4);
    let file = SessionFile::new(&args.sessions, session);
    let past = file
        .load()
        .map_err(|error| format!("The session file cannot be read: {error}"))?;
    let memory = Memory::of(&past);
    match (args.resume, memory.turns()) {
        (Some(id), 0) => return Err(format!("No conversation found with session ID: {id}")),
        (None, 1..) => return Err(format!("Error: Session ID {session} is already in use.")),
        (Some(_), _) | (None, 0) => {}
    }
    let directory = std::env::current_dir()
        .map(|path| path.display().to_string())
        .unwrap_or_default();
    Ok(Opening {
        file,
        session,
        directory,
        past,
        memory,
    })
}

impl Opening {
    pub(super) fn agent(&self, audience: Audience, size: Size, think: Duration) -> Agent {
        Agent {
            directory: self.directory.clone(),
            memory: self.memory.clone(),
            size,
            audience,
            think,
            editor: Editor::default(),
            turn: None,
            queue: std::collections::VecDeque::new(),
            exit_hint: None,
            ignores_signals: false,
            leaves_when_idle: false,
        }
    }

    /// The first lines, and on resume the conversation so far.
    pub(super) fn header(&self, columns: usize) -> Vec<Line> {
        let room = columns.saturating_sub(5);
        let mut lines = vec![
            Line::blank(),
            Line::new(Ink::Warm, " ⛺ ").and(Ink::Bold, "Bivouac demo agent"),
            Line::new(
                Ink::Dim,
                &format!("    session {}", cut(&self.session.to_string(), room)),
            ),
            Line::new(Ink::Dim, &format!("    {}", cut(&self.directory, room))),
        ];
        if self.past.is_empty() {
            return lines;
        }
        lines.extend(replay(&self.past, columns));
        let turns = reply::count(self.memory.turns(), "turn");
        if self.memory.open_turn {
            lines.push(Line::new(
                Ink::Bad,
                "  ⎿  The last turn was cut off before it ended",
            ));
        }
        lines.push(Line::blank());
        lines.push(Line::new(Ink::Good, "✻ Welcome back").and(
            Ink::Dim,
            &cut(&format!(" · {turns} so far · /recall lists them"), room),
        ));
        lines
    }

    /// The command that resumes this session.
    pub(super) fn farewell(&self, sessions: &Path) -> String {
        let words = ["biv".into(), "__demo-agent".into(), "--sessions".into()];
        let sessions = sessions.to_string_lossy();
        let words = words.into_iter().chain([sessions, "--resume".into()]);
        let quoted: Vec<String> = words
            .map(|word| match shlex::try_quote(&word) {
                Ok(quoted) => quoted.into_owned(),
                Err(_) => word.to_string(),
            })
            .collect();
        format!("{} {}", quoted.join(" "), self.session)
    }
}

fn replay(past: &[SessionEntry], columns: usize) -> Vec<Line> {
    let told: Vec<&SessionEntry> = past
        .iter()
        .filter(|entry| entry.speaker != Speaker::System && !entry.content.is_empty())
        .collect();
    let mut lines = Vec::new();
    let left_out = told.len().saturating_sub(REPLAYED_ENTRIES);
    if left_out > 0 {
        lines.push(Line::blank());
        lines.push(Line::new(
            Ink::Dim,
            &format!("  … {left_out} earlier entries"),
        ));
    }
    for entry in told.iter().skip(left_out) {
        let text = entry.content.trim_end_matches('\n');
        let (mark, ink) = match entry.speaker {
            Speaker::User => ((Ink::Dim, "❯ "), Ink::Bold),
            Speaker::Assistant => ((Ink::Accent, "● "), Ink::Plain),
            Speaker::Tool | Speaker::System => ((Ink::Dim, "  ⎿  "), Ink::Dim),
        };
        // The output of a tool is right below its call.
        if entry.speaker != Speaker::Tool {
            lines.push(Line::blank());
        }
        lines.extend(short_block(mark, ink, text, columns, REPLAYED_ROWS));
    }
    lines
}
