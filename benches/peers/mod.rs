//! Other tools beside it, where they are installed and can do the same work. Each gets a home and a
//! tmux server of its own.

mod ccmanager;
mod workmux;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::support::{Bench, Camp};

pub(crate) fn rows(bench: &mut Bench) {
    ccmanager::rows(bench);
    workmux::rows(bench);
}

/// Another tool, and the version that it tells of itself.
struct Peer {
    program: PathBuf,
    name: String,
}

impl Peer {
    /// None, with a word, where it is not installed.
    fn find(program: &str) -> Option<Self> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let found = std::env::split_paths(&path)
            .map(|directory| directory.join(program))
            .find(|candidate| candidate.is_file());
        let Some(found) = found else {
            eprintln!("{program} is not installed: nothing to compare with");
            return None;
        };
        let told = Command::new(&found).arg("--version").output();
        let told = told.map_or_else(|_| Vec::new(), |output| output.stdout);
        let told = String::from_utf8_lossy(&told);
        let version = told.split_whitespace().last().unwrap_or("?");
        Some(Self {
            program: found,
            name: format!("{program} {version}"),
        })
    }

    /// The tool in a home of its own, so that it reads and writes nothing of the user's.
    fn command(&self, camp: &Camp, directory: &Path) -> Command {
        let home = camp.path("peer-home");
        std::fs::create_dir_all(&home).ok();
        let mut command = Command::new(&self.program);
        command
            .current_dir(directory)
            .env("HOME", &home)
            .env("TMUX_TMPDIR", &home)
            .env("XDG_CONFIG_HOME", home.join("config"))
            .env("XDG_STATE_HOME", home.join("state"))
            .env("XDG_DATA_HOME", home.join("data"))
            .env("XDG_CACHE_HOME", home.join("cache"))
            .env("XDG_RUNTIME_DIR", &home)
            .env_remove("TMUX")
            .env_remove("TMUX_PANE")
            .stdin(Stdio::null());
        command
    }
}
