//! Files of an agent that its provider file describes: where they are, and what the JSON in them means. So an
//! agent needs no code of its own to be followed and imported.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;

use super::json_path::JsonPath;
use crate::detect::{Fault, Pattern};
use crate::model::{Activity, Tokens};

/// How the agent's session reference is found in its own files.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Find {
    pub files: FilePattern,
    #[serde(default)]
    pub read: ReadAs,
    /// Where the reference is.
    pub id: JsonPath,
    /// Where the directory of the session is. Only sessions of the worktree count.
    pub directory: Option<JsonPath>,
    /// Where the pid of the process is. Only sessions of the agent's own processes count.
    pub process: Option<JsonPath>,
    /// Where the time of its start is; else the time of the file counts.
    pub started: Option<JsonPath>,
}

/// What in a file is an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ReadAs {
    /// The whole file is one JSON document.
    #[default]
    Document,
    /// The first line of the file is one.
    Header,
    /// Each line of the file is one, as in an index. Later lines are newer.
    Lines,
}

/// Values that a JSON document must have at these paths. A list means one of its values.
pub(crate) type Condition = BTreeMap<JsonPath, Value>;

fn holds(condition: &Condition, value: &Value) -> bool {
    condition.iter().all(|(path, expected)| {
        let found = path.all(value);
        let equals = |expected: &Value| found.contains(&expected);
        match expected {
            Value::Array(any) => any.iter().any(equals),
            one => equals(one),
        }
    })
}

/// What a line of a transcript means: something that was said or done, an activity, or both. Every rule that
/// matches a line applies.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LineRule {
    #[serde(default)]
    pub when: Condition,
    /// The elements of this array are read one by one; `of`, and the paths below, are paths in an element.
    pub each: Option<JsonPath>,
    #[serde(default)]
    pub of: Condition,
    pub is: Option<LineKind>,
    /// What was said, or the output of a tool.
    pub text: Option<JsonPath>,
    /// Texts that the program wrote in the user's name.
    #[serde(default)]
    pub not: Vec<Pattern>,
    /// The name of a tool, the id of its call, and its arguments.
    pub tool: Option<JsonPath>,
    pub id: Option<JsonPath>,
    pub input: Option<JsonPath>,
    /// What holds if the tool has failed.
    #[serde(default)]
    pub failed: Condition,
    /// What the agent does from this line on.
    pub activity: Option<Activity>,
    /// Its own name for that, for display: a value of the line, as `type`.
    pub name: Option<JsonPath>,
    /// What was used for an answer.
    pub usage: Option<UsagePaths>,
}

/// Where the numbers of tokens are.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct UsagePaths {
    pub input: JsonPath,
    pub output: JsonPath,
    pub cache_read: Option<JsonPath>,
    pub cache_write: Option<JsonPath>,
    /// The input is told with the cached tokens in it.
    #[serde(default)]
    pub cached_in_input: bool,
}

impl UsagePaths {
    /// None where nothing is told.
    pub(crate) fn tokens(&self, part: &Value) -> Option<Tokens> {
        let number = |path: &JsonPath| path.first(part).and_then(Value::as_u64);
        let cached = |path: &Option<JsonPath>| path.as_ref().and_then(number).unwrap_or(0);
        let (input, output) = (number(&self.input), number(&self.output));
        input.or(output)?;
        let (cache_read, cache_write) = (cached(&self.cache_read), cached(&self.cache_write));
        let within = match self.cached_in_input {
            true => cache_read + cache_write,
            false => 0,
        };
        Some(Tokens {
            input: input.unwrap_or(0).saturating_sub(within),
            output: output.unwrap_or(0),
            cache_read,
            cache_write,
        })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum LineKind {
    User,
    Assistant,
    System,
    /// A tool is called.
    Call,
    /// A tool has answered.
    Result,
}

impl LineRule {
    /// The values of this line that the rule is about.
    pub(crate) fn parts<'v>(&self, line: &'v Value) -> Vec<&'v Value> {
        if !holds(&self.when, line) {
            return Vec::new();
        }
        let parts = match &self.each {
            Some(each) => match each.first(line) {
                Some(Value::Array(items)) => items.iter().collect(),
                _ => Vec::new(),
            },
            None => vec![line],
        };
        parts
            .into_iter()
            .filter(|part| holds(&self.of, part))
            .collect()
    }

    pub(crate) fn has_failed(&self, part: &Value) -> bool {
        !self.failed.is_empty() && holds(&self.failed, part)
    }

    fn check(&self, key: &str) -> Result<(), Fault> {
        let missing = match self.is {
            None if self.activity.is_none() && self.usage.is_none() => Some((
                "is",
                "a rule says what a line is, an activity, or what was used",
            )),
            Some(LineKind::User | LineKind::Assistant | LineKind::System)
                if self.text.is_none() =>
            {
                Some(("text", "what was said has a text"))
            }
            Some(LineKind::Call) if self.tool.is_none() => Some(("tool", "a call names its tool")),
            _ => None,
        };
        if let Some((field, message)) = missing {
            return Err(Fault {
                key: format!("{key}.{field}"),
                message: message.to_owned(),
            });
        }
        for (at, pattern) in self.not.iter().enumerate() {
            pattern.check(&format!("{key}.not[{at}]"))?;
        }
        Ok(())
    }
}

/// The rules of a transcript, and where the time of a line is. Shared with its readers.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(from = "Vec<LineRule>")]
pub(crate) struct LineRules(Arc<Vec<LineRule>>);

impl From<Vec<LineRule>> for LineRules {
    fn from(rules: Vec<LineRule>) -> Self {
        Self(Arc::new(rules))
    }
}

impl PartialEq for LineRules {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for LineRules {}

impl LineRules {
    pub(crate) fn iter(&self) -> impl Iterator<Item = &LineRule> {
        self.0.iter()
    }

    pub(crate) fn tell_activity(&self) -> bool {
        self.iter().any(|rule| rule.activity.is_some())
    }

    pub(crate) fn tell_usage(&self) -> bool {
        self.iter().any(|rule| rule.usage.is_some())
    }

    pub(crate) fn check(&self) -> Result<(), Fault> {
        for (at, rule) in self.iter().enumerate() {
            rule.check(&format!("transcript.lines[{at}]"))?;
        }
        Ok(())
    }
}

/// Where files are: `{NAME:~/x}` at its beginning is the value of a variable, else the rest; `*` in a name is
/// any text; `{session}` is the session reference.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub(crate) struct FilePattern(String);

const SESSION: &str = "{session}";

impl FilePattern {
    pub(crate) fn check(&self, key: &str) -> Result<(), Fault> {
        if self.base(&|_| Some("/".into())).is_some() {
            return Ok(());
        }
        Err(Fault {
            key: key.to_owned(),
            message: format!(
                "`{}` must begin with `/`, `~/` or a variable, as in `{{MY_HOME:~/.mine}}/x.json`",
                self.0
            ),
        })
    }

    /// The first part, which has no wildcards, and the names below it.
    fn base(&self, variable: &dyn Fn(&str) -> Option<OsString>) -> Option<(PathBuf, &str)> {
        let home = |rest: &str| variable("HOME").map(|home| PathBuf::from(home).join(rest));
        let absolute = |text: &str| match text.strip_prefix("~/") {
            Some(rest) => home(rest),
            None => Path::new(text).is_absolute().then(|| PathBuf::from(text)),
        };
        match self
            .0
            .strip_prefix('{')
            .filter(|_| !self.0.starts_with(SESSION))
        {
            Some(rest) => {
                let (named, below) = rest.split_once('}')?;
                let (name, usual) = named.split_once(':')?;
                let root = variable(name).map(PathBuf::from);
                let root = root.or_else(|| absolute(usual))?;
                Some((root, below.trim_start_matches('/')))
            }
            None => match self.0.strip_prefix("~/") {
                Some(below) => Some((home("")?, below)),
                None => Some((PathBuf::from("/"), self.0.strip_prefix('/')?)),
            },
        }
    }

    /// The directory above the first name that is not fixed.
    pub(crate) fn fixed_directory(
        &self,
        variable: &dyn Fn(&str) -> Option<OsString>,
    ) -> Option<PathBuf> {
        let (mut directory, below) = self.base(variable)?;
        let names: Vec<&str> = below.split('/').collect();
        let (_, above) = names.split_last()?;
        for name in above {
            if name.contains('*') || name.contains(SESSION) {
                break;
            }
            directory.push(name);
        }
        Some(directory)
    }

    /// The directory whose presence shows that the agent keeps its files here: that of the variable, if there is
    /// one. What is below it may not exist before the first session.
    pub(crate) fn home(&self, variable: &dyn Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
        match self.0.starts_with('{') {
            true => self.base(variable).map(|(root, _)| root),
            false => self.fixed_directory(variable),
        }
    }

    /// The files that exist. Without a session, `{session}` is any.
    pub(crate) fn files(
        &self,
        variable: &dyn Fn(&str) -> Option<OsString>,
        session: Option<&str>,
    ) -> Vec<PathBuf> {
        if session.is_some_and(|session| !is_file_name(session)) {
            return Vec::new();
        }
        let Some((root, below)) = self.base(variable) else {
            return Vec::new();
        };
        let mut found = vec![root];
        for name in below.split('/').filter(|name| !name.is_empty()) {
            let name = name.replace(SESSION, session.unwrap_or("*"));
            found = found
                .into_iter()
                .flat_map(|directory| match name.contains('*') {
                    true => children(&directory, &name),
                    false => vec![directory.join(&name)],
                })
                .collect();
        }
        found.retain(|path| path.is_file());
        found.sort();
        found
    }
}

/// Session references become parts of file names, so their characters are restricted.
fn is_file_name(session: &str) -> bool {
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.');
    !session.is_empty() && !session.starts_with('.') && session.bytes().all(plain)
}

fn children(directory: &Path, pattern: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).into_iter().flatten();
    entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| {
            let name = path.file_name().and_then(|name| name.to_str());
            name.is_some_and(|name| fits(pattern, name))
        })
        .collect()
}

/// Whether a name fits a pattern with `*`.
fn fits(pattern: &str, name: &str) -> bool {
    let parts: Vec<&str> = pattern.split('*').collect();
    let (Some(first), Some(last)) = (parts.first(), parts.last()) else {
        return false;
    };
    if parts.len() == 1 {
        return pattern == name;
    }
    let Some(rest) = name
        .strip_prefix(first)
        .and_then(|rest| rest.strip_suffix(last))
    else {
        return false;
    };
    let mut rest = rest;
    for part in parts.get(1..parts.len() - 1).unwrap_or_default() {
        match rest.find(part) {
            Some(at) => rest = rest.get(at + part.len()..).unwrap_or_default(),
            None => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_found_by_a_pattern_and_never_outside_of_it() {
        let root = tempfile::tempdir().unwrap();
        let put = |name: &str| {
            let file = root.path().join(name);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, "{}").unwrap();
        };
        put("s/one/meta.json");
        put("s/two/meta.json");
        put("s/two/other.json");
        put("secret");
        let variable = |name: &str| match name {
            "MY_HOME" => Some(root.path().as_os_str().to_owned()),
            _ => None,
        };
        let pattern = FilePattern("{MY_HOME:~/.mine}/s/{session}/m*.json".to_owned());
        let found = |session| pattern.files(&variable, session).len();
        assert_eq!(found(None), 2);
        assert_eq!(found(Some("two")), 1);
        assert_eq!(found(Some("three")), 0);
        assert_eq!(found(Some("../s/two")), 0);
        assert_eq!(found(Some("*")), 0);
        let directory = pattern.fixed_directory(&variable);
        assert_eq!(directory, Some(root.path().join("s")));
        assert!(pattern.check("x").is_ok());
        assert!(FilePattern("relative/x".to_owned()).check("x").is_err());
        let home = |name: &str| (name == "HOME").then(|| root.path().as_os_str().to_owned());
        let usual = FilePattern("{MY_HOME:~/s}/one/meta.json".to_owned());
        assert_eq!(usual.files(&home, None).len(), 1);
    }

    #[test]
    fn a_star_is_any_text_in_a_name() {
        for (pattern, name, expected) in [
            ("a*c", "abc", true),
            ("a*c", "ac", true),
            ("a*a", "a", false),
            ("*.json", "x.json", true),
            ("a*b*c", "a1b2c", true),
            ("a*b*c", "a1c", false),
        ] {
            assert_eq!(fits(pattern, name), expected, "{pattern} {name}");
        }
    }
}
