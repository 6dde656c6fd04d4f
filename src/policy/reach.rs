//! Where the words of a command lead, from every directory in which it may run.

use std::path::PathBuf;

use super::paths::{PathClass, candidates};
use super::permit::{Asked, Judge};
use super::tree::Through;

impl Judge<'_> {
    pub(super) fn leads_inside(
        &self,
        word: &str,
        glob: bool,
        asked: &Asked<'_>,
        also: &[PathClass],
    ) -> Result<(), String> {
        let lists = &self.policy.paths;
        if word.contains("://") {
            return Err(format!("`{word}` is an address"));
        }
        for candidate in candidates(word) {
            if asked.before.reshaped && candidate.contains(['/', '.', '*']) {
                return Err(format!("where `{candidate}` leads by then is not certain"));
            }
            for base in asked.bases {
                let place = if glob {
                    lists.class_of_glob(candidate, base, self.context)
                } else {
                    lists.class_of(candidate, base, self.context)
                };
                is_fine(candidate, place, also)?;
            }
        }
        Ok(())
    }

    /// Where a command looks that names these places. A word that is no file may be the value of a flag: then
    /// the command looks where it is.
    pub(super) fn looked_through<'w>(&self, words: &[&'w str], asked: &Asked<'_>) -> Vec<&'w str> {
        let missing = |word: &&str| {
            let there = |base: &PathBuf| self.context.resolver.exists(&base.join(word));
            !word.contains('*') && !asked.bases.iter().all(there)
        };
        let here = words.iter().any(missing).then_some(".");
        words.iter().copied().chain(here).collect()
    }

    pub(super) fn goes_through(
        &self,
        words: &[&str],
        through: Through<'_>,
        asked: &Asked<'_>,
        also: &[PathClass],
    ) -> Result<(), String> {
        let here = ["."];
        let words = if words.is_empty() { &here } else { words };
        for word in words {
            for base in asked.bases {
                let place = self
                    .policy
                    .paths
                    .class_of_tree(word, base, self.context, through);
                is_fine(word, place, also)
                    .map_err(|why| format!("what is below `{word}`: {why}"))?;
            }
        }
        Ok(())
    }

    /// Where files are put: not through a link that is there already.
    pub(super) fn puts_inside(
        &self,
        words: &[&str],
        whole: bool,
        asked: &Asked<'_>,
    ) -> Result<(), String> {
        let Some((target, sources)) = words.split_last() else {
            return Err("it names nothing".to_owned());
        };
        self.leads_inside(target, false, asked, &[])?;
        for source in sources {
            let source = source.trim_end_matches('/');
            let name = source.rsplit('/').next().unwrap_or(source);
            if source.is_empty() || [".", ".."].contains(&name) || name.contains(['*', '?', '[']) {
                // Which names come there is not known one by one: nothing there may be a link.
                self.has_no_links(target, asked)?;
                continue;
            }
            let inside = format!("{}/{name}", target.trim_end_matches('/'));
            self.leads_inside(&inside, false, asked, &[])?;
            if whole {
                self.has_no_links(&inside, asked)?;
                self.has_no_links(target, asked)?;
            }
        }
        Ok(())
    }

    fn has_no_links(&self, word: &str, asked: &Asked<'_>) -> Result<(), String> {
        let through = Through {
            links: true,
            ..Through::default()
        };
        self.goes_through(&[word], through, asked, &[PathClass::Guarded])
    }
}

fn is_fine(candidate: &str, place: PathClass, also: &[PathClass]) -> Result<(), String> {
    let reason = match place {
        PathClass::Nowhere | PathClass::Inside => return Ok(()),
        place if also.contains(&place) => return Ok(()),
        PathClass::Outside => "leads out of the worktree",
        PathClass::Guarded => "controls more than the code (`guarded` of the `[paths]`)",
        PathClass::Forbidden => {
            "is where a file would be run or grant rights later (`forbidden` of the `[paths]`)"
        }
        PathClass::Secret => "may hold secrets (`secret` of the `[paths]`)",
        PathClass::Odd => "may lead anywhere: it cannot be resolved",
    };
    Err(format!("`{candidate}` {reason}"))
}
