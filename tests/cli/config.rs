//! Settings: where they are, what they are, and what is said about a mistake.

use crate::support::Camp;

#[test]
fn a_configuration_is_written_once_and_read_back() {
    let camp = Camp::new();
    let path = camp.biv(["config", "path"]).run().ok();
    assert_eq!(path.printed(), "[HOME]/config/config.toml\n");
    let wrote = camp.biv(["config", "init"]).run().ok();
    assert_eq!(wrote.printed(), "Wrote [HOME]/config/config.toml\n");
    let again = camp.biv(["config", "init"]).run().fails(1);
    insta::assert_snapshot!(again.said(), @r"
    error: [HOME]/config/config.toml exists already
      hint: edit that one; `biv config show` prints all keys
    ");
    let file = camp.home().join("config/config.toml");
    std::fs::write(&file, "[new]\nagent = \"demo\"\n").unwrap();
    let shown = camp.biv(["config", "show"]).run().ok().stdout;
    assert!(shown.contains("agent = \"demo\"  # yours"), "{shown}");
    assert!(shown.contains("base = \"HEAD\"\n"), "{shown}");
}

#[test]
fn a_mistake_is_named_with_file_and_key() {
    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let camp = Camp::new();
        let file = camp.home().join("config/config.toml");
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, text).unwrap();
        let answer = camp.biv(["list"]).run().fails(1);
        for part in expected.iter().chain(&["config.toml", "hint: "]) {
            assert!(
                answer.stderr.contains(part),
                "{part:?} in {}",
                answer.stderr
            );
        }
        // Who has made a mistake can still look up what there is.
        let shown = camp.biv(["config", "show"]).run().fails(1);
        assert!(
            shown.stdout.contains("\nbranch_prefix = "),
            "{}",
            shown.stdout
        );
        assert_eq!(shown.stderr, answer.stderr);
        // Whatever is wrong with it, the doctor still comes.
        let doctor = camp.biv(["doctor"]).run().fails(1);
        assert!(doctor.stdout.contains("configuration"), "{}", doctor.stdout);
    }
    check(
        "[new]\nagnet = \"demo\"\n",
        &["agnet", "did you mean", "agent"],
    );
    check("[pause]\nwait = \"soon\"\n", &["pause.wait", "soon"]);
    check("[terminal]\ncolumns = \"wide\"\n", &["terminal.columns"]);
    check("[new\n", &["config.toml"]);
}

#[test]
fn without_biv_home_the_xdg_directories_are_used() {
    let camp = Camp::new();
    let user = camp.root().join("user");
    let path = camp
        .biv(["config", "path"])
        .without_env("BIV_HOME")
        .run()
        .ok();
    assert_eq!(
        path.stdout.trim_end(),
        user.join(".config/bivouac/config.toml").to_str().unwrap()
    );
    let nowhere = camp
        .biv(["config", "path"])
        .without_env("BIV_HOME")
        .without_env("XDG_CONFIG_HOME")
        .without_env("XDG_STATE_HOME")
        .without_env("XDG_DATA_HOME")
        .run()
        .ok();
    assert!(
        nowhere.stdout.contains("/.config/bivouac/"),
        "{}",
        nowhere.stdout
    );
}
