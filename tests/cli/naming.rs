//! Titles of any characters, and the ways to name an instance.

use crate::support::{Camp, Instance};

/// Titles that would do harm if they ever became a path, a ref, a tmux format or a shell word.
const NASTY: &[&str] = &[
    "it's \"quoted\" `here`",
    "#(touch pwned) #{pane_id} #[fg=red]",
    "two\nlines\tand a tab",
    "🦀 crab 日本語 e\u{301}",
    "../../etc/passwd",
    "refs/heads/main..@{0}^~:?*[\\",
    "שלום עולם مرحبا",
    "a\u{202e}txt.exe",
    "$(touch pwned); touch pwned; %H",
    ";",
    "=",
    "...",
];

#[test]
fn a_title_can_be_anything_and_never_becomes_more_than_a_title() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let longest = "ü".repeat(200);
    let titles: Vec<&str> = NASTY.iter().copied().chain([longest.as_str()]).collect();
    for title in &titles {
        let made = camp
            .biv(["new", "--json", title, "-a", "shell", "--repo"])
            .arg(&repository.path)
            .args(["--", "cat"])
            .run()
            .ok();
        let instance = Instance::from_json(&made.json());
        assert_eq!(instance.title, *title, "stored to the letter");
        let branch = instance.branch.clone().unwrap();
        assert!(
            branch.bytes().all(|byte| byte.is_ascii_lowercase()
                || byte.is_ascii_digit()
                || b"/-".contains(&byte)),
            "{branch}"
        );
        let shown = camp.biv(["show", "--json", "--", title]).run().ok().json();
        assert_eq!(shown["id"], instance.id.as_str(), "found by its title");
    }
    assert_eq!(camp.list().len(), titles.len());
    let text = camp.biv(["list"]).run().ok().stdout;
    assert_eq!(
        text.lines().count(),
        titles.len() + 1,
        "one line each:\n{text}"
    );
    assert!(!text.contains('\u{202e}'), "nothing invisible is printed");
    let mut found = Vec::new();
    find_named(&camp.root(), "pwned", &mut found);
    assert_eq!(
        found,
        Vec::<std::path::PathBuf>::new(),
        "something was executed"
    );
}

fn find_named(directory: &std::path::Path, name: &str, found: &mut Vec<std::path::PathBuf>) {
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        if entry.file_name() == name {
            found.push(entry.path());
        }
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            find_named(&entry.path(), name, found);
        }
    }
}

#[test]
fn a_title_has_limits_and_belongs_to_one_instance() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let within = |arguments: &[&str]| camp.biv(arguments).within(&repository.path).run();
    let long = "x".repeat(201);
    for title in ["", "   ", long.as_str()] {
        let answer = within(&["new", title, "-a", "demo", "--json"]).fails(2);
        assert_eq!(answer.error()["code"], "usage");
    }
    drop(within(&["new", "twin", "-a", "demo"]).ok());
    let answer = within(&["new", "twin", "-a", "demo"]).fails(1);
    insta::assert_snapshot!(answer.said(), @r"
    error: the title `twin` is taken by another instance
      hint: choose another title, or `biv attach twin`
    ");
    assert_eq!(camp.list().len(), 1);
    assert_eq!(repository.worktrees().len(), 1);
    // Once it is killed, its title is free again; its branch stays, so the next gets another.
    drop(camp.biv(["kill", "-y", "twin"]).run().ok());
    drop(within(&["new", "twin", "-a", "demo"]).ok());
    let branch = camp.list().remove(0).branch.unwrap();
    assert!(branch.starts_with("biv/twin-"), "{branch}");
}

#[test]
fn without_a_title_a_readable_one_is_made() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    // The directory has given its name away already.
    camp.start(&repository, "app", &[]);
    let instance = camp.start(&repository, "", &[]);
    let words: Vec<&str> = instance.title.split('-').collect();
    assert_eq!(words.len(), 2, "{}", instance.title);
    assert_eq!(instance.branch, Some(format!("biv/{}", instance.title)));
}

#[test]
fn without_a_title_it_is_named_after_what_is_known() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let prompt = ["-p", "say: hello\nand more"];
    for (options, title, branch) in [
        (&[][..], "app", "biv/app"),
        (&prompt, "say hello", "biv/say-hello"),
        (&prompt, "say hello-2", "biv/say-hello-2"),
        (
            &["--branch", "feature/dark-mode"],
            "dark-mode",
            "feature/dark-mode",
        ),
    ] {
        let instance = camp.start(&repository, "", options);
        assert_eq!(instance.title, title);
        assert_eq!(instance.branch.as_deref(), Some(branch));
    }
}

#[test]
fn a_unique_prefix_of_title_or_id_is_enough() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let login = camp.start(&repository, "login", &[]);
    let log = camp.start(&repository, "log", &[]);
    let found = |given: &str| {
        let shown = camp.biv(["show", "--json", given]).run().ok().json();
        shown["id"].as_str().unwrap().to_owned()
    };
    assert_eq!(found("logi"), login.id);
    // A whole title wins over a prefix.
    assert_eq!(found("log"), log.id);
    assert_eq!(found(&login.id), login.id);
    let shared = login
        .id
        .bytes()
        .zip(log.id.bytes())
        .take_while(|(a, b)| a == b)
        .count();
    assert_eq!(found(&login.id[..=shared]), login.id);

    let answer = camp.biv(["show", "lo"]).run().fails(3);
    let mut candidates = [&login, &log].map(|i| format!("{} ({})", i.title, i.id));
    candidates.sort_by_key(|candidate| candidate.split('(').nth(1).map(str::to_owned));
    assert_eq!(
        answer.stderr,
        format!(
            "error: `lo` could be several instances\n  hint: say which: {}\n",
            candidates.join(", ")
        )
    );
    let json = camp.biv(["show", "lo", "--json"]).run().fails(3).error();
    assert_eq!(json["code"], "ambiguous");
    assert_eq!(json["details"]["candidates"].as_array().unwrap().len(), 2);
    drop(camp.biv(["show", ""]).run().fails(3));
}
