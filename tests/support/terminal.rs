//! A person's terminal: a pane of another tmux server, with keys in and a screen out.

use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use super::{Camp, until_told};

pub(crate) struct Terminal {
    directory: PathBuf,
    environment: Vec<(String, String)>,
}

impl Terminal {
    /// Runs a shell line in a terminal of its own. `biv` is the program under test.
    pub(crate) fn running(camp: &Camp, line: &str) -> Self {
        Self::named(camp, "terminal", line)
    }

    /// The same, where there are several.
    pub(crate) fn named(camp: &Camp, name: &str, line: &str) -> Self {
        let directory = camp.root().join(name);
        std::fs::create_dir_all(&directory).unwrap();
        let terminal = Self {
            directory,
            environment: camp.environment(),
        };
        let program = super::camp::program().display();
        let script =
            format!("biv() {{ '{program}' \"$@\"; }}; {line}; echo \"ended with $?\"; cat");
        let started = terminal.tmux(&[
            "-f",
            "/dev/null",
            "new-session",
            "-d",
            "-x",
            "120",
            "-y",
            "40",
            "--",
            "sh",
            "-c",
            &script,
        ]);
        assert!(started.status.success(), "{started:?}");
        terminal
    }

    pub(crate) fn screen(&self) -> String {
        String::from_utf8_lossy(&self.tmux(&["capture-pane", "-p"]).stdout).into_owned()
    }

    /// Presses keys, by tmux's names for them.
    pub(crate) fn press(&self, keys: &[&str]) {
        let output = self.tmux(&[&["send-keys"], keys].concat());
        assert!(output.status.success(), "{output:?}");
    }

    /// Types text as it is.
    pub(crate) fn write(&self, text: &str) {
        let output = self.tmux(&["send-keys", "-l", "--", text]);
        assert!(output.status.success(), "{output:?}");
    }

    #[track_caller]
    pub(crate) fn wait_for(&self, text: &str) {
        let what = || format!("the terminal shows {text:?}; it shows\n{}", self.screen());
        until_told(what, || self.screen().contains(text).then_some(()));
    }

    #[track_caller]
    pub(crate) fn wait_for_any(&self, texts: &[&str]) {
        let what = || {
            format!(
                "the terminal shows one of {texts:?}; it shows\n{}",
                self.screen()
            )
        };
        until_told(what, || {
            let screen = self.screen();
            texts.iter().any(|text| screen.contains(text)).then_some(())
        });
    }

    /// Whether its bell was rung since it was opened.
    pub(crate) fn has_rung(&self) -> bool {
        let flag = self.tmux(&["display-message", "-p", "#{window_bell_flag}"]);
        flag.stdout.starts_with(b"1")
    }

    fn tmux(&self, arguments: &[&str]) -> Output {
        Command::new("tmux")
            .args(["-u", "-S", "person.sock"])
            .args(arguments)
            .current_dir(&self.directory)
            .env_clear()
            .envs(self.environment.iter().cloned())
            .stdin(Stdio::null())
            .output()
            .expect("tmux runs")
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        drop(self.tmux(&["kill-server"]));
        drop(std::fs::remove_file(self.directory.join("person.sock")));
    }
}
