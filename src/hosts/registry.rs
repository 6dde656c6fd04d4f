//! The hosts that are known: one file for each, `hosts/NAME.toml` beside the configuration.

use std::ffi::OsStr;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::error::HostError;
use super::name::HostName;
use crate::store::ensure_private;

const SUFFIX: &str = "toml";

/// One host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Host {
    pub name: HostName,
    pub settings: HostSettings,
}

/// The content of its file.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct HostSettings {
    /// What runs a command there, in front of that command.
    pub connect: Vec<String>,
    /// The same with a terminal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connect_tty: Option<Vec<String>>,
    /// Whether a shell reads the words again on the other side. By default for ssh only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shell: Option<bool>,
    /// The program there, where it is not found as `biv`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
}

/// The directory of the files.
#[derive(Debug, Clone)]
pub(crate) struct Registry {
    directory: PathBuf,
}

impl Registry {
    pub(crate) fn new(config: &Path) -> Self {
        Self {
            directory: config.join("hosts"),
        }
    }

    /// The names, in their order. Other files in the directory do not count.
    pub(crate) fn names(&self) -> Vec<HostName> {
        let entries = std::fs::read_dir(&self.directory).into_iter().flatten();
        let mut names: Vec<HostName> = entries
            .flatten()
            .map(|entry| entry.path())
            .filter(|path| path.extension() == Some(OsStr::new(SUFFIX)))
            .filter_map(|path| HostName::parse(path.file_stem()?.to_str()?).ok())
            .collect();
        names.sort();
        names
    }

    pub(crate) fn get(&self, name: &HostName) -> Result<Host, HostError> {
        let file = self.file(name);
        let text = match std::fs::read_to_string(&file) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Err(HostError::NoSuchHost {
                    name: name.clone(),
                    known: self.names().iter().map(ToString::to_string).collect(),
                });
            }
            Err(error) => return Err(unreadable(file, &error)),
        };
        let settings: HostSettings = toml::from_str(&text)
            .map_err(|error| unreadable(file.clone(), &error.message().to_owned()))?;
        match settings.mistake() {
            Some(message) => Err(HostError::File {
                file,
                message: message.to_owned(),
            }),
            None => Ok(Host {
                name: name.clone(),
                settings,
            }),
        }
    }

    /// Writes the file of a new host and returns its place.
    pub(crate) fn add(&self, host: &Host) -> Result<PathBuf, HostError> {
        let file = self.file(&host.name);
        if let Some(message) = host.settings.mistake() {
            return Err(HostError::File {
                file,
                message: message.to_owned(),
            });
        }
        ensure_private(&self.directory)?;
        let text =
            toml::to_string(&host.settings).map_err(|error| unreadable(file.clone(), &error))?;
        let opened = std::fs::OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&file);
        let mut opened = match opened {
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                return Err(HostError::NameTaken {
                    name: host.name.clone(),
                });
            }
            opened => opened.map_err(|error| unreadable(file.clone(), &error))?,
        };
        let head = "# Written by `biv host add`; docs/hosts.md has every key.\n";
        opened
            .write_all(format!("{head}{text}").as_bytes())
            .and_then(|()| opened.sync_all())
            .map_err(|error| unreadable(file.clone(), &error))?;
        Ok(file)
    }

    pub(crate) fn remove(&self, name: &HostName) -> Result<(), HostError> {
        let file = self.file(name);
        match std::fs::remove_file(&file) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                self.get(name).map(|_| ())
            }
            removed => removed.map_err(|error| unreadable(file, &error)),
        }
    }

    fn file(&self, name: &HostName) -> PathBuf {
        self.directory.join(format!("{name}.{SUFFIX}"))
    }
}

impl HostSettings {
    fn mistake(&self) -> Option<&'static str> {
        let is_empty = |words: &Vec<String>| words.first().is_none_or(String::is_empty);
        if is_empty(&self.connect) {
            return Some("`connect` names no program");
        }
        if self.connect_tty.as_ref().is_some_and(is_empty) {
            return Some("`connect_tty` names no program");
        }
        // It stands in a small script, for whatever shell there is.
        let plain = |letter: char| letter.is_ascii_alphanumeric() || "/._+-".contains(letter);
        if (self.program.as_ref()).is_some_and(|path| path.is_empty() || !path.chars().all(plain)) {
            return Some("`program` is not a plain path");
        }
        None
    }
}

fn unreadable(file: PathBuf, error: &impl ToString) -> HostError {
    HostError::File {
        file,
        message: error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(name: &str, connect: &[&str]) -> Host {
        Host {
            name: HostName::parse(name).unwrap(),
            settings: HostSettings {
                connect: connect.iter().map(ToString::to_string).collect(),
                connect_tty: None,
                shell: None,
                program: None,
            },
        }
    }

    #[test]
    fn a_host_is_written_once_and_read_as_it_was() {
        let dir = tempfile::tempdir().unwrap();
        let registry = Registry::new(dir.path());
        assert_eq!(registry.names(), []);
        let strange = host("box", &["docker", "exec", "-i", "it's \"one\"\n"]);
        registry.add(&strange).unwrap();
        assert_eq!(registry.get(&strange.name).unwrap(), strange);
        let again = registry.add(&host("box", &["ssh", "x"]));
        assert!(matches!(again, Err(HostError::NameTaken { .. })));
        assert_eq!(registry.get(&strange.name).unwrap(), strange);
        registry.remove(&strange.name).unwrap();
        let gone = registry.remove(&strange.name);
        assert!(matches!(gone, Err(HostError::NoSuchHost { .. })));
    }

    #[test]
    fn a_mistake_in_a_file_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let registry = Registry::new(dir.path());
        std::fs::create_dir(dir.path().join("hosts")).unwrap();
        let name = HostName::parse("box").unwrap();
        for (text, expected) in [
            ("conect = [\"ssh\"]", "conect"),
            ("connect = []", "`connect` names no program"),
            ("connect = [\"ssh\"]\nprogram = \"a'b\"", "`program`"),
        ] {
            std::fs::write(dir.path().join("hosts/box.toml"), text).unwrap();
            let error = registry.get(&name).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
