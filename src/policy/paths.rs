//! Where a path leads: into the worktree, out of it, or to something that is nobody's business.

use std::path::{Component, Path, PathBuf};

use serde::Deserialize;

use super::text::is_plain_name;

/// What only the disk can tell.
pub(crate) trait Ground {
    /// The path with every symbolic link followed, as far as it exists; None where that cannot be
    /// told.
    fn real(&self, path: &Path) -> Option<PathBuf>;
    /// The symbolic links that lie directly in a directory.
    fn links(&self, directory: &Path) -> Vec<PathBuf>;
}

/// Where an agent works.
pub(crate) struct Site<'g> {
    pub worktree: PathBuf,
    pub home: Option<PathBuf>,
    pub ground: &'g dyn Ground,
}

impl std::fmt::Debug for Site<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Site")
            .field("worktree", &self.worktree)
            .finish_non_exhaustive()
    }
}

/// The stricter of two places is the larger one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Place {
    /// `/dev/null`: neither here nor there.
    Nowhere,
    /// In the worktree, and nothing special.
    Inside,
    /// In the worktree, but it steers more than the code: CI files, instructions for agents.
    Guarded,
    Outside,
    /// Written there, it would run or grant something later: hooks, start files, agents' settings.
    Forbidden,
    /// Keys, tokens and passwords.
    Secret,
    /// Cannot be told, or is written so that people could misread it.
    Odd,
}

/// Names that make a path special, wherever they stand in it. `a/b` is two components in a row,
/// `*` stands for any characters, and `!name` takes an exception.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct PathLists {
    pub guarded: Vec<String>,
    pub forbidden: Vec<String>,
    pub secret: Vec<String>,
}

impl PathLists {
    pub(crate) fn extend(&mut self, other: Self) {
        self.guarded.extend(other.guarded);
        self.forbidden.extend(other.forbidden);
        self.secret.extend(other.secret);
    }

    /// Where this path leads, seen from `base`: by its name and, symbolic links followed, by what
    /// is on the disk. The stricter of the two counts.
    pub(crate) fn place(&self, given: &str, base: &Path, site: &Site<'_>) -> Place {
        if !is_plain_name(given) {
            return Place::Odd;
        }
        if given == "/dev/null" {
            return Place::Nowhere;
        }
        let Some(path) = absolute(given, base, site) else {
            return Place::Odd;
        };
        let by_name = self.classify(&path, &site.worktree);
        let real_worktree = site.ground.real(&site.worktree);
        let by_disk = match (site.ground.real(&path), real_worktree) {
            (Some(path), Some(worktree)) => self.classify(&path, &worktree),
            _ => Place::Odd,
        };
        by_name.max(by_disk)
    }

    /// The same for a word in which the shell fills in names. Only the last part may be left open,
    /// and what could be filled in must not lead anywhere else.
    pub(crate) fn place_of_glob(&self, given: &str, base: &Path, site: &Site<'_>) -> Place {
        let place = self.place(given, base, site);
        let (directory, name) = given.rsplit_once('/').unwrap_or((".", given));
        if directory.contains(['*', '?', '[']) || name.starts_with('.') {
            return Place::Odd;
        }
        let Some(directory) = absolute(directory, base, site) else {
            return Place::Odd;
        };
        site.ground
            .links(&directory)
            .iter()
            .filter_map(|link| link.to_str())
            .map(|link| self.place(link, base, site))
            .fold(place, Place::max)
    }

    fn classify(&self, path: &Path, worktree: &Path) -> Place {
        let inside = path.strip_prefix(worktree).ok();
        let special = inside.unwrap_or(path);
        let names: Vec<String> = special
            .components()
            .filter_map(|part| match part {
                Component::Normal(name) => Some(name.to_string_lossy().to_lowercase()),
                _ => None,
            })
            .collect();
        if listed(&self.secret, &names) {
            Place::Secret
        } else if listed(&self.forbidden, &names) {
            Place::Forbidden
        } else if inside.is_none() {
            Place::Outside
        } else if listed(&self.guarded, &names) {
            Place::Guarded
        } else {
            Place::Inside
        }
    }
}

/// `..` is taken by name, as it is before links are followed.
fn absolute(given: &str, base: &Path, site: &Site<'_>) -> Option<PathBuf> {
    let joined = match given.strip_prefix('~') {
        Some("") => site.home.clone()?,
        Some(rest) if rest.starts_with('/') => site.home.clone()?.join(&rest[1..]),
        // Another user's home; but `HEAD~1` and a backup file `x~` never begin like this.
        Some(_) => return None,
        None => base.join(given),
    };
    let mut path = PathBuf::new();
    for part in joined.components() {
        match part {
            Component::ParentDir => {
                path.pop();
            }
            Component::CurDir => {}
            other => path.push(other),
        }
    }
    Some(path)
}

fn listed(patterns: &[String], names: &[String]) -> bool {
    let hit = |pattern: &str| {
        let wanted: Vec<&str> = pattern.split('/').filter(|part| !part.is_empty()).collect();
        !wanted.is_empty()
            && names.windows(wanted.len()).any(|window| {
                window
                    .iter()
                    .zip(&wanted)
                    .all(|(name, part)| fits(part, name))
            })
    };
    let excepted = patterns
        .iter()
        .filter_map(|pattern| pattern.strip_prefix('!'))
        .any(hit);
    !excepted
        && patterns
            .iter()
            .any(|pattern| !pattern.starts_with('!') && hit(pattern))
}

/// `*` stands for any characters.
fn fits(pattern: &str, name: &str) -> bool {
    let pattern = pattern.to_lowercase();
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = name.strip_prefix(first) else {
        return false;
    };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else {
        return rest.is_empty();
    };
    for part in middle {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

/// Everything in a word that may be a path: the word, and what stands behind `=`, `:`, `,` or `@`.
pub(crate) fn candidates(word: &str) -> Vec<&str> {
    let flag = word.starts_with('-') && word.len() > 1;
    let mut found = Vec::new();
    if !flag {
        found.push(word);
    } else if !word.starts_with("--") && word.is_char_boundary(2) {
        found.push(&word[2..]);
    }
    for (at, separator) in word.match_indices(['=', ':', ',', '@']) {
        found.push(&word[at + separator.len()..]);
    }
    found.retain(|candidate| !candidate.is_empty());
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Links;

    impl Ground for Links {
        fn real(&self, path: &Path) -> Option<PathBuf> {
            let text = path.to_str()?;
            Some(PathBuf::from(
                text.replace("/w/out", "/etc")
                    .replace("/w/hooks", "/w/.git/hooks"),
            ))
        }

        fn links(&self, directory: &Path) -> Vec<PathBuf> {
            if directory == Path::new("/w") {
                vec!["/w/out".into()]
            } else {
                Vec::new()
            }
        }
    }

    fn place(given: &str) -> Place {
        asked(|lists, site| lists.place(given, Path::new("/w"), site))
    }

    fn asked(question: impl Fn(&PathLists, &Site<'_>) -> Place) -> Place {
        let lists = PathLists {
            guarded: vec![".github/workflows".into(), "AGENTS.md".into()],
            forbidden: vec![".git".into(), ".bashrc".into()],
            secret: vec![
                ".env".into(),
                ".env.*".into(),
                "!.env.example".into(),
                ".ssh".into(),
            ],
        };
        let site = Site {
            worktree: "/w".into(),
            home: Some("/home/me".into()),
            ground: &Links,
        };
        question(&lists, &site)
    }

    #[test]
    fn names_that_the_shell_fills_in_must_not_lead_out() {
        let glob =
            |given: &str| asked(|lists, site| lists.place_of_glob(given, Path::new("/w"), site));
        assert_eq!(glob("src/*.rs"), Place::Inside);
        assert_eq!(glob("*.rs"), Place::Outside, "a link beside it leads out");
        assert_eq!(glob("*/x"), Place::Odd);
        assert_eq!(glob("src/.*"), Place::Odd);
        assert_eq!(glob("../*"), Place::Outside);
    }

    #[test]
    fn a_path_is_where_it_leads() {
        use Place::{Forbidden, Guarded, Inside, Nowhere, Odd, Outside, Secret};
        for (given, expected) in [
            ("src/main.rs", Inside),
            (".", Inside),
            ("/w/a", Inside),
            ("a/../b", Inside),
            ("../x", Outside),
            ("a/../../x", Outside),
            ("/w/../etc/passwd", Outside),
            ("/wx", Outside),
            ("~/x", Outside),
            ("~root/x", Odd),
            ("/dev/null", Nowhere),
            ("out/passwd", Outside),
            ("hooks/pre-commit", Forbidden),
            (".GIT/config", Forbidden),
            ("sub/.git/config", Forbidden),
            (".gitignore", Inside),
            (".github/workflows/ci.yml", Guarded),
            (".github/ISSUE.md", Inside),
            ("agents.md", Guarded),
            (".env", Secret),
            (".env.local", Secret),
            (".env.example", Inside),
            ("~/.ssh/id_rsa", Secret),
            ("~/.bashrc", Forbidden),
            ("sr\u{441}/a", Odd),
            ("src/…", Odd),
        ] {
            assert_eq!(place(given), expected, "{given}");
        }
    }

    #[test]
    fn stars_fit_any_characters() {
        assert!(fits("id_*", "id_rsa") && fits("*.pem", "a.pem") && fits("*secret*", "my-secrets"));
        assert!(!fits("id_*", "idx") && !fits("a*b", "a") && !fits("x", "xy"));
        assert_eq!(candidates("--a=/b:c"), ["/b:c", "c"]);
        assert_eq!(candidates("-I/usr"), ["/usr"]);
        assert_eq!(candidates("HEAD:x"), ["HEAD:x", "x"]);
    }
}
