//! A client of tmux that starts before it is known what it is to ask. A look reads settings and records while its
//! client starts: one after the other would take as long as both.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;

use super::Server;

/// A client that has been started and reads its commands when they are known. Dropped, it ends without any.
#[derive(Debug)]
pub(crate) struct EarlyClient {
    socket: PathBuf,
    script: Sender<String>,
    answer: JoinHandle<Option<String>>,
}

impl Server {
    /// None where no server can be running. A server is not started.
    pub(crate) fn early_client(&self) -> Option<EarlyClient> {
        if !self.has_socket() {
            return None;
        }
        let command = self.client().args(["-N", "source-file", "-"]);
        let (script, known) = channel::<String>();
        let answer = std::thread::spawn(move || {
            let fed = command.output_fed(move |pipe| match known.recv() {
                Ok(script) => pipe.write_all(script.as_bytes()),
                // Nothing is asked.
                Err(_) => Ok(()),
            });
            let output = fed.ok()?;
            Some(String::from_utf8_lossy(&output.stdout).into_owned())
        });
        Some(EarlyClient {
            socket: self.socket_path(),
            script,
            answer,
        })
    }
}

/// A client that has its commands. It prints while its caller does other things.
#[derive(Debug)]
pub(super) struct Asked {
    answer: JoinHandle<Option<String>>,
}

impl Asked {
    /// What tmux printed; None where it could not be asked. A command that fails prints nothing, and the next one is
    /// carried out.
    pub(super) fn told(self) -> Option<String> {
        self.answer.join().ok()?
    }
}

impl EarlyClient {
    /// None where the client has ended.
    pub(super) fn ask(self, commands: &[Vec<&str>]) -> Option<Asked> {
        self.script.send(script(commands)).ok()?;
        Some(Asked {
            answer: self.answer,
        })
    }

    /// Whether it talks to the server of this socket.
    pub(super) fn is_of(&self, socket: &Path) -> bool {
        self.socket == socket
    }
}

fn script(commands: &[Vec<&str>]) -> String {
    let mut script = String::new();
    for command in commands {
        let words: Vec<String> = command.iter().map(|word| quoted(word)).collect();
        script.push_str(&words.join(" "));
        script.push('\n');
    }
    script
}

/// tmux joins quoted parts that touch each other.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\"'\"'"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_one_command_on_a_line() {
        let commands = [vec!["display-message", "-p", "#{pane_id}"], vec!["it's"]];
        assert_eq!(
            script(&commands),
            "'display-message' '-p' '#{pane_id}'\n'it'\"'\"'s'\n"
        );
    }
}
