//! What an agent's input box does with the characters of a prompt.

use super::provider::Provider;
use crate::detect::Screen;

/// Characters that are not drawn, and that several agents remove. Those that join or vary the characters
/// beside them (emoji, Indic scripts) are not among them.
fn is_invisible(character: char) -> bool {
    matches!(
        character,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}'
    )
}

impl Provider {
    /// The prompt without the characters that the agent would remove, and how many these are.
    pub(crate) fn without_invisible(&self, prompt: &str) -> (String, usize) {
        if !self.file.input.removes_invisible {
            return (prompt.to_owned(), 0);
        }
        let text: String = prompt.chars().filter(|c| !is_invisible(*c)).collect();
        let left_out = prompt.chars().count() - text.chars().count();
        (text, left_out)
    }

    /// Why the agent would not take this prompt as text, however it is typed.
    pub(crate) fn refuses(&self, prompt: &str) -> Option<String> {
        let input = &self.file.input;
        if input.most_bytes.is_some_and(|most| prompt.len() > most) {
            let most = input.most_bytes.unwrap_or_default();
            return Some(format!(
                "{} takes no more than {most} bytes at once, and this prompt has {}",
                self.display(),
                prompt.len()
            ));
        }
        let mut escapes = input.escapes.iter();
        escapes
            .find(|escape| escape.refuse.is_some() && escape.when.is_match(prompt))
            .and_then(|escape| escape.refuse.clone())
    }

    /// The prompt as it is typed, so that it arrives as text: what the box would take for something else
    /// gets white space around it, which agents cut off.
    pub(crate) fn escaped(&self, prompt: &str) -> String {
        let mut text = prompt.to_owned();
        let escapes = self.file.input.escapes.iter();
        for escape in escapes.filter(|escape| escape.when.is_match(prompt)) {
            text = format!("{}{text}{}", escape.before, escape.after);
        }
        text
    }

    /// How often the screen says that a command is not known.
    pub(crate) fn unknown_commands(&self, screen: &Screen) -> usize {
        let Some(pattern) = &self.file.input.unknown_command else {
            return 0;
        };
        screen
            .filled()
            .filter(|row| pattern.is_match(row.text()))
            .count()
    }
}

/// Whether a prompt has the form of a command of the agent: `/clear`, `/model opus`.
pub(crate) fn is_command(prompt: &str) -> bool {
    let mut lines = prompt.trim_end().lines();
    let (Some(line), None) = (lines.next(), lines.next()) else {
        return false;
    };
    let word = line.split_whitespace().next().unwrap_or_default();
    word.strip_prefix('/').is_some_and(|name| {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ':' | '.');
        name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.chars().all(plain)
    }) && line.starts_with('/')
}

#[cfg(test)]
mod tests {
    use super::super::Catalog;
    use super::*;

    #[test]
    fn what_a_box_takes_for_something_else_is_escaped_or_refused() {
        let catalog = Catalog::built_in();
        for (agent, prompt, typed) in [
            ("claude", "look at this \\", Some("look at this \\ ")),
            ("claude", "! rm x", Some(" ! rm x")),
            ("claude", "exit", None),
            ("opencode", "exit", None),
            ("claude", "exit the loop", Some("exit the loop")),
            ("claude", "a\nb", Some("a\nb")),
            ("gemini", "look at this \\", Some("look at this \\ ")),
            ("codex", "! rm x", None),
            ("codex", "\n !rm x", None),
            ("codex", "look at this \\", Some("look at this \\")),
            ("aider", "! rm x", Some(" ! rm x")),
            ("aider", "/etc/hosts is wrong", Some(" /etc/hosts is wrong")),
            ("aider", "/add x", Some("/add x")),
            ("opencode", "! rm x", Some("! rm x")),
            ("copilot", "look at this \\", Some("look at this \\ ")),
            ("copilot", "! rm x", None),
            ("copilot", " !rm x", None),
            ("copilot", "Quit", None),
            ("copilot", "quit the loop", Some("quit the loop")),
            ("qwen", "look at this \\", Some("look at this \\ ")),
            ("qwen", ":wq", None),
            ("kimi", "look at this \\", Some("look at this \\ ")),
            ("kimi", "! rm x", Some(" ! rm x")),
            ("kimi", "exit", Some("exit")),
            ("vibe", "! rm x", Some(" ! rm x")),
            ("vibe", "Exit", None),
        ] {
            let provider = catalog.require(agent).unwrap();
            let refused = provider.refuses(prompt);
            assert_eq!(refused.is_none(), typed.is_some(), "{agent} {prompt:?}");
            if let Some(typed) = typed {
                assert_eq!(provider.escaped(prompt), typed, "{agent} {prompt:?}");
            }
        }
    }

    #[test]
    fn characters_that_are_not_drawn_are_left_out_where_the_agent_would() {
        let catalog = Catalog::built_in();
        let prompt = "\u{feff}a\u{200b}b\u{202e} 👩\u{200d}💻 क\u{94d}\u{200d}ष é";
        let claude = catalog.require("claude").unwrap();
        let (text, left_out) = claude.without_invisible(prompt);
        assert_eq!(text, "ab 👩\u{200d}💻 क\u{94d}\u{200d}ष é");
        assert_eq!(left_out, 3);
        let codex = catalog.require("codex").unwrap();
        assert_eq!(codex.without_invisible(prompt), (prompt.to_owned(), 0));
    }

    #[test]
    fn a_command_is_a_slash_and_a_word_in_one_line() {
        for (prompt, expected) in [
            ("/clear", true),
            ("/model opus", true),
            ("/mcp:tool x\n", true),
            ("/etc/hosts is wrong", false),
            (" /clear", false),
            ("/clear\nand more", false),
            ("/", false),
            ("//x", false),
        ] {
            assert_eq!(is_command(prompt), expected, "{prompt:?}");
        }
    }
}
