use super::*;

fn words(text: &str) -> Result<Vec<Vec<String>>, &'static str> {
    read(text).map(|plain| {
        plain
            .commands
            .into_iter()
            .map(|command| command.words.into_iter().map(|word| word.text).collect())
            .collect()
    })
}

fn check(text: &str, expected: &[&[&str]]) {
    let found = words(text).unwrap_or_else(|reason| panic!("{text}: {reason}"));
    assert_eq!(found, expected, "{text}");
}

#[test]
fn plain_commands_are_taken_apart() {
    check("cargo test", &[&["cargo", "test"]]);
    check(
        "a && b || c; d | e\nf",
        &[&["a"], &["b"], &["c"], &["d"], &["e"], &["f"]],
    );
    check(
        "git commit -m 'a && b' -m \"c; \\\"d\\\"\"",
        &[&["git", "commit", "-m", "a && b", "-m", "c; \"d\""]],
    );
    check(
        "cargo test 2>&1 | tail -20",
        &[&["cargo", "test"], &["tail", "-20"]],
    );
    check(
        "# first\ncargo \\\n  build >/dev/null",
        &[&["cargo", "build"]],
    );
    check("a &&\n b", &[&["a"], &["b"]]);
    check("git show HEAD@{1}", &[&["git", "show", "HEAD@{1}"]]);
    check(
        "git commit -m \"$(cat <<'EOF'\nfix: it's $x\n\nEOFISH\nEOF\n)\" && ls",
        &[
            &["git", "commit", "-m", "fix: it's $x\n\nEOFISH\n"],
            &["ls"],
        ],
    );
    check("grep \"foo$\" a", &[&["grep", "foo$", "a"]]);
}

#[test]
fn what_could_mean_more_is_not_plain() {
    for text in [
        "",
        "ls $HOME",
        "ls `pwd`",
        "echo \"$(id)\"",
        "ls > $x",
        "ls > *",
        "ls >",
        "ls > > x",
        "ls >& x",
        "ls >| x",
        "ls <<E",
        "cat <(ls)",
        "ls &",
        "(ls",
        "ls)",
        "(ls) x",
        "()",
        "{ls; }",
        "{ ls }",
        "((1))",
        "(ls &&)",
        "echo $?$x",
        "{rm,-rf,x}",
        "r\\m x",
        "'rm' x",
        "rm\u{200b} x",
        "echo 'a",
        "echo \"a",
        "ls |& cat",
        "&& ls",
        "ls &&",
        "ls |",
        "ls | | cat",
        "X=1",
        "X=1; ls",
        "ls;; ls",
        "a\tb",
        "echo 'x\u{202e}y'",
        "ls \u{a0}x",
        "рm -rf x",
        "! ls",
        "$'\\x72m' x",
        "*/x y",
        "echo \"$(cat <<'EOF'\nx\nEOF\n) $(id)\"",
        "echo \"$(cat <<'EOF'\nx\nEOF\nid)\"",
        "echo \"$(cat <<EOF\n$(id)\nEOF\n)\"",
    ] {
        assert!(words(text).is_err(), "{text:?} {:?}", words(text));
    }
    // These quotes are nested in an unexpected way, but it is one word, as in the shell.
    check(
        "echo '\"$(cat <<'EOF'\nrm -rf x\nEOF\n)\"'",
        &[&["echo", "\"$(cat <<EOF\nrm -rf x\nEOF\n)\""]],
    );
}

#[test]
fn groups_and_redirections_are_kept() {
    check(
        "(cd a && b); { c; d; } | e > f",
        &[&["cd", "a"], &["b"], &["c"], &["d"], &["e"]],
    );
    check(
        "[ -f x ] && [[ -d y ]]",
        &[&["[", "-f", "x", "]"], &["[[", "-d", "y", "]]"]],
    );
    check(
        "make -j$(nproc); echo \"$?\"",
        &[&["make", "-j1"], &["echo", "0"]],
    );
    let plain = read("(a; (b)) > x; c < y 2>&1").unwrap();
    let [a, b, c] = &plain.commands[..] else {
        panic!("{plain:?}");
    };
    assert_eq!((a.opens.len(), b.opens.len(), b.closes), (1, 1, 2));
    let targets = |command: &Simple| {
        let targets = command.redirects.iter();
        targets
            .map(|r| (r.writes, r.target.clone()))
            .collect::<Vec<_>>()
    };
    assert_eq!(targets(b), [(true, "x".to_owned())]);
    assert_eq!(
        targets(c),
        [(false, "y".to_owned()), (true, "1".to_owned())]
    );
    let joined: Vec<Joined> = read("a && b || c; d | e")
        .unwrap()
        .commands
        .iter()
        .map(|command| command.joined)
        .collect();
    use Joined::{Always, And, Or, Pipe};
    assert_eq!(joined, [Always, And, Or, Always, Pipe]);
}

#[test]
fn variables_before_a_program_are_set_apart() {
    let plain = read("RUST_LOG=debug cargo test A=b").unwrap();
    assert_eq!(
        plain.commands[0].assignments,
        [("RUST_LOG".to_owned(), "debug".to_owned())]
    );
    assert_eq!(plain.commands[0].words.len(), 3);
}
