//! Loads the configuration: the user's file over the defaults.

use std::path::{Path, PathBuf};

use toml::{Table, Value};

use super::{DEFAULTS, Settings};

/// The settings in force, and the file they were taken from where there is one.
#[derive(Debug, Clone)]
pub(crate) struct LoadedConfig {
    pub settings: Settings,
    /// The merged table, for `biv config show`.
    pub merged: Table,
    /// What the user's own file sets.
    pub user: Table,
    pub file: PathBuf,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum ConfigError {
    #[error("{} cannot be read", file.display())]
    Unreadable {
        file: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error("{} is not valid TOML, line {line}: {message}", file.display())]
    Syntax {
        file: PathBuf,
        line: usize,
        message: String,
    },
    #[error("{} has an unknown key `{key}`, line {line}", file.display())]
    UnknownKey {
        file: PathBuf,
        key: String,
        line: usize,
        nearest: Option<String>,
    },
    #[error("{} has a wrong value for `{key}`, line {line}: {message}", file.display())]
    Value {
        file: PathBuf,
        key: String,
        line: usize,
        message: String,
    },
}

impl LoadedConfig {
    /// The keys that the user's file sets, without their values.
    pub(crate) fn names_set_by_user(&self) -> Vec<String> {
        let mut names = Vec::new();
        for (section, value) in &self.user {
            match value {
                Value::Table(keys) => {
                    names.extend(keys.keys().map(|key| format!("{section}.{key}")));
                }
                _ => names.push(section.clone()),
            }
        }
        names
    }
}

/// Lays the user's file, if there is one, over the defaults.
pub(crate) fn load(file: &Path) -> Result<LoadedConfig, ConfigError> {
    let text = match std::fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(source) => {
            return Err(ConfigError::Unreadable {
                file: file.to_owned(),
                source,
            });
        }
    };
    let user = parse(file, &text)?;
    let mut merged = parse(Path::new("defaults.toml"), DEFAULTS)?;
    refuse_unknown_keys(file, &text, &merged, &user, "")?;
    lay_over(&mut merged, &user);
    let settings =
        serde_path_to_error::deserialize(Value::Table(merged.clone())).map_err(|error| {
            let key = error.path().to_string();
            ConfigError::Value {
                file: file.to_owned(),
                line: line_of(&text, &key),
                message: error.into_inner().message().to_owned(),
                key,
            }
        })?;
    Ok(LoadedConfig {
        settings,
        merged,
        user,
        file: file.to_owned(),
    })
}

fn parse(file: &Path, text: &str) -> Result<Table, ConfigError> {
    text.parse::<Table>().map_err(|error| ConfigError::Syntax {
        file: file.to_owned(),
        line: error.span().map_or(1, |span| line_at(text, span.start)),
        message: error.message().to_owned(),
    })
}

fn refuse_unknown_keys(
    file: &Path,
    text: &str,
    known: &Table,
    given: &Table,
    prefix: &str,
) -> Result<(), ConfigError> {
    for (key, value) in given {
        let path = if prefix.is_empty() {
            key.clone()
        } else {
            format!("{prefix}.{key}")
        };
        match (known.get(key), value) {
            (Some(Value::Table(known)), Value::Table(given)) => {
                refuse_unknown_keys(file, text, known, given, &path)?;
            }
            (Some(_), _) => {}
            (None, _) => {
                return Err(ConfigError::UnknownKey {
                    file: file.to_owned(),
                    line: line_of(text, &path),
                    nearest: nearest(key, known.keys().map(String::as_str)).map(str::to_owned),
                    key: path,
                });
            }
        }
    }
    Ok(())
}

fn lay_over(base: &mut Table, layer: &Table) {
    for (key, value) in layer {
        match (base.get_mut(key), value) {
            (Some(Value::Table(base)), Value::Table(layer)) => lay_over(base, layer),
            _ => {
                base.insert(key.clone(), value.clone());
            }
        }
    }
}

/// The known word that was probably meant.
fn nearest<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    known
        .map(|candidate| (strsim::jaro_winkler(word, candidate), candidate))
        .filter(|(similarity, _)| *similarity > 0.7)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate)
}

/// The line where `section.key` is set. The parsed tables have no line numbers.
fn line_of(text: &str, path: &str) -> usize {
    let (section, key) = path.rsplit_once('.').unwrap_or(("", path));
    let mut current = String::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        if let Some(header) = line
            .strip_prefix('[')
            .and_then(|line| line.strip_suffix(']'))
        {
            current = header.trim().to_owned();
            if current == path {
                return number + 1;
            }
        }
        let name = line.split('=').next().unwrap_or("").trim();
        if (current == section && name == key) || name == path {
            return number + 1;
        }
    }
    1
}

fn line_at(text: &str, offset: usize) -> usize {
    text.get(..offset)
        .map_or(1, |before| before.matches('\n').count() + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Result<(), &str>) {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("config.toml");
        std::fs::write(&file, text).unwrap();
        let result = load(&file).map(|_| ()).map_err(|error| {
            error
                .to_string()
                .replace(&file.display().to_string(), "config.toml")
        });
        assert_eq!(result, expected.map_err(str::to_owned), "{text}");
    }

    #[test]
    fn the_defaults_are_complete_and_valid() {
        let loaded = load(Path::new("/nonexistent/config.toml")).unwrap();
        assert_eq!(loaded.settings.terminal.columns, 220);
        assert_eq!(loaded.settings.snapshots.ignored_limit, 50_000_000);
    }

    #[test]
    fn a_mistake_names_file_key_and_line() {
        check("", Ok(()));
        check("[pause]\nwait = \"1m\"\n", Ok(()));
        check(
            "[pause]\n\nwaitt = \"1m\"\n",
            Err("config.toml has an unknown key `pause.waitt`, line 3"),
        );
        check(
            "[pause]\nwait = \"soon\"\n",
            Err(
                "config.toml has a wrong value for `pause.wait`, line 2: `soon` is not a duration such as \"30s\" or \"10m\"",
            ),
        );
        check(
            "[terminal]\ncolumns = -1\n",
            Err(
                "config.toml has a wrong value for `terminal.columns`, line 2: invalid value: integer `-1`, expected u16",
            ),
        );
        check(
            "[pausee]\n",
            Err("config.toml has an unknown key `pausee`, line 1"),
        );
    }

    #[test]
    fn a_syntax_error_names_the_line() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("config.toml");
        std::fs::write(&file, "[pause]\nwait = \n").unwrap();
        assert!(matches!(
            load(&file),
            Err(ConfigError::Syntax { line: 2, .. })
        ));
    }
}
