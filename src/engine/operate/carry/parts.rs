//! The files of an instance that travel beside its work.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use crate::agents::SessionFile;
use crate::engine::base::Error;
use crate::model::{InstanceId, InstanceRecord, RunRecord};
use crate::store::{InstanceDir, ensure_private, replace_file};
use crate::vault::Part;

const RECORD: &str = "record.json";
const QUEUE: &str = "queue.json";

/// A directory, and how its files may be named.
type Directory = (&'static str, fn(&str) -> bool);

/// Directories of an instance whose files travel.
const DIRECTORIES: [Directory; 2] = [
    ("terminal", |name| {
        ["scrollback", "terminal.json", "line"].contains(&name)
    }),
    ("conversation", |name| {
        ["current.jsonl", "imports.json"].contains(&name)
            || name.starts_with("archive-") && name.ends_with(".jsonl")
    }),
];

/// Everything of an instance that its worktree does not hold.
pub(super) fn parts_of(dir: &InstanceDir, record: &InstanceRecord) -> Result<Vec<Part>, Error> {
    let mut parts = vec![json_part(RECORD, &without_place(record))];
    for run in dir.runs()?.0 {
        parts.push(json_part(&format!("runs/{}.json", run.run_id), &run));
    }
    if let Some(bytes) = read(&dir.queue_path())? {
        parts.push(Part {
            name: QUEUE.to_owned(),
            bytes,
        });
    }
    for (directory, travels) in DIRECTORIES {
        let path = dir.path.join(directory);
        let entries = std::fs::read_dir(&path).into_iter().flatten();
        let mut names: Vec<String> = entries
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .filter(|name| travels(name))
            .collect();
        names.sort_unstable();
        for name in names {
            if let Some(bytes) = read(&path.join(&name))? {
                parts.push(Part {
                    name: format!("{directory}/{name}"),
                    bytes,
                });
            }
        }
    }
    Ok(parts)
}

/// The record, without what is true on this machine only.
fn without_place(record: &InstanceRecord) -> InstanceRecord {
    InstanceRecord {
        place: None,
        vault: None,
        command: Vec::new(),
        lease: None,
        ..record.clone()
    }
}

fn json_part(name: &str, value: &impl serde::Serialize) -> Part {
    Part {
        name: name.to_owned(),
        bytes: serde_json::to_vec(value).unwrap_or_default(),
    }
}

fn read(path: &Path) -> Result<Option<Vec<u8>>, Error> {
    match std::fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::files("read", path)(error)),
    }
}

/// The record that an export brings.
pub(super) fn record_in(parts: &[Part]) -> Result<InstanceRecord, Error> {
    let part = parts.iter().find(|part| part.name == RECORD);
    let part = part.ok_or_else(|| refused("it has no record"))?;
    let value: serde_json::Value =
        serde_json::from_slice(&part.bytes).map_err(|error| refused(&error.to_string()))?;
    let format = value["format"].as_u64().unwrap_or(0);
    if format == 0 || format > u64::from(InstanceRecord::FORMAT) {
        return Err(refused("it was written by a newer biv"));
    }
    serde_json::from_value(value).map_err(|error| refused(&format!("its record: {error}")))
}

fn refused(problem: &str) -> Error {
    crate::git::GitError::ExportRefused {
        problem: problem.to_owned(),
    }
    .into()
}

/// Where an instance keeps the files of its agent's session until they are placed.
const ARRIVED: &str = "arrived";
const SESSION: &str = "session/";
/// The path of the worktree that the session files name.
const SESSION_FROM: &str = "session-from";

/// The files of the agent's own session, and the path that they name.
pub(super) fn session_parts(files: Vec<SessionFile>, worktree: &Path) -> Vec<Part> {
    if files.is_empty() {
        return Vec::new();
    }
    // The agent names its directory with links resolved.
    let above = worktree
        .parent()
        .and_then(|above| above.canonicalize().ok());
    let resolved = match (worktree.canonicalize(), above, worktree.file_name()) {
        (Ok(path), ..) => path,
        (_, Some(above), Some(name)) => above.join(name),
        _ => worktree.to_owned(),
    };
    let from = Part {
        name: SESSION_FROM.to_owned(),
        bytes: resolved.into_os_string().into_vec(),
    };
    let files = files.into_iter().map(|file| Part {
        name: format!("{SESSION}{}", file.name),
        bytes: file.bytes,
    });
    std::iter::once(from).chain(files).collect()
}

/// The session as the agent has printed it for the last export.
const PRINTED: &str = "session-printed.json";

/// Keeps what was printed, in place of what was printed before.
pub(super) fn keep_printed(dir: &InstanceDir, file: Option<&SessionFile>) -> Result<(), Error> {
    let path = dir.path.join(PRINTED);
    match file {
        Some(file) => Ok(replace_file(&path, &file.bytes)?),
        None => match std::fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(Error::files("remove", &path)(error))
            }
            _ => Ok(()),
        },
    }
}

pub(super) fn printed_session(dir: &InstanceDir) -> Result<Option<SessionFile>, Error> {
    let bytes = read(&dir.path.join(PRINTED))?;
    Ok(bytes.map(|bytes| SessionFile {
        name: PRINTED.to_owned(),
        bytes,
    }))
}

/// Says that the agent's session stayed where the instance comes from.
const SESSION_STAYED: &str = "session-stayed";
/// No file of the store is ever empty.
const STAYED: &[u8] = b"stayed\n";

/// Whether the session of the agent stayed on another machine, so that it begins a new one here.
pub(in crate::engine) fn has_session_stayed(dir: &InstanceDir) -> bool {
    dir.path.join(SESSION_STAYED).exists()
}

/// Says that the session that has arrived is one of this instance, which the agent may have here.
const SESSION_OWN: &str = "session-own";

/// What has arrived of an agent's session and is not placed yet.
pub(in crate::engine) struct ArrivedSession {
    /// The path of the worktree that it names.
    pub from: PathBuf,
    pub files: Vec<SessionFile>,
    /// It is one that the agent may have here, from before.
    pub own: bool,
}

/// From now on the session that has arrived is one that the agent may have.
pub(in crate::engine) fn own_arrived(dir: &InstanceDir) -> Result<(), Error> {
    let path = dir.path.join(ARRIVED).join(SESSION_OWN);
    Ok(replace_file(&path, b"own\n")?)
}

/// Notes that the session of the agent did not come along.
pub(in crate::engine) fn note_stayed(dir: &InstanceDir) -> Result<(), Error> {
    Ok(replace_file(&dir.path.join(SESSION_STAYED), STAYED)?)
}

pub(in crate::engine) fn arrived_session(
    dir: &InstanceDir,
) -> Result<Option<ArrivedSession>, Error> {
    let arrived = dir.path.join(ARRIVED);
    let Some(from) = read(&arrived.join(SESSION_FROM))? else {
        return Ok(None);
    };
    let top = arrived.join(SESSION);
    let mut files = Vec::new();
    let mut open = vec![top.clone()];
    while let Some(directory) = open.pop() {
        let entries = std::fs::read_dir(&directory).map_err(Error::files("read", &directory))?;
        for entry in entries.flatten() {
            let path = entry.path();
            if path.is_dir() {
                open.push(path);
            } else if let (Ok(name), Some(bytes)) = (path.strip_prefix(&top), read(&path)?) {
                files.push(SessionFile {
                    name: name.to_string_lossy().into_owned(),
                    bytes,
                });
            }
        }
    }
    Ok(Some(ArrivedSession {
        from: PathBuf::from(OsString::from_vec(from)),
        files,
        own: arrived.join(SESSION_OWN).exists(),
    }))
}

/// The session is placed: its copy goes.
pub(in crate::engine) fn forget_arrived(dir: &InstanceDir) -> Result<(), Error> {
    let arrived = dir.path.join(ARRIVED);
    match std::fs::remove_dir_all(&arrived) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(Error::files("remove", &arrived)(error))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}

/// What is written into the directory of an instance that arrives.
#[derive(Debug)]
pub(in crate::engine) struct Luggage {
    files: Vec<Part>,
    runs: Vec<RunRecord>,
}

impl Luggage {
    /// Sorts the parts; one that is not known, or cannot be understood, is refused.
    pub(super) fn sorted(parts: &[Part]) -> Result<Self, Error> {
        let mut luggage = Self {
            files: Vec::new(),
            runs: Vec::new(),
        };
        for part in parts {
            let known = |(directory, travels): Directory| {
                let name = part.name.strip_prefix(directory)?.strip_prefix('/')?;
                travels(name).then_some(())
            };
            if part.name == RECORD {
                continue;
            } else if part.name.starts_with("runs/") {
                let run: RunRecord = serde_json::from_slice(&part.bytes)
                    .map_err(|error| refused(&format!("{}: {error}", part.name)))?;
                luggage.runs.push(run);
            } else if part.name == QUEUE {
                serde_json::from_slice::<crate::model::Queue>(&part.bytes)
                    .map_err(|error| refused(&format!("its queue: {error}")))?;
                luggage.files.push(part.clone());
            } else if DIRECTORIES
                .into_iter()
                .any(|known_one| known(known_one).is_some())
            {
                luggage.files.push(part.clone());
            } else if part.name == SESSION_FROM || part.name.starts_with(SESSION) {
                luggage.files.push(Part {
                    name: format!("{ARRIVED}/{}", part.name),
                    bytes: part.bytes.clone(),
                });
            } else {
                return Err(refused(&format!("`{}` is not known", part.name)));
            }
        }
        Ok(luggage)
    }

    /// Notes that the agent's session did not come along.
    pub(super) fn without_session(&mut self) {
        self.files.push(Part {
            name: SESSION_STAYED.to_owned(),
            bytes: STAYED.to_vec(),
        });
    }

    /// Whether it brings the agent's session.
    pub(super) fn has_session(&self) -> bool {
        let prefix = format!("{ARRIVED}/{SESSION}");
        self.files.iter().any(|part| part.name.starts_with(&prefix))
    }

    /// Notes that the session is one that the agent may have here, from before.
    pub(super) fn with_own_session(&mut self) {
        self.files.push(Part {
            name: format!("{ARRIVED}/{SESSION_OWN}"),
            bytes: b"own\n".to_vec(),
        });
    }

    /// Writes it, for an instance of this id in this repository.
    pub(in crate::engine) fn unpack(
        &self,
        dir: &InstanceDir,
        id: &InstanceId,
        repository: &Path,
    ) -> Result<(), Error> {
        for part in &self.files {
            let path = dir.path.join(&part.name);
            let mut above = dir.path.clone();
            for name in Path::new(&part.name).parent().into_iter().flatten() {
                above.push(name);
                ensure_private(&above)?;
            }
            replace_file(&path, &part.bytes)?;
        }
        for run in &self.runs {
            dir.save_run(&RunRecord {
                instance_id: id.clone(),
                repo_root: repository.to_owned(),
                ..run.clone()
            })?;
        }
        Ok(())
    }
}
