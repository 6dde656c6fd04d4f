//! Gemini CLI writes each conversation of a directory into a file of its own: `/clear` begins another one.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::Deserialize;

use super::{Discovered, DiscoveryContext};
use crate::agents::transcripts::resolved_directory;

/// The most bytes of the first line.
const HEADER: u64 = 64 * 1024;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Header {
    session_id: String,
    /// `main` for a conversation with the user.
    kind: Option<String>,
}

/// The conversation of this directory that was written last, of those of this run.
pub(super) fn newest(home: &Path, context: &DiscoveryContext<'_>) -> Discovered {
    let cwd = resolved_directory(context.cwd);
    let projects = entries(&home.join("tmp"));
    let of_cwd = projects.iter().filter(|project| {
        std::fs::read_to_string(project.join(".project_root"))
            .is_ok_and(|root| Path::new(root.trim_end_matches('\n')) == cwd)
    });
    let newest = of_cwd
        .flat_map(|project| entries(&project.join("chats")))
        .filter_map(|file| Some((written(&file)?, file)))
        .filter(|(at, _)| *at >= context.since)
        .filter_map(|(at, file)| Some((at, session(&file)?)))
        .max();
    newest.map_or(Discovered::Unclear, |(_, id)| Discovered::Found(id))
}

fn entries(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).collect()
}

fn written(file: &Path) -> Option<SystemTime> {
    let found = std::fs::metadata(file).ok()?;
    found.is_file().then(|| found.modified().ok()).flatten()
}

fn session(file: &Path) -> Option<String> {
    let mut line = Vec::new();
    let reader = File::open(file).ok()?.take(HEADER);
    BufReader::new(reader).read_until(b'\n', &mut line).ok()?;
    let header: Header = serde_json::from_slice(&line).ok()?;
    let with_the_user = header.kind.is_none_or(|kind| kind == "main");
    let usable = uuid::Uuid::try_parse(&header.session_id).is_ok();
    (with_the_user && usable).then_some(header.session_id)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use super::*;

    #[test]
    fn the_conversation_that_was_written_last_is_the_current_one() {
        let home = tempfile::tempdir().unwrap();
        let work = tempfile::tempdir().unwrap();
        let cwd = work.path().canonicalize().unwrap();
        let host = crate::agents::Host {
            biv: "/biv".into(),
            state: "/state".into(),
            shell: "/bin/sh".into(),
            path: None,
        };
        let context = DiscoveryContext {
            leader: None,
            pids: &[],
            cwd: &cwd,
            repository: &cwd,
            since: UNIX_EPOCH + Duration::from_secs(100),
            host: &host,
        };
        let id = |letter: char| format!("{letter}0000000-0000-4000-8000-000000000000");
        let write = |project: &str, root: &Path, letter: char, kind: &str, seconds: u64| {
            let project = home.path().join("tmp").join(project);
            std::fs::create_dir_all(project.join("chats")).unwrap();
            std::fs::write(project.join(".project_root"), root.to_str().unwrap()).unwrap();
            let file = project.join(format!("chats/session-x-{letter}.jsonl"));
            let line = format!(r#"{{"sessionId":"{}","kind":"{kind}"}}"#, id(letter));
            std::fs::write(&file, format!("{line}\n{{}}\n")).unwrap();
            let at = UNIX_EPOCH + Duration::from_secs(seconds);
            let file = File::options().append(true).open(file).unwrap();
            file.set_modified(at).unwrap();
        };
        let now = || newest(home.path(), &context);
        assert_eq!(now(), Discovered::Unclear);
        write("own", &cwd, 'a', "main", 50);
        assert_eq!(now(), Discovered::Unclear, "of an earlier run");
        write("own", &cwd, 'b', "main", 200);
        write("own", &cwd, 'c', "subagent", 400);
        write("other", Path::new("/elsewhere"), 'd', "main", 500);
        assert_eq!(now(), Discovered::Found(id('b')));
        write("own", &cwd, 'e', "main", 300);
        assert_eq!(now(), Discovered::Found(id('e')));
    }
}
