//! The file of events, and readers that follow it.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::json;

use crate::engine::base::{Core, Error, now};
use crate::model::{Activity, Event, EventKind, InstanceId, InstanceRecord, Timestamp};
use crate::store::{Durability, append_line};

/// A file larger than this is renamed, and a new one begun.
const LARGE: u64 = 4 * 1024 * 1024;
/// How many renamed files are kept; the newest is number 1.
const KEPT: u32 = 4;
/// Read at once.
const CHUNK: usize = 64 * 1024;
/// No line of ours is longer; what is, is left out.
const LONGEST_LINE: usize = 1024 * 1024;

impl Core {
    /// Written after the state is consistent on disk. A full disk must not undo what has happened,
    /// so a failure to write is not passed on.
    pub(in crate::engine) fn emit(
        &self,
        kind: EventKind,
        record: &InstanceRecord,
        data: serde_json::Value,
    ) {
        self.emit_event(kind, Some(record), data);
    }

    /// As `emit`, for events of the camp and not of one instance.
    pub(in crate::engine) fn emit_event(
        &self,
        kind: EventKind,
        record: Option<&InstanceRecord>,
        data: serde_json::Value,
    ) {
        let event = Event {
            at: now(),
            kind,
            instance: record.map(|record| record.id.clone()),
            title: record.map(|record| record.title.clone()),
            data,
        };
        let path = self.events_path();
        if let Err(error) = append_line(&path, &event, Durability::Soon) {
            tracing::warn!(%error, path = %path.display(), "write an event");
        }
        self.put_aside(&path);
        // An activity was learned by looking, so the daemon need not look again.
        let news = event
            .instance
            .as_ref()
            .filter(|_| kind != EventKind::Activity);
        self.wake_daemon(news);
    }

    /// Records that an agent's activity has changed.
    pub(crate) fn emit_activity(
        &self,
        id: &InstanceId,
        activity: Activity,
        previous: Option<Activity>,
        until: Option<Timestamp>,
    ) {
        if let Ok(record) = self.store.instance(id).record() {
            let mut data = json!({ "activity": activity, "previous": previous });
            if let Some(until) = until {
                data["until"] = json!(until);
            }
            self.emit(EventKind::Activity, &record, data);
        }
    }

    /// Records that more agents run than the setting allows.
    pub(crate) fn emit_crowded(&self, running: usize) {
        let limit = self.settings().limits.active;
        let data = json!({ "running": running, "limit": limit });
        self.emit_event(EventKind::Crowded, None, data);
    }

    /// All events that are still kept, and those to come.
    pub(crate) fn events_from_start(&self) -> Result<Events, Error> {
        let path = self.events_path();
        let old = (1..=KEPT)
            .rev()
            .filter_map(|number| File::open(aside(&path, number)).ok())
            .map(Source::new)
            .collect();
        Ok(Events {
            old,
            current: None,
            path,
        })
    }

    /// Only the events from now on.
    pub(crate) fn events_from_now(&self) -> Result<Events, Error> {
        let mut events = Events {
            old: Vec::new(),
            current: None,
            path: self.events_path(),
        };
        events.open()?;
        if let Some(source) = &mut events.current {
            source.skip().map_err(Error::files("read", &events.path))?;
        }
        Ok(events)
    }

    fn events_path(&self) -> PathBuf {
        self.store.root().join("events.jsonl")
    }

    /// Begins a new file where this one has grown large.
    fn put_aside(&self, path: &Path) {
        let is_large = || std::fs::metadata(path).is_ok_and(|file| file.len() > LARGE);
        if !is_large() {
            return;
        }
        // Another process does it now, or has just done it.
        let Ok(_lock) = self.store.lock("events", Duration::ZERO, "events") else {
            return;
        };
        if is_large() {
            // A file that cannot be renamed grows further, and the next event tries again.
            for number in (1..KEPT).rev() {
                drop(std::fs::rename(
                    aside(path, number),
                    aside(path, number + 1),
                ));
            }
            drop(std::fs::rename(path, aside(path, 1)));
        }
    }
}

fn aside(path: &Path, number: u32) -> PathBuf {
    path.with_file_name(format!("events.{number}.jsonl"))
}

/// Reads events in the order in which they were written, also across files that are renamed meanwhile.
#[derive(Debug)]
pub(crate) struct Events {
    /// The files before the current one, oldest first. The last that was put aside stays open: a
    /// process that had opened it before may still write into it.
    old: Vec<Source>,
    current: Option<Source>,
    path: PathBuf,
}

#[derive(Debug)]
struct Source {
    file: File,
    inode: u64,
    /// The beginning of a line that has not ended yet.
    rest: Vec<u8>,
}

impl Events {
    /// The next lines, each one event as JSON; none: nothing more for now.
    pub(crate) fn next(&mut self) -> Result<Vec<String>, Error> {
        let broken = |source| Error::files("read", &self.path)(source);
        for source in &mut self.old {
            let lines = source.read().map_err(broken)?;
            if !lines.is_empty() {
                return Ok(lines);
            }
        }
        self.open()?;
        let Some(current) = &mut self.current else {
            return Ok(Vec::new());
        };
        let lines = current.read().map_err(Error::files("read", &self.path))?;
        if !lines.is_empty() {
            return Ok(lines);
        }
        let inode = current.inode;
        match std::fs::metadata(&self.path) {
            Ok(metadata) if metadata.ino() != inode => {
                self.old.clear();
                self.old.extend(self.current.take());
                // First the lines that were written between the last read and the change of files.
                self.next()
            }
            _ => Ok(Vec::new()),
        }
    }

    fn open(&mut self) -> Result<(), Error> {
        if self.current.is_some() {
            return Ok(());
        }
        match File::open(&self.path) {
            Ok(file) => {
                self.current = Some(Source::new(file));
                Ok(())
            }
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            Err(error) => Err(Error::files("read", &self.path)(error)),
        }
    }
}

impl Source {
    fn new(file: File) -> Self {
        Self {
            inode: file.metadata().map_or(0, |metadata| metadata.ino()),
            file,
            rest: Vec::new(),
        }
    }

    fn skip(&mut self) -> std::io::Result<()> {
        use std::io::{Seek, SeekFrom};
        self.file.seek(SeekFrom::End(0)).map(drop)
    }

    /// Whole lines that are JSON; none at the end of what there is.
    fn read(&mut self) -> std::io::Result<Vec<String>> {
        let mut chunk = vec![0; CHUNK];
        loop {
            let count = match self.file.read(&mut chunk) {
                Ok(0) => return Ok(Vec::new()),
                Ok(count) => count,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            self.rest
                .extend_from_slice(chunk.get(..count).unwrap_or_default());
            let Some(end) = self.rest.iter().rposition(|byte| *byte == b'\n') else {
                if self.rest.len() > LONGEST_LINE {
                    self.rest.clear();
                }
                continue;
            };
            let rest = self.rest.split_off(end + 1);
            let whole = std::mem::replace(&mut self.rest, rest);
            let lines: Vec<String> = whole
                .split(|byte| *byte == b'\n')
                .filter_map(|line| String::from_utf8(line.to_owned()).ok())
                .filter(|line| serde_json::from_str::<serde::de::IgnoredAny>(line).is_ok())
                .collect();
            if !lines.is_empty() {
                return Ok(lines);
            }
        }
    }
}
