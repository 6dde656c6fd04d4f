//! Looking for harm, in every disguise that is known.

use super::decide::command_of;
use super::file::Owned;
use super::paths::{PathLists, Site, candidates};
use super::rule::Command;
use super::shell;
use super::text::{unbraced, unmasked, unquoted};

/// Scripts within scripts are followed this far; what is deeper is not accepted anyway.
const DEPTH: usize = 8;

pub(super) struct Search<'s> {
    pub lists: &'s PathLists,
    pub site: &'s Site<'s>,
}

impl Search<'_> {
    /// The first rule that has a command of this text in mind, or where its output goes; texts that
    /// a rule looks for everywhere count too.
    pub(super) fn plainly<'o>(&self, rules: &[&'o Owned], text: &str) -> Option<&'o Owned> {
        let unmasked = unmasked(text);
        let everywhere = rules.iter().find(|owned| {
            let mut patterns = owned.rule.text.iter();
            patterns.any(|pattern| pattern.is_match(text) || pattern.is_match(&unmasked))
        });
        if let Some(owned) = everywhere {
            return Some(owned);
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
                .find_map(|command| rules.iter().find(|owned| owned.rule.hits(&command)));
            hit.or_else(|| {
                parts
                    .redirects
                    .iter()
                    .filter(|redirect| redirect.writes)
                    .find_map(|redirect| {
                        let base = &self.site.worktree;
                        let place = self.lists.place(&redirect.target.text, base, self.site);
                        rules
                            .iter()
                            .find(|owned| owned.rule.redirect.contains(&place))
                    })
            })
            .copied()
        })
    }

    /// The same where nothing is plain: in commands that others run, in scripts within words, in
    /// code of any language, in paths.
    pub(super) fn deeply<'o>(&self, rules: &[&'o Owned], texts: &[String]) -> Option<&'o Owned> {
        texts.iter().find_map(|text| self.within(rules, text, 0))
    }

    fn within<'o>(&self, rules: &[&'o Owned], text: &str, depth: usize) -> Option<&'o Owned> {
        let forms = [unmasked(text), unquoted(text)];
        let coded = rules.iter().find(|owned| {
            let mut patterns = owned.rule.code.iter();
            patterns.any(|pattern| forms.iter().any(|form| pattern.is_match(form)))
        });
        if let Some(owned) = coded {
            return Some(owned);
        }
        let [unmasked, unquoted] = forms;
        let mut forms = vec![unbraced(&unmasked), unmasked, unquoted];
        forms.dedup();
        for form in forms {
            let parts = shell::read(&form).parts;
            for part in &parts.all {
                if let Some(owned) = self.in_words(rules, part, depth) {
                    return Some(owned);
                }
            }
            for redirect in &parts.redirects {
                if let Some(owned) = self.in_path(rules, &redirect.target.text) {
                    return Some(owned);
                }
            }
        }
        None
    }

    fn in_words<'o>(
        &self,
        rules: &[&'o Owned],
        part: &shell::Part,
        depth: usize,
    ) -> Option<&'o Owned> {
        let whole = command_of(part);
        // Any word may be the program: `sudo -u me rm …`, `ssh host rm …`, `xargs rm …`.
        for at in 0..whole.words.len() {
            let command = Command {
                words: whole.words.get(at..).unwrap_or_default().to_vec(),
                ..whole.clone()
            };
            if let Some(owned) = rules.iter().find(|owned| owned.rule.hits(&command)) {
                return Some(owned);
            }
        }
        let values = part
            .assignments
            .iter()
            .map(|(_, value)| value.text.as_str());
        for word in whole.words.iter().copied().chain(values) {
            if let Some(owned) = self.in_path(rules, word) {
                return Some(owned);
            }
            let is_script = word.contains([' ', '\n', ';', '|', '&', '$', '`', '(', '<', '>']);
            if is_script
                && depth < DEPTH
                && let Some(owned) = self.within(rules, word, depth + 1)
            {
                return Some(owned);
            }
        }
        None
    }

    fn in_path<'o>(&self, rules: &[&'o Owned], word: &str) -> Option<&'o Owned> {
        let about_any_command = |owned: &&&Owned| {
            let rule = &owned.rule;
            !rule.path.is_empty() && rule.tool.iter().any(|tool| tool == "shell")
        };
        let mut rules = rules.iter().filter(about_any_command);
        rules
            .find(|owned| {
                candidates(word).into_iter().any(|candidate| {
                    let place = self.lists.place(candidate, &self.site.worktree, self.site);
                    owned.rule.path.contains(&place)
                })
            })
            .copied()
    }
}
