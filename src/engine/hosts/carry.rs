//! The commits that a new instance on a host needs: sent by a bundle, into a repository that biv keeps there.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::engine::base::{Core, Error};
use crate::engine::operate::carry::limit::write_sent;
use crate::git::{Repo, ScratchDir};
use crate::hosts::{HostError, HostName, Question};
use crate::model::{printable_line, slug};
use crate::store::ensure_private;

/// How long the commits may take to get there.
pub(super) const SENDING: Duration = Duration::from_secs(3600);
pub(super) const ASKING: Duration = Duration::from_secs(30);

/// Where the commits are now.
#[derive(Debug, Clone)]
pub(crate) struct Carried {
    /// The repository on the host.
    pub repository: String,
    /// What to start from there.
    pub base: String,
    /// The size of the bundle.
    pub bytes: u64,
}

/// What a host says of its repository.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct RepositoryThere {
    pub path: String,
    pub tips: Vec<String>,
    /// What to start from, once something was received.
    pub base: Option<String>,
}

/// Which repository is meant on a host.
#[derive(Debug, Clone)]
pub(crate) struct RepositoryKey {
    /// The id of the repository that the commits come from.
    pub id: String,
    pub name: String,
    pub object_format: String,
}

/// What is received: a branch out of a bundle, or a commit that is there already.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Receive {
    Nothing,
    Bundle { name: String },
    Commit { name: String, commit: String },
}

impl Core {
    /// Sends what a new instance on a host starts from.
    pub(crate) fn send_commits(
        &self,
        host: &HostName,
        directory: &Path,
        base: Option<&str>,
    ) -> Result<Carried, Error> {
        let repository = Repo::discover(directory)?;
        let base = base.unwrap_or(&self.settings().new.base);
        let Some(commit) = repository.resolve_in(directory, base)? else {
            let path = repository.root().to_owned();
            return Err(match repository.has_commits()? {
                true => Error::NoSuchBase {
                    base: base.to_owned(),
                    repository: path,
                },
                false => Error::NoCommits { repository: path },
            });
        };
        if repository.is_shallow()? {
            let path = repository.root().to_owned();
            return Err(HostError::Shallow { path }.into());
        }
        let named = repository.name_in(directory, base);
        let name = match repository.branch_commit(&named)? {
            Some(_) => named,
            None => commit[..12].to_owned(),
        };
        let key = key_of(&repository)?;
        let there = self.repository_on(host, &key, &[], None, ASKING)?;
        let known = repository.having(&there.tips)?;
        let received = if known.contains(&commit) {
            let more = ["--ref", &name, "--commit", &commit];
            (self.repository_on(host, &key, &more, None, ASKING)?, 0)
        } else {
            ensure_private(&self.home.run)?;
            let mut file = tempfile::tempfile_in(&self.home.run)
                .map_err(Error::files("write in", &self.home.run))?;
            repository.write_bundle(&commit, &name, &known, &file, &self.home.run)?;
            let bytes = file
                .seek(SeekFrom::End(0))
                .and_then(|bytes| file.rewind().map(|()| bytes))
                .map_err(Error::files("read in", &self.home.run))?;
            let more = ["--ref", name.as_str()];
            let received = self.repository_on(host, &key, &more, Some(file), SENDING)?;
            (received, bytes)
        };
        let (there, bytes) = received;
        Ok(Carried {
            repository: there.path,
            base: there.base.unwrap_or(commit),
            bytes,
        })
    }

    /// The repository on a host for one without commits.
    pub(super) fn repository_for(&self, host: &HostName, root: &Path) -> Result<String, Error> {
        let key = key_of(&Repo::discover(root)?)?;
        Ok(self.repository_on(host, &key, &[], None, ASKING)?.path)
    }

    fn repository_on(
        &self,
        host: &HostName,
        key: &RepositoryKey,
        more: &[&str],
        input: Option<File>,
        deadline: Duration,
    ) -> Result<RepositoryThere, Error> {
        let words = [
            "__receive",
            "--json",
            &key.id,
            &key.name,
            &key.object_format,
        ];
        let words = words.iter().chain(more).copied();
        let question = Question::new(words, deadline).with_input(input);
        self.ask_for(host, question)
    }

    /// Asks for a JSON document; an error of the command there is reported as that.
    pub(super) fn ask_for<T: for<'de> Deserialize<'de>>(
        &self,
        host: &HostName,
        question: Question,
    ) -> Result<T, Error> {
        let reply = self.ask_host(host, question)?;
        if let Ok(found) = serde_json::from_slice(&reply.stdout)
            && reply.status == 0
        {
            return Ok(found);
        }
        let said: serde_json::Value = serde_json::from_slice(&reply.stdout).unwrap_or_default();
        let text = |value: &serde_json::Value| value.as_str().map(printable_line);
        let causes = said["error"]["causes"].as_array().into_iter().flatten();
        Err(HostError::Refused {
            host: host.clone(),
            message: text(&said["error"]["message"])
                .unwrap_or_else(|| printable_line(&String::from_utf8_lossy(&reply.stderr))),
            causes: causes.filter_map(text).collect(),
        }
        .into())
    }

    /// The other side: the repository for commits from another machine, and what was sent of them.
    pub(crate) fn receive(
        &self,
        key: &RepositoryKey,
        receive: &Receive,
        mut input: impl Read,
    ) -> Result<RepositoryThere, Error> {
        let is_word = |text: &str| {
            !text.is_empty()
                && text
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        };
        let name = match receive {
            Receive::Nothing => None,
            Receive::Bundle { name } | Receive::Commit { name, .. } => Some(name),
        };
        if !is_word(&key.id)
            || key.id.len() > 64
            || slug(&key.name) != key.name
            || !is_word(&key.object_format)
            || name.is_some_and(|name| !Repo::is_branch_name(name))
        {
            return Err(HostError::Malformed.into());
        }
        self.prepare()?;
        let repositories = self.home.state.join("repositories");
        ensure_private(&repositories)?;
        let short: String = key.id.chars().take(12).collect();
        let path = repositories.join(format!("{}-{short}.git", key.name));
        let repository = Repo::ensure_bare(&path, &key.object_format)?;
        let base = match receive {
            Receive::Nothing => None,
            Receive::Commit { name, commit } => Some(repository.set_home_branch(name, commit)?),
            Receive::Bundle { name } => {
                // What one that was killed has left goes away first, and counts as free.
                repository.sweep_scratch();
                let scratch = ScratchDir::new(&repository, "receive-")?;
                let path = scratch.path().join("bundle");
                let unwritable = || Error::files("write", &path);
                let file = File::create_new(&path).map_err(unwritable())?;
                // Git stores it a second time.
                let limit = self.arrival_limit(&repositories, 2)?;
                write_sent(&mut input, &file, &limit, unwritable())?;
                Some(repository.receive_bundle(&path, name)?)
            }
        };
        Ok(RepositoryThere {
            path: path.display().to_string(),
            tips: repository.tips()?,
            base,
        })
    }
}

fn key_of(repository: &Repo) -> Result<RepositoryKey, Error> {
    let (id, _) = repository.ensure_identity()?;
    let root = repository.root().file_name().unwrap_or_default();
    Ok(RepositoryKey {
        id,
        name: slug(&root.to_string_lossy()),
        object_format: repository.object_format().to_owned(),
    })
}
