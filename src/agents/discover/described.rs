//! Finds a session by the files that the provider file describes.

use std::ffi::OsString;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::time::SystemTime;

use serde_json::Value;

use super::{Discovered, DiscoveryContext};
use crate::agents::described::{Find, ReadAs};
use crate::agents::transcripts::resolved_directory;

/// The most bytes of a file that are read.
const MOST: u64 = 4 * 1024 * 1024;

/// The session of this run that was written last.
pub(super) fn found(
    find: &Find,
    variable: &dyn Fn(&str) -> Option<OsString>,
    context: &DiscoveryContext<'_>,
) -> Discovered {
    let files = find.files.files(variable, None);
    let mut newest: Option<(SystemTime, String)> = None;
    let mut unread = false;
    for file in &files {
        let Some(written) = written(file) else {
            unread = true;
            continue;
        };
        // A file of another run is not opened.
        if written < context.since {
            continue;
        }
        let Ok(entries) = entries(file, find.read) else {
            unread = true;
            continue;
        };
        for entry in entries.iter().filter(|entry| is_own(find, entry, context)) {
            let Some(id) = find.id.text(entry).filter(|id| !id.is_empty()) else {
                continue;
            };
            // Of the same time, as in an index: the later one.
            if newest.as_ref().is_none_or(|(known, _)| written >= *known) {
                newest = Some((written, id));
            }
        }
    }
    let kept = find.files.home(variable);
    match newest {
        Some((_, id)) => Discovered::Found(id),
        None if !unread && kept.is_some_and(|directory| directory.is_dir()) => Discovered::Nothing,
        None => Discovered::Unclear,
    }
}

fn written(file: &Path) -> Option<SystemTime> {
    std::fs::metadata(file).ok()?.modified().ok()
}

fn entries(file: &Path, read: ReadAs) -> std::io::Result<Vec<Value>> {
    let file = File::open(file)?.take(MOST);
    if read == ReadAs::Document {
        // The agent may be writing it right now.
        return Ok(vec![serde_json::from_reader(file)?]);
    }
    let most = if read == ReadAs::Header {
        1
    } else {
        usize::MAX
    };
    let mut entries = Vec::new();
    for line in BufReader::new(file).split(b'\n').take(most) {
        if let Ok(entry) = serde_json::from_slice(&line?) {
            entries.push(entry);
        }
    }
    Ok(entries)
}

/// Whether an entry is of this directory, of this process and of this run, as far as it says.
fn is_own(find: &Find, entry: &Value, context: &DiscoveryContext<'_>) -> bool {
    let here = find.directory.as_ref().is_none_or(|path| {
        let told = path.text(entry);
        told.is_some_and(|told| {
            let told = Path::new(&told);
            told == context.cwd || told == resolved_directory(context.cwd)
        })
    });
    let own_process = find.process.as_ref().is_none_or(|path| {
        let pid = path.first(entry).and_then(Value::as_i64);
        let leader = context.leader.map(|leader| leader.pid);
        let mut pids = context.pids.iter().copied().chain(leader);
        pid.is_some_and(|pid| pids.any(|own| i64::from(own) == pid))
    });
    let of_this_run = find.started.as_ref().is_none_or(|path| {
        let started = path.time(entry);
        started.is_some_and(|started| started.system() >= context.since)
    });
    here && own_process && of_this_run
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use super::*;

    fn find(text: &str) -> Find {
        toml::from_str(text).unwrap()
    }

    #[test]
    fn a_session_of_this_directory_and_run_is_found() {
        let root = tempfile::tempdir().unwrap();
        let host = crate::agents::Host {
            biv: "/biv".into(),
            state: "/state".into(),
            shell: "/bin/sh".into(),
            path: None,
        };
        let now = SystemTime::now();
        let context = |since| DiscoveryContext {
            leader: None,
            pids: &[77],
            cwd: Path::new("/w/one"),
            repository: Path::new("/w"),
            since,
            host: &host,
        };
        let variable = |_: &str| Some(root.path().as_os_str().to_owned());
        let of = |text: &str, since| found(&find(text), &variable, &context(since));
        let put = |name: &str, text: &str, age: u64| {
            let path = root.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, text).unwrap();
            let file = File::options().append(true).open(&path).unwrap();
            file.set_modified(now - Duration::from_secs(age)).unwrap();
        };
        let documents = "files = \"{X:~/x}/s/*/meta.json\"\nid = \"id\"\ndirectory = \"env.cwd\"\n";
        // The agent's directory is there, and nothing in it.
        assert_eq!(of(documents, UNIX_EPOCH), Discovered::Nothing);
        let elsewhere = documents.replace("{X:~/x}", "/nonexistent");
        assert_eq!(of(&elsewhere, UNIX_EPOCH), Discovered::Unclear);
        put("s/c/meta.json", r#"{"id":"c","env":{"cwd":"/w/two"}}"#, 1);
        assert_eq!(of(documents, UNIX_EPOCH), Discovered::Nothing);
        put("s/a/meta.json", r#"{"id":"a","env":{"cwd":"/w/one"}}"#, 50);
        put("s/b/meta.json", r#"{"id":"b","env":{"cwd":"/w/one"}}"#, 10);
        assert_eq!(of(documents, UNIX_EPOCH), Discovered::Found("b".to_owned()));
        // Older than the run.
        let since = now - Duration::from_secs(5);
        assert_eq!(of(documents, since), Discovered::Nothing);
        // Half of a document: the next look will tell.
        put("s/d/meta.json", r#"{"id":"d","#, 1);
        assert_eq!(of(documents, since), Discovered::Unclear);

        put(
            "index.jsonl",
            "{\"id\":\"x\",\"dir\":\"/w/one\",\"at\":5}\n{\"id\":\"y\",\"dir\":\"/w/one\",\"at\":9}\n{\"id\":\"z\",\"dir\":\"/w/two\",\"at\":9}\n",
            1,
        );
        let index =
            "files = \"{X:~/x}/index.jsonl\"\nread = \"lines\"\nid = \"id\"\ndirectory = \"dir\"\n";
        assert_eq!(of(index, UNIX_EPOCH), Discovered::Found("y".to_owned()));
        let timed = format!("{index}started = \"at\"\n");
        let since = UNIX_EPOCH + Duration::from_secs(7);
        assert_eq!(of(&timed, since), Discovered::Found("y".to_owned()));

        put("p/77.json", r#"{"pid":77,"id":"mine"}"#, 1);
        put("p/78.json", r#"{"pid":78,"id":"other"}"#, 0);
        let processes = "files = \"{X:~/x}/p/*.json\"\nid = \"id\"\nprocess = \"pid\"\n";
        assert_eq!(
            of(processes, UNIX_EPOCH),
            Discovered::Found("mine".to_owned())
        );
    }
}
