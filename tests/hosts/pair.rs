//! Two camps: the user's, and one that plays another machine.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use crate::support::{Call, Camp};

/// How words get to the other side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Words {
    /// As they are, as `docker exec` passes them on.
    Exact,
    /// Joined and read again by a shell, as ssh does it.
    Joined,
}

/// The field order is the order in which they end: the user's camp may still be connected.
pub(crate) struct Pair {
    pub(crate) here: Camp,
    pub(crate) there: Camp,
}

impl Pair {
    /// The other machine is the host `far`.
    pub(crate) fn new(words: Words) -> Self {
        let pair = Self::strangers();
        pair.add("far", words, "");
        pair
    }

    /// No host is known yet.
    pub(crate) fn strangers() -> Self {
        Self::strange_to(Camp::new())
    }

    /// The same for another machine that is made already.
    pub(crate) fn strange_to(there: Camp) -> Self {
        let pair = Self {
            here: Camp::new(),
            there,
        };
        let bin = pair.there.root().join("bin");
        std::fs::create_dir_all(&bin).unwrap();
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_biv"), bin.join("biv")).unwrap();
        pair
    }

    /// The environment of the other machine as arguments of `env`, with biv on its PATH.
    pub(crate) fn environment_there(&self) -> Vec<String> {
        let bin = self.there.root().join("bin");
        let path = std::env::var("PATH").unwrap_or_default();
        self.there
            .environment()
            .into_iter()
            .map(|(name, value)| match name.as_str() {
                "PATH" => format!("PATH={}:{path}", bin.display()),
                _ => format!("{name}={value}"),
            })
            .collect()
    }

    /// A script that carries out its words on the other machine, after some lines of its own.
    pub(crate) fn script(&self, name: &str, words: Words, first: &str) -> PathBuf {
        self.script_with(name, words, first, &[])
    }

    /// The same with more variables in the environment there.
    fn script_with(&self, name: &str, words: Words, first: &str, more: &[&str]) -> PathBuf {
        let variables: Vec<String> = self
            .environment_there()
            .into_iter()
            .chain(more.iter().map(|variable| (*variable).to_owned()))
            .map(|variable| format!("'{variable}'"))
            .collect();
        let run = match words {
            Words::Exact => "\"$@\"",
            Words::Joined => "sh -c \"$*\"",
        };
        let home = self.there.root().join("user");
        let text = format!(
            "#!/bin/sh\n{first}\ncd '{}'\nexec env -i {} {run}\n",
            home.display(),
            variables.join(" ")
        );
        self.executable(name, &text)
    }

    pub(crate) fn executable(&self, name: &str, text: &str) -> PathBuf {
        let path = self.here.root().join(name);
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    /// Adds the other machine under a name.
    pub(crate) fn add(&self, name: &str, words: Words, first: &str) {
        let script = self.script(&format!("to-{name}"), words, first);
        let script = script.display().to_string();
        let mut call = self.here.biv(["host", "add", name, "--connect", &script]);
        call = call.args(["--connect-tty", &script]);
        if words == Words::Joined {
            call = call.arg("--shell");
        }
        drop(call.run().ok());
    }

    /// The link to `far` as it was made.
    pub(crate) fn mend(&self) {
        drop(self.script_with("to-far", Words::Exact, "", &[]));
    }

    /// The link to `far` with these lines of a shell before it.
    pub(crate) fn change_link(&self, first: &str) {
        drop(self.script_with("to-far", Words::Exact, first, &[]));
    }

    /// From now on nothing gets through.
    pub(crate) fn cut(&self) {
        drop(self.script_with("to-far", Words::Exact, "exit 255", &[]));
    }

    /// What runs there from now on crashes at this place.
    pub(crate) fn crash_there(&self, place: &str) {
        let variable = format!("BIV_CRASH_AT={place}");
        drop(self.script_with("to-far", Words::Exact, "", &[&variable]));
    }

    /// The link is cut at a request, counted from one: before it gets there, or so that its answer is lost.
    /// Nothing gets through from then on.
    pub(crate) fn cut_at(&self, request: usize, answer_lost: bool) {
        let counter = self.here.root().join("requests");
        drop(std::fs::remove_file(&counter));
        let lost = if answer_lost { "-gt" } else { "-ge" };
        let first = format!(
            "echo >> '{0}'\nn=$(wc -l < '{0}')\n[ $n {lost} {request} ] && exit 255\n\
             [ $n = {request} ] && exec > /dev/null 2>&1",
            counter.display()
        );
        drop(self.script_with("to-far", Words::Exact, &first, &[]));
    }

    /// How many requests there were since `cut_at`.
    pub(crate) fn requests(&self) -> usize {
        let counter = self.here.root().join("requests");
        std::fs::read_to_string(counter).map_or(0, |text| text.lines().count())
    }

    /// Adds a host that is nothing but this script.
    pub(crate) fn add_script(&self, name: &str, text: &str) {
        let script = self.executable(&format!("to-{name}"), &format!("#!/bin/sh\n{text}\n"));
        let script = script.display().to_string();
        drop(
            self.here
                .biv(["host", "add", name, "--connect", &script])
                .run()
                .ok(),
        );
    }

    pub(crate) fn biv<'a>(&'a self, words: &[&str]) -> Call<'a> {
        self.here.biv(words)
    }

    /// How many instances there are here.
    pub(crate) fn count_here(&self) -> usize {
        let listing = self.biv(&["list", "--json", "--local"]).run().ok().json();
        listing["instances"].as_array().unwrap().len()
    }

    pub(crate) fn configure(&self, text: &str) {
        let directory = self.here.home().join("config");
        std::fs::create_dir_all(&directory).unwrap();
        std::fs::write(directory.join("config.toml"), text).unwrap();
    }
}
