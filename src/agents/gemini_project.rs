//! Where Gemini CLI keeps the sessions of a directory.
//!
//! Measured with 0.61.0: `~/.gemini/projects.json` gives each directory a name, and `tmp/NAME/.project_root` holds the
//! directory. Where the list does not have it, Gemini finds the name by that file and adds it to the list. So a
//! session can be placed for a directory in which Gemini has never been, without a change of its list.

use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Component, Path, PathBuf};

use serde_json::Value;
use sha2::{Digest, Sha256};

use super::transcripts::resolved_directory;

const MARKER: &str = ".project_root";

/// The directory of the project, which may not exist yet.
pub(super) fn of(root: &Path, directory: &Path) -> PathBuf {
    let directory = resolved_directory(directory);
    let projects = root.join("tmp");
    let name = listed(root, &directory)
        .or_else(|| marked(&projects, &directory))
        .unwrap_or_else(|| {
            let hash = Sha256::digest(directory.as_os_str().as_encoded_bytes());
            let start: String = hash
                .iter()
                .take(6)
                .map(|byte| format!("{byte:02x}"))
                .collect();
            format!("bivouac-{start}")
        });
    projects.join(name)
}

/// Lets Gemini find the project by its directory. What it has written itself stays.
pub(super) fn mark(root: &Path, directory: &Path) -> std::io::Result<()> {
    let marker = of(root, directory).join(MARKER);
    let made = std::fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(marker);
    match made {
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
        made => {
            let directory = resolved_directory(directory);
            made?.write_all(directory.as_os_str().as_encoded_bytes())
        }
    }
}

/// The name that Gemini's list gives a directory.
fn listed(root: &Path, directory: &Path) -> Option<String> {
    let list = std::fs::read(root.join("projects.json")).ok()?;
    let list: Value = serde_json::from_slice(&list).ok()?;
    let name = list["projects"][directory.to_str()?].as_str()?;
    let mut parts = Path::new(name).components();
    let plain = matches!(
        (parts.next(), parts.next()),
        (Some(Component::Normal(_)), None)
    );
    plain.then(|| name.to_owned())
}

/// The project whose marker names a directory.
fn marked(projects: &Path, directory: &Path) -> Option<String> {
    let entries = std::fs::read_dir(projects).ok()?.flatten();
    let mut names = entries.filter(|entry| {
        std::fs::read_to_string(entry.path().join(MARKER))
            .is_ok_and(|root| Path::new(root.trim_end_matches('\n')) == directory)
    });
    names.next()?.file_name().into_string().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_is_found_by_the_list_then_by_its_marker_and_else_made() {
        let home = tempfile::tempdir().unwrap();
        let root = home.path();
        let directory = Path::new("/nowhere/app");
        let fresh = of(root, directory);
        assert!(fresh.starts_with(root.join("tmp")));
        std::fs::create_dir_all(&fresh).unwrap();
        mark(root, directory).unwrap();
        assert_eq!(of(root, directory), fresh);
        assert_ne!(of(root, Path::new("/nowhere/app2")), fresh);
        let own = root.join("tmp/app");
        std::fs::create_dir_all(&own).unwrap();
        std::fs::remove_dir_all(&fresh).unwrap();
        std::fs::write(own.join(MARKER), "/nowhere/app\n").unwrap();
        assert_eq!(of(root, directory), own);
        mark(root, directory).unwrap();
        let kept = std::fs::read_to_string(own.join(MARKER)).unwrap();
        assert_eq!(kept, "/nowhere/app\n");
        let list = |name: &str| {
            let list = serde_json::json!({ "projects": { "/nowhere/app": name } });
            std::fs::write(root.join("projects.json"), list.to_string()).unwrap();
        };
        list("app-1");
        assert_eq!(of(root, directory), root.join("tmp/app-1"));
        // A name that leads elsewhere is not followed.
        list("../app-1");
        assert_eq!(of(root, directory), own);
    }
}
