//! Parses commands twice: strictly, for accepting, and by the whole shell grammar, for rejecting. A text
//! that the two parse differently is never accepted.

mod grammar;
mod plain;
mod simple;
mod word;

pub(crate) use grammar::{Part, Parts};
pub(crate) use simple::{Joined, Plain, PlainRedirect, Simple};

/// A text of shell commands.
#[derive(Debug)]
pub(crate) struct ShellReading {
    /// Every command in it, at any depth.
    pub parts: Parts,
    /// The commands, where both parsers agree; else why not.
    pub plain: Result<Plain, String>,
}

pub(crate) fn read(text: &str) -> ShellReading {
    let parts = grammar::read(text);
    let plain = plain::read(text).map_err(str::to_owned).and_then(|plain| {
        if let Some(obstacle) = &parts.obstacle {
            return Err(obstacle.clone());
        }
        let strict = plain.commands.iter().map(|command| {
            command
                .words
                .iter()
                .map(|word| word.text.as_str())
                .collect::<Vec<_>>()
        });
        let whole = parts.all.iter().map(Part::texts);
        let directed = plain.commands.iter().flat_map(|command| {
            let redirects = command.redirects.iter();
            redirects.map(|redirect| (redirect.writes, redirect.target.as_str()))
        });
        let all_directed = parts.redirects.iter();
        let all_directed =
            all_directed.map(|redirect| (redirect.writes, redirect.target.text.as_str()));
        if strict.eq(whole) && directed.eq(all_directed) {
            Ok(plain)
        } else {
            Err("it can be read in two ways".to_owned())
        }
    });
    ShellReading { parts, plain }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_agents_run_every_day_is_read_alike_by_both() {
        for text in [
            "cargo test",
            "cargo test --workspace 2>&1 | tail -40",
            "git add -A && git commit -m 'fix: a, b & c'",
            "git commit -m \"$(cat <<'EOF'\nfix: x\n\nIt's done.\nEOF\n)\"",
            "cd sub && npm test",
            "RUST_BACKTRACE=1 cargo test -- --nocapture",
            "grep -rn \"foo\\|bar\" src | head",
            "ls -la; pwd",
            "# look\nls",
            "find . -name '*.rs' -not -path './target/*'",
            "git log --oneline -5 --format='%h %s'",
            "echo \"it's\"",
            "rg 'a|b' src/",
            "npm run build && npm test",
            "git show HEAD~1:src/main.rs",
            "cargo test a::b",
            "ls *.rs src/*.toml",
            "sed -n '1,20p' src/main.rs",
            "(cd a && cargo test) | tail -3",
            "cd a && make; cd ..",
            "{ a; b; } > x",
            "[ -f x ] && echo y || echo z",
            "[[ -f go.mod ]] && echo go",
            "cargo test > out.log 2>&1; tail -20 out.log",
            "tr 'a-z' 'A-Z' < names.txt",
            "make -j$(nproc)",
            "cargo test; echo \"exit $?\"",
            "cat > src/new.rs <<'MSG'\npub fn new() {}\nMSG",
            "cat <<'MSG' > config.toml\nname = \"app\"\nMSG",
            "cat >> README.md <<'MSG'\n## $(id) `x`\nMSG\nls",
        ] {
            let reading = read(text);
            assert!(
                reading.plain.is_ok(),
                "{text}: {:?}\n{:?}",
                reading.plain,
                reading.parts
            );
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_a_reader_stumble(text in "[ -~\n\u{e9}\u{200b}]{0,80}") {
            drop(read(&text));
        }

        #[test]
        fn shell_like_texts_are_read_alike_or_not_accepted(
            text in "((rm|ls|a|-r|'x y'|\"z\"|\\$x|`|\\$\\(|\\)|<<E|\n|;|&&|\\||>|&|\\\\|\\{|\\}) ?){0,14}"
        ) {
            if let Ok(plain) = read(&text).plain {
                prop_assert!(!text.contains('$') && !text.contains('`'));
                prop_assert!(!plain.commands.is_empty());
            }
        }
    }
}
