//! Looking for harm, in every disguise that is known.

use super::file::Owned;
use super::paths::{PathLists, Site, candidates};
use super::rule::{Command, Rule};
use super::shell;
use super::text::{unbraced, unmasked, unquoted};

/// Scripts within scripts are followed this far; what is deeper is not accepted anyway.
const DEPTH: usize = 8;

/// Of a command with more words than this, the later ones are not tried as programs: nothing so long
/// is accepted.
const MOST_WORDS: usize = 64;

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
            let anywhere: Vec<&Owned> = rules
                .iter()
                .copied()
                .filter(|owned| asks_where_words_lead(&owned.rule) && owned.rule.program.is_empty())
                .collect();
            for redirect in &parts.redirects {
                if let Some(owned) = self.in_path(&anywhere, &redirect.target.text) {
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
        let suffixes: Vec<Command<'_>> = (0..whole.words.len().min(MOST_WORDS))
            .map(|at| Command {
                words: whole.words.get(at..).unwrap_or_default().to_vec(),
                ..whole.clone()
            })
            .collect();
        let hit = |owned: &&&Owned| suffixes.iter().any(|command| owned.rule.hits(command));
        if let Some(owned) = rules.iter().find(hit) {
            return Some(owned);
        }
        let about_paths: Vec<&Owned> = rules
            .iter()
            .copied()
            .filter(|owned| {
                let rule = &owned.rule;
                asks_where_words_lead(rule)
                    && (rule.program.is_empty() || suffixes.iter().any(|s| rule.describes(s)))
            })
            .collect();
        let values = part
            .assignments
            .iter()
            .map(|(_, value)| value.text.as_str());
        for word in whole.words.iter().copied().chain(values) {
            if let Some(owned) = self.in_path(&about_paths, word) {
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
        if rules.is_empty() {
            return None;
        }
        let base = &self.site.worktree;
        candidates(word).into_iter().find_map(|candidate| {
            let place = self.lists.place(candidate, base, self.site);
            rules
                .iter()
                .copied()
                .find(|owned| owned.rule.path.contains(&place))
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
