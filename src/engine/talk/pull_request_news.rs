//! What is new in a watched pull request becomes a prompt: each failed check and each comment once.

use std::fmt::Write;

use serde_json::json;

use super::fenced::fenced;
use crate::engine::base::{Core, Error, Scope, now};
use crate::engine::operate::pull_request::ask_if_due;
use crate::git::{News, NewsKind};
use crate::model::{EventKind, InstanceRecord, printable, printable_line};
use crate::store::InstanceDir;

/// More of a comment is not typed into an agent.
const LONGEST: usize = 20_000;
/// Lines of the hunk that a comment is about.
const HUNK_LINES: usize = 20;

impl Core {
    /// Asks the forges about all pull requests, each at most once a minute, and queues what is new in those
    /// that are watched. Returns what went wrong.
    pub(crate) fn follow_pull_requests(&self) -> Vec<String> {
        let Ok((found, _)) = self.all(Scope::Living) else {
            return Vec::new();
        };
        found
            .iter()
            .filter_map(|found| {
                let error = self.follow_pull_request(&found.dir, &found.record).err()?;
                Some(format!("{}: {}", found.record.id, error.told()))
            })
            .collect()
    }

    fn follow_pull_request(&self, dir: &InstanceDir, record: &InstanceRecord) -> Result<(), Error> {
        let Some(answer) = ask_if_due(dir, record)? else {
            return Ok(());
        };
        let Some(known) = dir.pull_request()?.filter(|known| known.watched) else {
            return Ok(());
        };
        for news in answer.news {
            if known.told.contains(&news.key) {
                continue;
            }
            let prompt = prompt_of(known.number, &news);
            // If this process dies between the two files, the queue itself knows that it is there.
            let number = dir.change_queue(|queue| {
                let there = queue.entries.iter().any(|entry| entry.prompt == prompt);
                (!there).then(|| queue.add(prompt, now()))
            })?;
            dir.change_pull_request(|known| {
                if let Some(known) = known {
                    known.told.push(news.key);
                }
            })?;
            if let Some(number) = number {
                self.emit(
                    EventKind::QueueAdded,
                    record,
                    json!({ "numbers": [number] }),
                );
            }
        }
        Ok(())
    }
}

/// What the agent is told. Everything in it comes from the forge, and is shown as such.
fn prompt_of(pull_request: u64, news: &News) -> String {
    let url = news.url.as_deref().map(printable_line).unwrap_or_default();
    match &news.what {
        NewsKind::FailedCheck { name, commit } => format!(
            "The check `{}` of your pull request #{pull_request} has failed at commit {}. Find the \
             cause, correct it, and commit the result.\n{url}",
            printable_line(name),
            commit.get(..10).unwrap_or(commit)
        )
        .trim_end()
        .to_owned(),
        NewsKind::Comment {
            author,
            place,
            hunk,
            text,
        } => {
            let author = printable_line(author);
            let mut prompt =
                format!("A review comment on your pull request #{pull_request}, by {author}");
            // Writing into a string cannot fail.
            if let Some(place) = place {
                write!(prompt, ", on {}", printable_line(place)).ok();
            }
            writeln!(prompt, ":").ok();
            if let Some(hunk) = hunk {
                let lines: Vec<&str> = hunk.lines().collect();
                let last = lines.len().saturating_sub(HUNK_LINES);
                prompt.push_str(&fenced("diff", &lines[last..].join("\n")));
            }
            let text: String = printable(text.trim()).chars().take(LONGEST).collect();
            write!(prompt, "{text}\n\nWork it in, and commit the result. {url}").ok();
            prompt.trim_end().to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_is_told_with_its_place_and_cannot_steer_the_terminal() {
        let news = News {
            key: "comment 1".to_owned(),
            what: NewsKind::Comment {
                author: "ada".to_owned(),
                place: Some("a.rs:4".to_owned()),
                hunk: Some("@@ -1 +1 @@\n+x\x1b[201~".to_owned()),
                text: "Why?\x1b[201~\n".to_owned(),
            },
            url: Some("https://f/c1".to_owned()),
        };
        let prompt = prompt_of(7, &news);
        assert!(
            prompt.starts_with(
                "A review comment on your pull request #7, by ada, on a.rs:4:\n```diff\n@@ -1 +1 @@\n+x"
            ),
            "{prompt}"
        );
        assert!(!prompt.contains('\x1b'), "{prompt:?}");
        assert!(
            prompt.ends_with("commit the result. https://f/c1"),
            "{prompt}"
        );
    }
}
