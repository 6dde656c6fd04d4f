//! Commands that are put together from dangerous parts, and harmless clothes for hostile ones.
//!
//! The tests outside of a seal and those inside (`tests/seal`) share it, so that it uses nothing of this crate.

/// The parts of commands. `{o}` is a directory outside, `{p}` the port.
const PROGRAMS: [&str; 49] = [
    "cat",
    "ls",
    "head -n 3",
    "tail -n 3",
    "wc -l",
    "grep -n foo",
    "grep -rn foo",
    "grep -r",
    "rg foo",
    "sed -n 1p",
    "sed -i s/a/b/",
    "sed",
    "awk '{print $1}'",
    "awk",
    "sort",
    "sort -u",
    "uniq",
    "cut -c1-",
    "diff README.md",
    "diff -r",
    "find",
    "find src",
    "git log",
    "git diff",
    "git show",
    "git status",
    "git blame",
    "git grep foo",
    "git add",
    "git -C",
    "cp README.md",
    "cp -r",
    "mv a.txt",
    "tee",
    "touch",
    "mkdir -p",
    "echo",
    "printf",
    "jq .",
    "cd",
    "test -f",
    "xargs cat",
    "git mv README.md",
    "chmod +x",
    "find -type f",
    "find --",
    "rg -l foo",
    "git ls-files",
    "xargs -0 tail",
];

const WORDS: [&str; 67] = [
    "src",
    "README.md",
    "src/main.rs",
    "docs",
    ".",
    "..",
    "*",
    "src/*",
    "keys/*",
    "dash/*",
    ".env",
    "keys/server.key",
    "keys",
    "up",
    "up/..",
    "up/../secret.txt",
    "../outside/secret.txt",
    "{o}/secret.txt",
    "{o}/new",
    "~/.ssh/id_rsa",
    "~",
    "$HOME",
    "vendor/nested",
    "vendor/bare.git",
    ".git/config",
    ".git/hooks/pre-commit",
    "-r",
    "-rf",
    "-R",
    "-o",
    "--output={o}/new",
    "--output",
    "-S",
    "-f",
    "--pretty",
    "--",
    "-n",
    "-e",
    "--no-index",
    "--exec=touch {o}/new",
    "-exec",
    "-delete",
    "{}",
    "+",
    "a.txt",
    "b.txt",
    "new.txt",
    "'w {o}/new'",
    "'1e touch {o}/new'",
    "'s/a/b/e'",
    "'BEGIN{system(\"touch {o}/new\")}'",
    "'{print > \"{o}/new\"}'",
    "'%n'",
    "PATH",
    "'$ENV'",
    "env",
    "$(touch {o}/new)",
    "`cat .env`",
    "<(cat .env)",
    "build",
    "HEAD",
    "--files0-from=.env",
    "-type f",
    "-perm 644",
    "-newer README.md",
    "-printf .env",
    "-z",
];

/// Words that most commands are accepted with, so that enough of them run.
const HARMLESS: [&str; 10] = [
    "src",
    "README.md",
    "src/main.rs",
    "docs",
    "a.txt",
    "b.txt",
    "new.txt",
    "src/*",
    "-n",
    ".",
];

const JOINS: [&str; 9] = [
    " && ", "; ", " | ", " || ", " > ", " >> ", " < ", " & ", " 2>&1 | ",
];

const BEFORE: [&str; 14] = [
    "",
    "",
    "",
    "",
    "cd src && ",
    "cd .. && ",
    "cd up && ",
    "cd vendor/nested && ",
    "(cd src; ",
    "CI=1 ",
    "PAGER='touch {o}/new' ",
    "GIT_EXTERNAL_DIFF={o}/run ",
    "time ",
    "cd docs && cd ..; ",
];

/// A small generator of numbers, so that a run can be repeated.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn below(&mut self, count: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % count
    }

    fn pick<'t>(&mut self, from: &[&'t str]) -> &'t str {
        from[self.below(from.len())]
    }

    /// A command in which `outside` is a directory that it must not reach.
    pub(crate) fn command(&mut self, outside: &str, port: u16) -> String {
        let mut text = self.pick(&BEFORE).to_owned();
        let open = text.starts_with('(');
        for part in 0..3 {
            text.push_str(self.pick(&PROGRAMS));
            let words: usize = self.pick(&["0", "1", "1", "2", "3"]).parse().unwrap();
            for _ in 0..words {
                text.push(' ');
                let dangerous = self.pick(&["no", "no", "yes"]) == "yes";
                text.push_str(self.pick(if dangerous { &WORDS[..] } else { &HARMLESS[..] }));
            }
            if part == 2 || self.pick(&["end", "end", "more"]) == "end" {
                break;
            }
            text.push_str(self.pick(&JOINS));
        }
        if open {
            text.push(')');
        }
        if self.pick(&["no", "no", "no", "no", "yes"]) == "yes" {
            text.push_str(self.pick(&[
                " > {o}/new",
                " > new.txt",
                " > /dev/tcp/127.0.0.1/{p}",
                " | tee {o}/new",
                " | sh",
            ]));
        }
        text.replace("{o}", outside)
            .replace("{p}", &port.to_string())
    }
}

/// What stands before a command and changes nothing about it.
pub(crate) const AHEAD: [&str; 14] = [
    "",
    "ls && ",
    "true; ",
    "cd src && cd .. && ",
    "cd docs; cd ..; ",
    "git status && ",
    "[ -f README.md ] && ",
    "(ls) && ",
    "echo start; ",
    "CI=1 ",
    "time ",
    "timeout 60 ",
    "env CI=1 ",
    "nice time ",
];

/// What stands behind it.
pub(crate) const BEHIND: [&str; 8] = [
    "",
    " 2>&1",
    " | head -5",
    " || true",
    "; echo \"exit $?\"",
    " > out.txt",
    " 2>/dev/null",
    " && ls",
];

/// The command as it is, in a subshell, or in a group.
pub(crate) fn grouped(command: &str, kind: usize) -> String {
    match kind {
        1 => format!("({command})"),
        2 => format!("{{ {command}; }}"),
        _ => command.to_owned(),
    }
}
