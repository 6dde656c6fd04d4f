//! Finds words in the conversations of all instances, also of killed ones and in archives.

use serde::Serialize;

use crate::conversation::{ConversationEntry, Speaker};
use crate::engine::base::{Core, Error, Found, Scope};
use crate::model::{InstanceId, RestingState, State, Timestamp, Title, printable_line};

/// An entry that has all the words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct SearchMatch {
    pub id: InstanceId,
    pub title: Title,
    pub state: State,
    /// The number of the turn, from 1; 0 before the first prompt.
    pub turn: usize,
    pub timestamp: Timestamp,
    #[serde(rename = "type")]
    pub speaker: Speaker,
    /// The first line that has one of the words.
    pub line: String,
    /// How many characters of it stand before the word.
    pub column: usize,
}

/// What was found, the newest first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(crate) struct SearchResult {
    pub matches: Vec<SearchMatch>,
    /// How many older ones were left out.
    pub left_out: usize,
    /// Conversations that could not be read.
    pub unreadable: Vec<String>,
}

impl Core {
    /// The newest entries that have all these words, in any order and case.
    pub(crate) fn search(&self, words: &[String], most: usize) -> Result<SearchResult, Error> {
        let words: Vec<String> = words
            .iter()
            .flat_map(|words| words.split_whitespace())
            .map(str::to_lowercase)
            .collect();
        let mut result = SearchResult::default();
        let (instances, _) = self.all(Scope::WithKilled)?;
        for found in instances {
            if found.record.state == RestingState::Running
                && let Err(error) = self.import_conversation(&found.dir, &found.record)
            {
                tracing::debug!(%error, "a conversation is searched as it was last imported");
            }
            match matches_in(&found, &words) {
                Ok(matches) => result.matches.extend(matches),
                Err(error) => {
                    result
                        .unreadable
                        .push(format!("`{}`: {}", found.record.title, error.told()))
                }
            }
        }
        result.matches.sort_by(|a, b| {
            b.timestamp
                .cmp(&a.timestamp)
                .then_with(|| b.turn.cmp(&a.turn))
        });
        result.left_out = result.matches.len().saturating_sub(most);
        result.matches.truncate(most);
        Ok(result)
    }
}

fn matches_in(found: &Found, words: &[String]) -> Result<Vec<SearchMatch>, Error> {
    let mut matches = Vec::new();
    let mut turn = 0;
    for mut reader in found.dir.conversation().whole()? {
        loop {
            let entries = reader.next()?;
            if entries.is_empty() {
                break;
            }
            for entry in entries {
                turn += usize::from(entry.speaker == Speaker::User);
                if let Some((line, column)) = line_with(&entry, words) {
                    matches.push(SearchMatch {
                        id: found.record.id.clone(),
                        title: found.record.title.clone(),
                        state: found.record.state.into(),
                        turn,
                        timestamp: entry.timestamp,
                        speaker: entry.speaker,
                        line,
                        column,
                    });
                }
            }
        }
    }
    Ok(matches)
}

/// The first line with one of the words, and how many characters stand before it; if the entry has all of them.
fn line_with(entry: &ConversationEntry, words: &[String]) -> Option<(String, usize)> {
    let text = entry.content.to_lowercase();
    if words.is_empty() || !words.iter().all(|word| text.contains(word.as_str())) {
        return None;
    }
    let has_one = |line: &&str| {
        let line = line.to_lowercase();
        words.iter().any(|word| line.contains(word.as_str()))
    };
    let line = printable_line(entry.content.lines().find(has_one)?.trim());
    let column = column_of_first(&line, words);
    Some((line, column))
}

/// How many characters of the line stand before the first of the words.
fn column_of_first(line: &str, words: &[String]) -> usize {
    let lower = line.to_lowercase();
    let places = words.iter().filter_map(|word| lower.find(word.as_str()));
    let mut left = places.min().unwrap_or(0);
    // A letter can have more bytes, or fewer, in lower case.
    line.chars()
        .take_while(|char| {
            let before = left > 0;
            left = left.saturating_sub(char.to_lowercase().map(char::len_utf8).sum());
            before
        })
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_has_all_words_in_any_order_and_case() {
        let at = Timestamp::from_epoch(1_000).unwrap();
        let entry = ConversationEntry::new(at, Speaker::User, "Fix it.\n  The Flaky login test\n");
        let found = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            line_with(&entry, &words).map(|(line, _)| line)
        };
        assert_eq!(
            found(&["login", "flaky"]).as_deref(),
            Some("The Flaky login test")
        );
        assert_eq!(found(&["login", "fix"]).as_deref(), Some("Fix it."));
        assert_eq!(found(&["login", "other"]), None);
        assert_eq!(found(&[]), None);
    }

    #[test]
    fn the_column_is_that_of_the_first_word_in_the_line() {
        for (line, words, column) in [
            ("The Flaky login test", &["login", "flaky"][..], 4),
            ("İstanbul: the tent", &["tent"], 14),
            ("tent", &["tent"], 0),
            ("nothing of it", &["tent"], 0),
        ] {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            assert_eq!(column_of_first(line, &words), column, "{line}");
        }
    }
}
