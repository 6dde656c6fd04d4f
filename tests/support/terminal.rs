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
        Self::opened(camp, name, line, (120, 40))
    }

    /// The same in a terminal of so many columns and rows.
    pub(crate) fn sized(camp: &Camp, line: &str, size: (u16, u16)) -> Self {
        Self::opened(camp, "terminal", line, size)
    }

    /// Each has a server of its own.
    fn opened(camp: &Camp, name: &str, line: &str, (columns, rows): (u16, u16)) -> Self {
        let mut directory = camp.root().join(name);
        let mut number = 1;
        while directory.join("person.sock").exists() {
            number += 1;
            directory = camp.root().join(format!("{name}{number}"));
        }
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
            &columns.to_string(),
            "-y",
            &rows.to_string(),
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

    /// What programs switch on in a terminal and must switch off again.
    pub(crate) fn modes(&self) -> String {
        let format = "alternate #{alternate_on}, mouse #{mouse_any_flag}, cursor #{cursor_flag}";
        let output = self.tmux(&["display-message", "-p", format]);
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    /// Lets programs write its clipboard, as terminals do.
    pub(crate) fn accept_clipboard(&self) {
        let output = self.tmux(&["set-option", "-s", "set-clipboard", "on"]);
        assert!(output.status.success(), "{output:?}");
    }

    /// What was written to its clipboard last.
    pub(crate) fn clipboard(&self) -> String {
        String::from_utf8_lossy(&self.tmux(&["show-buffer"]).stdout).into_owned()
    }

    /// Makes the terminal another size under the program that runs in it.
    pub(crate) fn resize(&self, columns: u16, rows: u16) {
        let (columns, rows) = (columns.to_string(), rows.to_string());
        let output = self.tmux(&["resize-window", "-x", &columns, "-y", &rows]);
        assert!(output.status.success(), "{output:?}");
    }

    /// The pid of the program under test that runs in it.
    pub(crate) fn program(&self) -> i32 {
        let output = self.tmux(&["display-message", "-p", "#{pane_tty}"]);
        let tty = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        let listed = Command::new("ps")
            .args(["-o", "pid=,comm=", "-t", tty.trim_start_matches("/dev/")])
            .output()
            .expect("ps runs");
        String::from_utf8_lossy(&listed.stdout)
            .lines()
            .filter_map(|line| {
                let mut words = line.split_whitespace();
                let pid = words.next()?.parse().ok()?;
                (words.next()? == "biv").then_some(pid)
            })
            .min()
            .expect("biv has the terminal")
    }

    #[track_caller]
    pub(crate) fn wait_until_gone(&self, text: &str) {
        let what = || {
            format!(
                "the terminal shows no {text:?}; it shows\n{}",
                self.screen()
            )
        };
        until_told(what, || (!self.screen().contains(text)).then_some(()));
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
