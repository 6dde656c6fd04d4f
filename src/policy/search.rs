//! Searches for harm, in every disguise that is known.

use super::file::LayeredRule;
use super::paths::{PathContext, PathLists, candidates};
use super::rule::{Command, Rule};
use super::shell;
use super::text::{unbraced, unmasked, unquoted};

/// How deep scripts within scripts are followed. Anything deeper is not accepted anyway.
const DEPTH: usize = 8;

/// Of a command with more words than this, the later ones are not tried as programs: such a command is
/// never accepted.
const MOST_WORDS: usize = 64;

pub(super) struct Search<'s> {
    pub lists: &'s PathLists,
    pub context: &'s PathContext<'s>,
}

impl Search<'_> {
    /// The first rule that matches a command of this text, a redirection, or a text that the rule
    /// searches for everywhere.
    pub(super) fn search_plain<'o>(
        &self,
        rules: &[&'o LayeredRule],
        text: &str,
    ) -> Option<&'o LayeredRule> {
        let unmasked = unmasked(text);
        let everywhere = rules.iter().find(|layered| {
            let mut patterns = layered.rule.text.iter();
            patterns.any(|pattern| pattern.is_match(text) || pattern.is_match(&unmasked))
        });
        if let Some(layered) = everywhere {
            return Some(layered);
        }
        let spelt = unbraced(&unmasked);
        let mut variants = vec![text.to_owned()];
        for variant in [unmasked, spelt] {
            if !variants.contains(&variant) {
                variants.push(variant);
            }
        }
        variants.iter().find_map(|variant| {
            let parts = shell::read(variant).parts;
            let commands = parts.all.iter().map(command_of);
            let hit = commands
                .into_iter()
                .find_map(|command| rules.iter().find(|layered| layered.rule.hits(&command)));
            hit.or_else(|| {
                parts
                    .redirects
                    .iter()
                    .filter(|redirect| redirect.writes)
                    .find_map(|redirect| {
                        let base = &self.context.start;
                        let place = self
                            .lists
                            .class_of(&redirect.target.text, base, self.context);
                        rules
                            .iter()
                            .find(|layered| layered.rule.redirect.contains(&place))
                    })
            })
            .copied()
        })
    }

    /// The same in text that is not plain: in commands that other commands run, in scripts within words,
    /// in code of any language, in paths.
    pub(super) fn search_deep<'o>(
        &self,
        rules: &[&'o LayeredRule],
        texts: &[String],
    ) -> Option<&'o LayeredRule> {
        texts.iter().find_map(|text| self.within(rules, text, 0))
    }

    fn within<'o>(
        &self,
        rules: &[&'o LayeredRule],
        text: &str,
        depth: usize,
    ) -> Option<&'o LayeredRule> {
        let forms = [unmasked(text), unquoted(text)];
        let coded = rules.iter().find(|layered| {
            let mut patterns = layered.rule.code.iter();
            patterns.any(|pattern| forms.iter().any(|form| pattern.is_match(form)))
        });
        if let Some(layered) = coded {
            return Some(layered);
        }
        let [unmasked, unquoted] = forms;
        let mut forms = vec![unbraced(&unmasked), unmasked, unquoted];
        forms.dedup();
        for form in forms {
            let parts = shell::read(&form).parts;
            for part in &parts.all {
                if let Some(layered) = self.in_words(rules, part, depth) {
                    return Some(layered);
                }
            }
            let anywhere: Vec<&LayeredRule> = rules
                .iter()
                .copied()
                .filter(|layered| {
                    asks_where_words_lead(&layered.rule) && layered.rule.program.is_empty()
                })
                .collect();
            for redirect in &parts.redirects {
                if let Some(layered) = self.in_path(&anywhere, &redirect.target.text) {
                    return Some(layered);
                }
            }
        }
        None
    }

    fn in_words<'o>(
        &self,
        rules: &[&'o LayeredRule],
        part: &shell::Part,
        depth: usize,
    ) -> Option<&'o LayeredRule> {
        let whole = command_of(part);
        // Any word may be the program: `sudo -u me rm …`, `ssh host rm …`, `xargs rm …`.
        let suffixes: Vec<Command<'_>> = (0..whole.words.len().min(MOST_WORDS))
            .map(|at| Command {
                words: whole.words.get(at..).unwrap_or_default().to_vec(),
                ..whole.clone()
            })
            .collect();
        let hit =
            |layered: &&&LayeredRule| suffixes.iter().any(|command| layered.rule.hits(command));
        if let Some(layered) = rules.iter().find(hit) {
            return Some(layered);
        }
        let about_paths: Vec<&LayeredRule> = rules
            .iter()
            .copied()
            .filter(|layered| {
                let rule = &layered.rule;
                asks_where_words_lead(rule)
                    && (rule.program.is_empty() || suffixes.iter().any(|s| rule.describes(s)))
            })
            .collect();
        let values = part
            .assignments
            .iter()
            .map(|(_, value)| value.text.as_str());
        for word in whole.words.iter().copied().chain(values) {
            if let Some(layered) = self.in_path(&about_paths, word) {
                return Some(layered);
            }
            let is_script = word.contains([' ', '\n', ';', '|', '&', '$', '`', '(', '<', '>']);
            if is_script
                && depth < DEPTH
                && let Some(layered) = self.within(rules, word, depth + 1)
            {
                return Some(layered);
            }
        }
        None
    }

    fn in_path<'o>(&self, rules: &[&'o LayeredRule], word: &str) -> Option<&'o LayeredRule> {
        if rules.is_empty() {
            return None;
        }
        let base = &self.context.start;
        candidates(word).into_iter().find_map(|candidate| {
            let place = self.lists.class_of(candidate, base, self.context);
            rules
                .iter()
                .copied()
                .find(|layered| layered.rule.path.contains(&place))
        })
    }
}

fn asks_where_words_lead(rule: &Rule) -> bool {
    !rule.path.is_empty() && rule.tool.iter().any(|tool| tool == "shell")
}

/// A command in the form in which rules look at it.
pub(super) fn command_of(part: &shell::Part) -> Command<'_> {
    Command {
        words: part.texts(),
        assignments: part
            .assignments
            .iter()
            .map(|(name, _)| name.as_str())
            .collect(),
        piped: part.piped,
    }
}
