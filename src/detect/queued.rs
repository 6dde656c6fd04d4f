//! Prompts that wait inside an agent: read from its screen, and told apart again when an interrupt has put all of
//! them into its input box.

use serde::Deserialize;

use super::pattern::{Fault, Pattern};
use super::screen::Screen;

/// Each of the prompts in a box begins a row; more of them are not told apart.
const MOST_LINES: usize = 200;

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct QueuedSpec {
    /// The row above the list.
    pub head: Pattern,
    /// The first row of a prompt; its first group is the text.
    pub row: Pattern,
    /// A further row of the same prompt.
    pub more: Pattern,
    /// What stands for the rows that are left out.
    pub cut: Pattern,
    /// The row below the list.
    pub foot: Pattern,
}

/// A prompt as the list shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ShownPrompt {
    /// Without white space: the list breaks rows otherwise than the box.
    text: String,
    /// The rest is not shown.
    cut: bool,
}

/// What a box holds: prompts that waited, and what the user has not finished.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Divided {
    pub prompts: Vec<String>,
    pub draft: Option<String>,
}

impl QueuedSpec {
    /// The prompts that wait, in their order.
    pub(crate) fn read(&self, screen: &Screen) -> Vec<ShownPrompt> {
        let rows = screen.rows();
        let head = rows.iter().rposition(|row| self.head.is_match(row.text()));
        let below = head.and_then(|head| rows.get(head + 1..));
        let mut found: Vec<ShownPrompt> = Vec::new();
        for row in below.unwrap_or_default() {
            let text = row.text();
            if text.trim().is_empty() {
                continue;
            }
            if self.foot.is_match(text) {
                break;
            }
            if let Some(text) = self.row.capture(text) {
                found.push(ShownPrompt {
                    text: squeezed(text),
                    cut: false,
                });
                continue;
            }
            let Some(prompt) = found.last_mut() else {
                break;
            };
            if self.cut.is_match(text) {
                prompt.cut = true;
            } else if let Some(text) = self.more.capture(text) {
                prompt.text.push_str(&squeezed(text));
            } else {
                break;
            }
        }
        found
    }

    pub(crate) fn check(&self, key: &str) -> Result<(), Fault> {
        self.head.check(&format!("{key}.head"))?;
        self.row.check(&format!("{key}.row"))?;
        self.more.check(&format!("{key}.more"))?;
        self.cut.check(&format!("{key}.cut"))?;
        self.foot.check(&format!("{key}.foot"))
    }
}

impl ShownPrompt {
    fn is_whole(&self, text: &str) -> bool {
        let text = squeezed(text);
        match self.cut {
            true => text.starts_with(&self.text),
            false => text == self.text,
        }
    }
}

/// Takes a box apart that holds the prompts of the list, one below the other, and then the draft that stood there
/// before. None where that is not certain: a prompt of which only the beginning was shown may hold another one.
pub(crate) fn divide(held: &str, shown: &[ShownPrompt], draft: Option<&str>) -> Option<Divided> {
    let lines: Vec<&str> = held.lines().collect();
    if shown.is_empty() || lines.len() > MOST_LINES {
        return None;
    }
    let mut found = Vec::new();
    search(&lines, shown, draft, &mut Vec::new(), &mut found);
    let mut found = found.into_iter();
    match (found.next(), found.next()) {
        (Some(only), None) => Some(only),
        _ => None,
    }
}

/// Adds every way to read the lines, up to two.
fn search(
    lines: &[&str],
    shown: &[ShownPrompt],
    draft: Option<&str>,
    before: &mut Vec<String>,
    found: &mut Vec<Divided>,
) {
    let Some((first, rest)) = shown.split_first() else {
        let left = lines.join("\n");
        if squeezed(&left) == squeezed(draft.unwrap_or_default()) {
            found.push(Divided {
                prompts: before.clone(),
                draft: draft.map(|_| left.trim_end().to_owned()),
            });
        }
        return;
    };
    for end in 1..=lines.len() {
        let (Some(own), Some(after)) = (lines.get(..end), lines.get(end..)) else {
            return;
        };
        // An empty line belongs to the prompt above it.
        if after.first().is_some_and(|line| line.trim().is_empty()) {
            continue;
        }
        let text = own.join("\n");
        if !first.is_whole(&text) {
            continue;
        }
        before.push(text.trim_end().to_owned());
        search(after, rest, draft, before, found);
        before.pop();
        if found.len() > 1 {
            return;
        }
    }
}

fn squeezed(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec() -> QueuedSpec {
        QueuedSpec {
            head: Pattern::new("^• Queued follow-up inputs$"),
            row: Pattern::new("^  ↳ (.*)$"),
            more: Pattern::new("^    (.*)$"),
            cut: Pattern::new("^    …$"),
            foot: Pattern::new("^    shift\\+← edit "),
        }
    }

    /// As Codex 0.166 shows them.
    const LIST: &str = "\
• slowly1 slowly2

• Queued follow-up inputs
  ↳ one waiting
  ↳ two lines
      second indented
    …
  ↳ a long one word word
    word word end
    shift+← edit last queued message

› half a sentence

  tab to queue message              100% context left
";

    fn shown() -> Vec<ShownPrompt> {
        spec().read(&Screen::new(LIST))
    }

    #[test]
    fn the_list_is_read() {
        let read: Vec<(String, bool)> = shown()
            .into_iter()
            .map(|prompt| (prompt.text, prompt.cut))
            .collect();
        assert_eq!(
            read,
            [
                ("onewaiting".to_owned(), false),
                ("twolinessecondindented".to_owned(), true),
                ("alongonewordwordwordwordend".to_owned(), false),
            ]
        );
        assert_eq!(spec().read(&Screen::new("› half a sentence\n")), []);
    }

    #[test]
    fn a_box_is_taken_apart() {
        let held = "one waiting\ntwo lines\n  second indented\n\nfourth\na long one word word word word end\nhalf a sentence";
        let divided = divide(held, &shown(), Some("half a sentence")).unwrap();
        assert_eq!(
            divided.prompts,
            [
                "one waiting",
                "two lines\n  second indented\n\nfourth",
                "a long one word word word word end",
            ]
        );
        assert_eq!(divided.draft.as_deref(), Some("half a sentence"));
        let held = held.strip_suffix("\nhalf a sentence").unwrap();
        let divided = divide(held, &shown(), None).unwrap();
        assert_eq!((divided.prompts.len(), divided.draft), (3, None));
    }

    #[test]
    fn what_is_not_certain_stays_as_it_is() {
        let shown = shown();
        // The first one has begun meanwhile.
        let held = "two lines\n  second indented\nx\na long one word word word word end";
        assert_eq!(divide(held, &shown, None), None);
        // The draft is another one.
        let held = "one waiting\ntwo lines\n  second indented\na long one word word word word end";
        assert_eq!(divide(&format!("{held}\nabc"), &shown, Some("ab")), None);
        assert_eq!(divide(&format!("{held}\nabc"), &shown, None), None);
        // The first prompt may end at two places.
        let [a, b] = ["a", "b"].map(|text| ShownPrompt {
            text: text.to_owned(),
            cut: true,
        });
        assert_eq!(divide("a\nb\nb", &[a, b], None), None);
        assert_eq!(divide("", &shown, None), None);
        assert_eq!(divide("one waiting", &[], None), None);
    }
}
