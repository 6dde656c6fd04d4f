//! Recorded screens, each judged by the rules of its agent.

use super::Catalog;
use crate::detect::{Draft, Screen};
use crate::model::Activity;

const RULE: &str = "────────────────────────────────────────────────────────────────";

#[test]
fn the_demo_agent_is_read_as_it_draws_itself() {
    let catalog = Catalog::built_in();
    let demo = catalog.require("demo").unwrap();
    let boxed =
        |above: &str| format!("{above}\n{RULE}\n❯\u{a0}\n{RULE}\n  demo · esc to interrupt\n");
    let dialog = format!(
        "● Bash(ls)\n{RULE}\n Bash command\n\n╌╌╌╌╌╌╌╌╌╌╌╌\n ls -l\n╌╌╌╌╌╌╌╌╌╌╌╌\n Do you want to proceed?\n ❯ 1. Yes\n   2. Yes, and don't ask again this session\n   3. No\n\n Esc to cancel · Tab to amend\n"
    );
    for (screen, title, expected) in [
        (boxed("● done"), Some("✳ demo"), Activity::Idle),
        (boxed("● half an answer"), Some("◐ demo"), Activity::Busy),
        (
            boxed("✻ Pondering… (3s · esc to interrupt)"),
            None,
            Activity::Busy,
        ),
        (
            boxed("● It says:\n  ✻ Pondering… (3s · esc to interrupt)"),
            None,
            Activity::Idle,
        ),
        (dialog.clone(), Some("✳ demo"), Activity::Approval),
        (boxed(&dialog), Some("✳ demo"), Activity::Idle),
        ("starting".to_owned(), None, Activity::Unknown),
    ] {
        let verdict = demo.judge(&Screen::new(&screen), title);
        assert_eq!(verdict.activity, expected, "{screen}\n{verdict:?}");
    }
    let asked = demo.judge(&Screen::new(&dialog), None).dialog.unwrap();
    assert_eq!(asked.command.as_deref(), Some("ls -l"));
    assert_eq!(asked.tool.as_deref(), Some("shell"));
    assert_eq!(asked.selected, Some(0));
    assert!(asked.complete, "{asked:?}");
    assert_eq!(demo.draft(&Screen::new(&boxed(""))), Some(Draft::Empty));
}
