//! Carries out the agent's effects.

use std::path::Path;

use rustix::process::{Resource, Rlimit, setrlimit};

use super::agent::Input;
use super::child::{self, Child};
use super::runtime::{Ending, Runtime};
use super::state::Effect;

impl Runtime {
    pub(super) fn perform(&mut self, effect: Effect) {
        match effect {
            Effect::Print(lines) => self.finished.extend(lines),
            Effect::Record(entry) => {
                if let Err(error) = self.file.append(&entry) {
                    self.trouble("session file cannot be written", &error);
                }
            }
            Effect::RunCommand(command) => {
                self.children += 1;
                match Child::start(self.children, &command, &self.sender) {
                    Ok(child) => self.child = Some(child),
                    Err(error) => {
                        self.trouble("command cannot be started", &error);
                        self.give(Input::CommandEnded(None));
                    }
                }
            }
            Effect::StopCommand => self.stop_child(),
            Effect::ReadFile(path) => {
                let bytes = std::fs::read(path).ok();
                let text = bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
                self.give(Input::FileRead(text));
            }
            Effect::WriteFile { path, text } => {
                let path = Path::new(&path);
                let result = path
                    .parent()
                    .map_or(Ok(()), std::fs::create_dir_all)
                    .and_then(|()| std::fs::write(path, text));
                self.give(Input::FileWritten(
                    result.map_err(|error| error.to_string()),
                ));
            }
            Effect::StartBackground(script) => {
                if let Err(error) = child::start_background(&script) {
                    self.trouble("child cannot be started", &error);
                }
            }
            Effect::ClearScreen => {
                self.finished.clear();
                // A closed terminal is noticed when keys are read.
                drop(self.screen.clear());
            }
            Effect::IgnoreSignals => self.signal_state.ignore(),
            Effect::Leave(code) => self.ends = Some(Ending::Leave(code)),
            Effect::Crash => {
                self.draw();
                // No core file in the worktree. Without this limit the crash is the same.
                let none = Rlimit {
                    current: Some(0),
                    maximum: Some(0),
                };
                let _ = setrlimit(Resource::Core, none);
                std::process::abort();
            }
        }
    }

    fn trouble(&mut self, what: &str, error: &std::io::Error) {
        self.give(Input::Trouble(format!("The {what}: {error}")));
    }
}
