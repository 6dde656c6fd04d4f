//! `biv export --to` and `biv import --from`: exports that lie on a git remote, in a directory or on a host.
//!
//! Wherever they lie, they are encrypted, and have a name that says of which instance they are.

use std::fs::File;
use std::io::Seek;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::engine::base::{Core, Error, Progress, RemoteError, Scope};
use crate::engine::hosts::carry::{ASKING, SENDING};
use crate::engine::operate::carry::encryption::is_encrypted;
use crate::engine::operate::carry::export::{Exported, PreparedExport};
use crate::engine::operate::carry::import::{Arrived, ImportOptions};
use crate::engine::operate::carry::kept::{hash_of, keep, kept_in, open_kept};
use crate::engine::operate::carry::limit::Limit;
use crate::git::{Direction, RemoteFile, RemoteFiles, Repo, is_repository};
use crate::hosts::{HostName, Question};
use crate::model::{ExportName, Unfound};
use crate::store::ensure_private;

/// Where exports lie.
#[derive(Debug)]
pub(crate) struct Remote {
    /// As it was given.
    given: String,
    place: Place,
}

#[derive(Debug)]
enum Place {
    Git { repository: Repo, address: String },
    Directory(PathBuf),
    Host(HostName),
}

/// A place that was asked what it has.
enum Opened {
    Git(RemoteFiles, Vec<RemoteFile>),
    Directory(PathBuf, Vec<ExportName>),
    Host(HostName, Vec<ExportName>),
}

/// What a host says of the exports that it keeps.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ExportsThere {
    pub exports: Vec<ExportName>,
}

impl Core {
    /// What `--to` means for an instance.
    pub(crate) fn remote_for_export(&self, instance: &str, given: &str) -> Result<Remote, Error> {
        let root = self.find(instance, Scope::Living)?.record.repository.root;
        self.remote(given, &root, Direction::Push)
    }

    /// What `--from` means in a repository.
    pub(crate) fn remote_for_import(
        &self,
        repository: &Path,
        given: &str,
    ) -> Result<Remote, Error> {
        self.remote(given, repository, Direction::Fetch)
    }

    fn remote(&self, given: &str, directory: &Path, direction: Direction) -> Result<Remote, Error> {
        let repository = Repo::discover(directory)?;
        let named = repository.remote_address(given, direction)?;
        let host = HostName::parse(given).ok();
        let host = host.filter(|host| self.host_names().contains(host));
        let before_slash = given.split('/').next().unwrap_or_default();
        let place = match (named, host) {
            (Some(_), Some(_)) => {
                let given = given.to_owned();
                return Err(RemoteError::TwoMeanings { given }.into());
            }
            (Some(address), None) => Place::Git {
                repository,
                address,
            },
            (None, Some(host)) => Place::Host(host),
            // A URL, or `HOST:PATH`.
            (None, None) if before_slash.contains(':') => Place::Git {
                repository,
                address: given.to_owned(),
            },
            (None, None) => {
                let path = Path::new(given);
                let written_as_path = given.contains('/') || given == "." || given == "..";
                if !written_as_path || !path.is_dir() {
                    let given = given.to_owned();
                    return Err(RemoteError::NoSuchRemote { given }.into());
                }
                let path = path.canonicalize().map_err(Error::files("find", path))?;
                match (is_repository(&path), path.to_str()) {
                    (true, Some(address)) => Place::Git {
                        repository,
                        address: address.to_owned(),
                    },
                    _ => Place::Directory(path),
                }
            }
        };
        Ok(Remote {
            given: given.to_owned(),
            place,
        })
    }

    /// Puts an export there, encrypted. An older one of the same instance is replaced only if that is wanted.
    pub(crate) fn export_to(
        &self,
        prepared: &PreparedExport,
        remote: &Remote,
        key: Option<&Path>,
        replace: bool,
    ) -> Result<Exported, Error> {
        let opened = self.open_remote(remote)?;
        let name = ExportName::of(&prepared.id, &prepared.title);
        let mut older = opened.names();
        older.retain(|other| other.id() == name.id());
        if !older.is_empty() && !replace {
            return Err(RemoteError::Taken {
                title: prepared.title.clone(),
                remote: remote.given.clone(),
            }
            .into());
        }
        ensure_private(&self.home.run)?;
        let unwritable = || Error::files("write in", &self.home.run);
        let file = tempfile::NamedTempFile::new_in(&self.home.run).map_err(unwritable())?;
        let exported = prepared.write_encrypted(file.path(), key)?;
        let mut content = File::open(file.path()).map_err(unwritable())?;
        let hash = hash_of(&mut content).map_err(unwritable())?;
        match opened {
            Opened::Git(files, found) => {
                let is_older = |file: &RemoteFile| {
                    ExportName::parse(&file.name).is_some_and(|other| other.id() == name.id())
                };
                let older: Vec<RemoteFile> = found.into_iter().filter(is_older).collect();
                files.put(&name.to_string(), &mut content, &older)?;
            }
            Opened::Directory(directory, _) => {
                // It is our own.
                keep(
                    &directory,
                    &name,
                    &mut content,
                    &older,
                    &hash,
                    &Limit::none(),
                )?;
            }
            Opened::Host(host, _) => {
                let name = name.to_string();
                let mut words = vec!["__exports", "--json", "put", &name, &hash];
                words.extend(replace.then_some("--replace"));
                let question = Question::new(words, SENDING).with_input(Some(content));
                self.ask_for::<ExportsThere>(&host, question)?;
            }
        }
        Ok(exported)
    }

    /// An instance arrives from there, paused: the one of this name, or the only one.
    pub(crate) fn import_from(
        &self,
        remote: &Remote,
        given: Option<&str>,
        options: &ImportOptions,
        progress: &mut dyn Progress,
    ) -> Result<Arrived, Error> {
        self.prepare()?;
        let opened = self.open_remote(remote)?;
        let names = opened.names();
        let name = ExportName::find(&names, given)
            .map_err(|unfound| not_found(unfound, remote, given, names))?;
        ensure_private(&self.home.run)?;
        let unreadable = || Error::files("read in", &self.home.run);
        let mut file = tempfile::tempfile_in(&self.home.run).map_err(unreadable())?;
        match &opened {
            Opened::Git(files, found) => {
                let whole = name.to_string();
                if let Some(found) = found.iter().find(|file| file.name == whole) {
                    files.get(found, &mut file)?;
                }
            }
            Opened::Directory(directory, _) => file = open_kept(directory, &name)?,
            Opened::Host(host, _) => self.fetch_export(host, &name, &file)?,
        }
        if !is_encrypted(&mut file).map_err(unreadable())? {
            return Err(RemoteError::NotEncrypted {
                name,
                remote: remote.given.clone(),
            }
            .into());
        }
        let options = ImportOptions {
            id: Some(name.id().clone()),
            ..options.clone()
        };
        self.import_export(Box::new(file), &options, progress)
    }

    fn open_remote(&self, remote: &Remote) -> Result<Opened, Error> {
        Ok(match &remote.place {
            Place::Git {
                repository,
                address,
            } => {
                let files = repository.remote_files(address)?;
                let found = files.list()?;
                Opened::Git(files, found)
            }
            Place::Directory(path) => Opened::Directory(path.clone(), kept_in(path)?),
            Place::Host(host) => {
                let words = ["__exports", "--json", "list"];
                let there: ExportsThere = self.ask_for(host, Question::new(words, ASKING))?;
                Opened::Host(host.clone(), there.exports)
            }
        })
    }

    fn fetch_export(
        &self,
        host: &HostName,
        name: &ExportName,
        mut file: &File,
    ) -> Result<(), Error> {
        let words = ["__exports", "get", &name.to_string()].map(Into::into);
        let bounds = self.fetch_bounds()?;
        self.connector(host)?.fetch(words, file, bounds)?;
        self.heard_from(host);
        file.rewind()
            .map_err(Error::files("read in", &self.home.run))
    }
}

impl Opened {
    /// The exports there. What is not named as one is none of ours.
    fn names(&self) -> Vec<ExportName> {
        match self {
            Self::Git(_, found) => {
                let names = found.iter();
                names
                    .filter_map(|file| ExportName::parse(&file.name))
                    .collect()
            }
            Self::Directory(_, names) | Self::Host(_, names) => names.clone(),
        }
    }
}

fn not_found(
    unfound: Unfound,
    remote: &Remote,
    given: Option<&str>,
    names: Vec<ExportName>,
) -> RemoteError {
    let remote = remote.given.clone();
    match (unfound, given) {
        (Unfound::Several(found), _) => RemoteError::Several { remote, found },
        (Unfound::None, Some(given)) if !names.is_empty() => RemoteError::NoSuchExport {
            given: given.to_owned(),
            remote,
            found: names,
        },
        (Unfound::None, _) => RemoteError::Empty { remote },
    }
}
