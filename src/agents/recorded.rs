//! An agent's file, made from recorded screens of a program that nothing is known of.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::path::Path;

use super::catalog::{CatalogError, provider_from};
use super::provider::Provider;
use crate::detect::Screen;
use crate::model::Activity;

/// The title of the instance that the program runs in, which is a part of its worktree's name and of its branch.
pub(crate) const TITLE: &str = "recorded";
/// How the name of the directory around it begins.
pub(crate) const PLACE: &str = "biv-record-";
/// What is typed into the input box to find it.
pub(crate) const SAMPLE: &str = "bivouac looks for the box";
/// How many rows from the bottom may tell what the agent does.
const FOOT: usize = 12;
/// The most patterns for one activity.
const MOST_PATTERNS: usize = 3;
/// The most words of a pattern.
const MOST_WORDS: usize = 6;
/// Signs that turn while an agent works.
const SPINNERS: &str = "[⠁-⣿◐◓◑◒✢✳✶✻✽]";

/// One screen of the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Frame {
    pub text: String,
    pub title: String,
}

/// How a conversation is brought back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RecordedSession {
    /// A new one is told what happened.
    Told,
    /// We choose its id.
    Assigned { fresh: String, resume: String },
    /// It chooses its id, and writes it into its own files.
    Found {
        resume: String,
        files: String,
        id: String,
        directory: String,
    },
}

/// What was seen of the program.
#[derive(Debug, Clone)]
pub(crate) struct Recording {
    pub command: Vec<String>,
    /// At its empty prompt, and with [`SAMPLE`] in its input box.
    pub idle: Frame,
    pub draft: Frame,
    /// Whether Ctrl+u empties the box.
    pub clears: bool,
    /// In the middle of a turn, and at its prompt after it.
    pub busy: Vec<Frame>,
    pub rested: Frame,
    /// Its question whether it may do something.
    pub dialog: Option<Frame>,
    /// The key that ends a turn.
    pub interrupt: Option<String>,
    pub session: RecordedSession,
}

/// The file, and how many of the recorded screens it reads as what they are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RecordedFile {
    pub text: String,
    pub idle: (usize, usize),
    pub busy: (usize, usize),
    pub dialog: Option<bool>,
}

/// Writes the file of the agent, and reads the recorded screens by it.
pub(crate) fn describe(
    name: &str,
    path: &Path,
    recording: &Recording,
) -> Result<RecordedFile, CatalogError> {
    let text = written(name, recording);
    let provider = provider_from(name, path, "", &text)?;
    let reads = |frame: &Frame, activity| activity_of(&provider, frame) == activity;
    let rest = [&recording.idle, &recording.draft, &recording.rested];
    let idle = rest.iter().filter(|frame| reads(frame, Activity::Idle));
    let busy = recording.busy.iter();
    let busy = busy.filter(|frame| reads(frame, Activity::Busy));
    Ok(RecordedFile {
        idle: (idle.count(), rest.len()),
        busy: (busy.count(), recording.busy.len()),
        dialog: (recording.dialog.as_ref()).map(|frame| reads(frame, Activity::Approval)),
        text,
    })
}

fn activity_of(provider: &Provider, frame: &Frame) -> Activity {
    let screen = Screen::new(&frame.text);
    provider.judge(&screen, Some(&frame.title)).activity
}

fn written(name: &str, recording: &Recording) -> String {
    let mut text = format!(
        "# {name}, recorded by `biv agents record`. docs/agents.md explains the keys. Autoyes does not answer its\n\
         # dialogs: for that they must be described in [[dialogs]].\n\n\
         command = {}\n",
        list(&recording.command)
    );
    text.push_str(&session(&recording.session));
    let prompt = Prompt::of(recording);
    text.push_str("\n[keys]\nsubmit = [\"Enter\"]\n");
    if let Some(key) = &recording.interrupt {
        _ = writeln!(text, "interrupt = [{}]", quoted(key));
    }
    if recording.clears {
        text.push_str("clear = [\"C-u\"]\n");
    }
    text.push_str("\n[input]\n");
    match &prompt {
        Some(prompt) => {
            _ = write!(
                text,
                "verify = \"draft\"\n\n[input.draft]\nrow = {}\nplaceholders = {}\n",
                quoted(&prompt.row()),
                list(&prompt.placeholders)
            );
        }
        None => text.push_str(
            "verify = \"none\"\n\n# Its input box was not found: it counts as ready when it prints nothing for a while.\n\
             [ready]\nquiet_ms = 3000\n",
        ),
    }
    let rest = [&recording.idle, &recording.draft, &recording.rested];
    if let Some(dialog) = &recording.dialog {
        let others: Vec<&Frame> = rest.into_iter().chain(&recording.busy).collect();
        if let Some((pattern, last)) = dialog_pattern(dialog, &others) {
            rule(&mut text, "question", "approval", last, &[pattern]);
        }
    }
    let work = Work::of(&recording.busy, &rest);
    if let Some(title) = &work.title {
        _ = write!(
            text,
            "\n[[rules]]\nname = \"title-busy\"\nactivity = \"busy\"\ntitle = {}\n",
            quoted(title)
        );
    }
    if !work.patterns.is_empty() {
        rule(&mut text, "works", "busy", work.last, &work.patterns);
    }
    if let Some(prompt) = &prompt {
        _ = write!(
            text,
            "\n[[rules]]\nname = \"prompt\"\nactivity = \"idle\"\nlast = {}\nall = {}\n",
            prompt.last,
            list(&prompt.signs)
        );
    }
    text
}

fn rule(text: &mut String, name: &str, activity: &str, last: usize, any: &[String]) {
    _ = write!(
        text,
        "\n[[rules]]\nname = \"{name}\"\nactivity = \"{activity}\"\nlast = {last}\nany = {}\n",
        list(any)
    );
}

fn session(session: &RecordedSession) -> String {
    let words = |arguments: &str| {
        let words: Vec<String> = arguments.split_whitespace().map(str::to_owned).collect();
        list(&words)
    };
    let native = "\n[capabilities]\nnative_resume = true\n";
    match session {
        RecordedSession::Told => {
            "\n[session]\nreference = \"none\"\nstrategy = \"replay\"\n".to_owned()
        }
        RecordedSession::Assigned { fresh, resume } => format!(
            "\n[session]\nreference = \"assigned\"\nfresh = {}\nresume = {}\nstrategy = \"native\"\n\
             turnless = \"same-reference\"\n{native}",
            words(fresh),
            words(resume)
        ),
        RecordedSession::Found {
            resume,
            files,
            id,
            directory,
        } => {
            let read = if files.ends_with(".jsonl") {
                "lines"
            } else {
                "document"
            };
            format!(
                "\n[session]\nreference = \"discovered\"\ndiscover = \"described\"\nresume = {}\n\
                 strategy = \"native\"\n\n[session.find]\nfiles = {}\nread = \"{read}\"\nid = {}\n\
                 directory = {}\n{native}",
                words(resume),
                quoted(files),
                quoted(id),
                quoted(directory)
            )
        }
    }
}

/// The row of the input box, by what stands before and behind a typed text.
struct Prompt {
    before: String,
    behind: String,
    placeholders: Vec<String>,
    signs: Vec<String>,
    last: usize,
}

impl Prompt {
    fn of(recording: &Recording) -> Option<Self> {
        let rows = foot(&recording.draft);
        let typed = rows.iter().find(|row| row.contains(SAMPLE))?;
        let (before, behind) = typed.split_once(SAMPLE)?;
        let before = before.trim_end();
        if before.is_empty() {
            return None;
        }
        let behind = behind.trim();
        let row_of = |frame: &Frame| {
            let rows = foot(frame);
            rows.iter().position(|row| row.starts_with(before))
        };
        let rest = [&recording.idle, &recording.draft, &recording.rested];
        let places: Option<Vec<usize>> = rest.iter().map(|frame| row_of(frame)).collect();
        let lowest = places?;
        let placeholder = |frame: &Frame| {
            let rows = foot(frame);
            let row = rows.iter().find(|row| row.starts_with(before))?;
            let shown = row.strip_prefix(before)?.trim();
            let shown = shown.strip_suffix(behind).unwrap_or(shown).trim();
            (!shown.is_empty()).then(|| format!("^{}", regex::escape(shown)))
        };
        let mut placeholders: Vec<String> = [&recording.idle, &recording.rested]
            .into_iter()
            .filter_map(placeholder)
            .collect();
        placeholders.dedup();
        let sign = format!(r"^{}(?:\s|$)", regex::escape(before));
        // What always stands below the box makes a quotation in an answer less likely to be taken for it.
        let below = rest
            .iter()
            .zip(&lowest)
            .map(|(frame, at)| grams_of(&foot(frame)[..*at]));
        let below = below.reduce(|all, these| &all & &these);
        let status = below.and_then(|grams| best(grams.iter()));
        Some(Self {
            before: before.to_owned(),
            behind: behind.to_owned(),
            placeholders,
            signs: std::iter::once(sign).chain(status).collect(),
            last: lowest.iter().max().map_or(1, |at| at + 1),
        })
    }

    fn row(&self) -> String {
        let (before, behind) = (regex::escape(&self.before), regex::escape(&self.behind));
        format!(r"^{before}(?:\s(.*?))?\s*{behind}$")
    }
}

/// What tells that the program works.
#[derive(Default)]
struct Work {
    title: Option<String>,
    patterns: Vec<String>,
    last: usize,
}

impl Work {
    fn of(busy: &[Frame], rest: &[&Frame]) -> Self {
        let mut work = Self {
            title: title_pattern(busy, rest),
            ..Self::default()
        };
        let at_rest: HashSet<String> = rest
            .iter()
            .flat_map(|frame| grams_of(&rows(frame)))
            .collect();
        let known = (work.title.as_deref()).and_then(|title| regex::Regex::new(title).ok());
        let untold = busy.iter().filter(|frame| {
            let told = known.as_ref().map(|title| title.is_match(&frame.title));
            told != Some(true)
        });
        let mut untold: Vec<&Frame> = untold.collect();
        while work.patterns.len() < MOST_PATTERNS && !untold.is_empty() {
            let mut seen: HashMap<String, usize> = HashMap::new();
            for frame in &untold {
                for gram in grams_of(&foot(frame)) {
                    if !at_rest.contains(&gram) {
                        *seen.entry(gram).or_default() += 1;
                    }
                }
            }
            let Some(most) = seen.values().max().copied() else {
                break;
            };
            // What was seen once may be anything.
            if most < 2 && busy.len() > 1 {
                break;
            }
            let often = seen.iter().filter(|(_, count)| **count == most);
            let Some(pattern) = best(often.map(|(gram, _)| gram)) else {
                break;
            };
            untold.retain(|frame| match place_of(&pattern, frame) {
                Some(at) => {
                    work.last = work.last.max(at + 1);
                    false
                }
                None => true,
            });
            work.patterns.push(pattern);
        }
        work
    }
}

/// The signs that titles begin with while the program works, and only then.
fn title_pattern(busy: &[Frame], rest: &[&Frame]) -> Option<String> {
    let sign = |frame: &Frame| frame.title.chars().next().filter(|c| !c.is_alphanumeric());
    let at_rest: Vec<char> = rest.iter().filter_map(|frame| sign(frame)).collect();
    let signs = busy.iter().filter_map(sign);
    let mut signs: Vec<char> = signs.filter(|sign| !at_rest.contains(sign)).collect();
    // A title that changes with the turn alone would be a coincidence.
    if signs.len() * 2 < busy.len().max(1) {
        return None;
    }
    signs.sort_unstable();
    signs.dedup();
    let mut kinds: Vec<String> = signs.iter().map(|sign| kind_of(*sign, &at_rest)).collect();
    kinds.dedup();
    Some(format!("^[{}]", kinds.concat()))
}

/// All signs of the same kind, unless one of them is shown at rest too.
fn kind_of(sign: char, at_rest: &[char]) -> String {
    let braille = |c: &char| ('\u{2801}'..='\u{28ff}').contains(c);
    let circle = |c: &char| "◐◓◑◒".contains(*c);
    if braille(&sign) && !at_rest.iter().any(braille) {
        "⠁-⣿".to_owned()
    } else if circle(&sign) && !at_rest.iter().any(circle) {
        "◐◓◑◒".to_owned()
    } else {
        regex::escape(&sign.to_string())
    }
}

/// Whether [`SPINNERS`] has it.
fn is_spinner(sign: char) -> bool {
    matches!(
        sign,
        '\u{2801}'..='\u{28ff}' | '◐' | '◓' | '◑' | '◒' | '✢' | '✳' | '✶' | '✻' | '✽'
    )
}

/// The lowest row of a dialog that says something which no other screen says.
fn dialog_pattern(dialog: &Frame, others: &[&Frame]) -> Option<(String, usize)> {
    let known: HashSet<String> = others
        .iter()
        .flat_map(|frame| grams_of(&rows(frame)))
        .collect();
    let rows = foot(dialog);
    rows.iter().enumerate().find_map(|(at, row)| {
        let grams = grams_of(std::slice::from_ref(row));
        let own = best(grams.iter().filter(|gram| !known.contains(*gram)))?;
        Some((own, at + 1))
    })
}

/// The filled rows, the lowest first.
fn rows(frame: &Frame) -> Vec<&str> {
    let rows = frame.text.lines().rev().map(str::trim_end);
    rows.filter(|row| !row.is_empty()).collect()
}

fn foot(frame: &Frame) -> Vec<&str> {
    let mut rows = rows(frame);
    rows.truncate(FOOT);
    rows
}

fn place_of(pattern: &str, frame: &Frame) -> Option<usize> {
    let rows = foot(frame);
    rows.iter()
        .position(|row| grams_of(std::slice::from_ref(row)).contains(pattern))
}

/// Every few words of the rows that stand side by side, as patterns. Where the program was recorded tells nothing of it.
fn grams_of(rows: &[&str]) -> HashSet<String> {
    let mut grams = HashSet::new();
    for row in rows {
        let words: Vec<&str> = row.split_whitespace().collect();
        for words in words.split(|word| is_place(word)) {
            let words: Vec<String> = words.iter().map(|word| word_pattern(word)).collect();
            for from in 0..words.len() {
                for to in from + 1..=words.len().min(from + MOST_WORDS) {
                    grams.insert(words.get(from..to).unwrap_or_default().join(" +"));
                }
            }
        }
    }
    grams
}

/// Whether a word is a path, also one that was cut, or the branch of the recording.
fn is_place(word: &str) -> bool {
    word.matches('/').count() > 1 || word.contains(TITLE) || word.contains(PLACE)
}

/// A word as a pattern: numbers and turning signs stand for all of their kind.
fn word_pattern(word: &str) -> String {
    let mut pattern = String::new();
    let mut in_number = false;
    let mut in_spinner = false;
    for character in word.chars() {
        let is_digit = character.is_ascii_digit();
        let turns = is_spinner(character);
        if is_digit && !in_number {
            pattern.push_str(r"\d+");
        } else if turns && !in_spinner {
            // A picture of them that moves has now more and now fewer.
            pattern.push_str(SPINNERS);
            pattern.push('+');
        } else if !is_digit && !turns {
            pattern.push_str(&regex::escape(&character.to_string()));
        }
        in_number = is_digit;
        in_spinner = turns;
    }
    pattern
}

/// The pattern that says most; the same for the same patterns. Those without a word say nothing.
fn best<'a>(patterns: impl Iterator<Item = &'a String>) -> Option<String> {
    let letters = |pattern: &str| pattern.chars().filter(|c| c.is_alphabetic()).count();
    let of_words = |pattern: &&String| letters(&pattern.replace(r"\d", "")) >= 4;
    patterns
        .filter(of_words)
        .max_by_key(|pattern| (letters(pattern), std::cmp::Reverse((*pattern).clone())))
        .cloned()
}

fn quoted(text: &str) -> String {
    toml::Value::from(text).to_string()
}

fn list(texts: &[String]) -> String {
    let texts: Vec<String> = texts.iter().map(|text| quoted(text)).collect();
    format!("[{}]", texts.join(", "))
}

#[cfg(test)]
#[path = "recorded_tests.rs"]
mod tests;
