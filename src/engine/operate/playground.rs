//! A small repository for the demonstration.

use std::path::Path;

use crate::engine::base::{Core, Error, Scope};
use crate::process::Command;

/// Files that make the playground look like a project.
const FILES: [(&str, &str); 3] = [
    (
        "README.md",
        "# Playground\n\nA small project to try Bivouac on.\n",
    ),
    (
        "greet.sh",
        "#!/bin/sh\necho \"Good evening, ${1:-camper}\"\n",
    ),
    (".gitignore", "build/\n"),
];

impl Core {
    /// Makes a repository with one commit in an empty directory.
    pub(crate) fn make_playground(directory: &Path) -> Result<(), Error> {
        for (name, text) in FILES {
            let path = directory.join(name);
            std::fs::write(&path, text).map_err(Error::files("write", &path))?;
        }
        let git = |args: &[&str]| {
            Command::new("git")
                .directory(directory)
                .args([
                    "-c",
                    "core.hooksPath=/dev/null",
                    "-c",
                    "commit.gpgSign=false",
                ])
                .args([
                    "-c",
                    "user.name=Bivouac",
                    "-c",
                    "user.email=demo@bivouac.invalid",
                ])
                .args(args)
                .env_remove("GIT_DIR")
                .env_remove("GIT_WORK_TREE")
                .env_remove("GIT_INDEX_FILE")
                .run()
        };
        git(&["init", "--quiet", "--initial-branch=main"])?;
        git(&["add", "."])?;
        git(&["commit", "--quiet", "--message", "Pitch the tent"])?;
        Ok(())
    }

    /// Presses a key in an agent's pane, as an attached user would.
    pub(crate) fn press_key(&self, given: &str, key: &str) -> Result<(), Error> {
        let found = self.settled(given, Scope::Living)?;
        let server = self.server_of(&found.record);
        if let Some(pane) = server.pane_of(&found.record.id)? {
            server.press(&pane.id, &[key])?;
        }
        Ok(())
    }

    /// Stages one file, as a user would.
    pub(crate) fn stage(&self, given: &str, file: &str) -> Result<(), Error> {
        let found = self.settled(given, Scope::Living)?;
        Command::new("git")
            .directory(&found.record.worktree.path)
            .args(["add", "--", file])
            .run()?;
        Ok(())
    }

    /// What git says of the files of an instance, in its short form.
    pub(crate) fn status(&self, given: &str) -> Result<String, Error> {
        let found = self.settled(given, Scope::Living)?;
        Ok(Command::new("git")
            .directory(&found.record.worktree.path)
            .args(["status", "--short", "--branch"])
            .env("GIT_OPTIONAL_LOCKS", "0")
            .text()?)
    }
}
