//! Snapshots of screens.

use super::driver::*;
use super::journeys::of;
use crate::engine::{RunHistory, Speaker};
use crate::model::{Activity, QueueCounts, RunState, State as InstanceState};
use crate::tui::message::Page;
use crate::tui::theme::Theme;

const SCREEN: &str = "\x1b[1m⛺ Claude Code\x1b[0m\n\n❯ fix the login\n\n\x1b[36m●\x1b[0m I look at src/login.rs first, because the session is checked there and nowhere else, as far as I can see.\n\n────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────\n❯\n────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────\n  ? for shortcuts\n\n\n";

const PATCH: &str = "diff --git a/src/login.rs b/src/login.rs
index 1..2 100644
--- a/src/login.rs
+++ b/src/login.rs
@@ -1,3 +1,4 @@ fn login()
 let user = read();
-check(user);
+check(&user)?;
+log(&user);
 done();
diff --git a/notes.txt b/notes.txt
new file mode 100644
--- /dev/null
+++ b/notes.txt
@@ -0,0 +1 @@
+Remember the milk
";

fn camp_at(columns: u16, rows: u16) -> Driver {
    let mut driver = Driver::with(columns, rows, camp());
    // The first that needs nothing.
    driver.press("j");
    driver.shows(&id('b'), SCREEN);
    driver
}

#[test]
fn list_and_preview() {
    insta::assert_snapshot!(camp_at(110, 26).screen());
}

/// Its queue waits for that, so it is not what the row tells.
#[test]
fn a_blocked_one_says_what_is_open() {
    let mut view = doing(
        instance('z', "fix the login", InstanceState::Running),
        Activity::Blocked,
    );
    view.says = Some("Codex asks whether to trust this folder; Enter would take it".to_owned());
    view.queue = Some(QueueCounts {
        waiting: 1,
        ..QueueCounts::default()
    });
    let mut driver = Driver::with(160, 24, vec![view]);
    let screen = driver.screen();
    let matter = "Codex asks whether to trust this folder";
    assert!(screen.contains(matter), "{screen}");
    assert!(!screen.contains("Enter would take it"), "{screen}");
    driver.press("a");
    let screen = driver.screen();
    let told = format!("{matter}: attach to answer.");
    assert!(screen.contains(&told), "{screen}");
}

/// It stands at its prompt like one that is done, and what it said last is of a turn before.
#[test]
fn one_whose_turn_failed_says_why() {
    let mut view = doing(
        instance('z', "login", InstanceState::Running),
        Activity::Idle,
    );
    view.turn_failed = Some("unexpected status 529".to_owned());
    view.turn_cut_at = Some(at(1));
    let mut driver = Driver::with(120, 35, vec![view]);
    driver
        .state
        .words
        .insert(of('z'), "All is done.".to_owned());
    let screen = driver.screen();
    assert!(screen.contains("its turn failed: unexpected"), "{screen}");
}

/// The first row says until when; where the title would have no room, the row below does.
#[test]
fn a_blocked_one_says_until_when() {
    let row_of = |columns, until: i64, others: usize| {
        let mut view = doing(
            instance('z', "fix the login", InstanceState::Running),
            Activity::Blocked,
        );
        view.blocked_until = Some(at(until));
        let mut camp = vec![view];
        for letter in "bcdfghjkmnpqrstv".chars().take(others) {
            camp.push(instance(letter, "another", InstanceState::Running));
        }
        let screen = Driver::with(columns, 24, camp).screen();
        // Without the header of the page, which has the title too.
        let lines = screen.lines().skip(2);
        let rows: Vec<&str> = lines
            .skip_while(|line| !line.contains("fix the"))
            .take(2)
            .collect();
        let list = |row: &str| {
            row.split('│')
                .next()
                .unwrap_or_default()
                .trim_end()
                .to_owned()
        };
        (list(rows[0]), list(rows[1]))
    };
    // The time of the driver is a minute earlier.
    let soon = at(61).local_clock(at(60));
    let (first, _) = row_of(120, 61, 0);
    assert!(first.contains("fix the l"), "{first}");
    assert!(first.ends_with(&format!("blocked until {soon}")), "{first}");
    let (first, second) = row_of(80, 61, 0);
    assert!(
        first.contains("fix the login") && first.ends_with("blocked"),
        "{first}"
    );
    assert!(second.ends_with(&format!("until {soon}")), "{second}");
    // One row for each instance.
    let (first, _) = row_of(80, 61, 15);
    assert!(first.contains("fix the login"), "{first}");
    assert!(first.ends_with(&format!(" until {soon}")), "{first}");
    let days = 3 * 24 * 60;
    let (first, second) = row_of(120, days, 0);
    assert!(
        first.contains("fix the login") && first.ends_with("blocked"),
        "{first}"
    );
    assert!(second.contains("until YYYY-MM-DD hh:mm"), "{second}");
    let (first, _) = row_of(80, days, 15);
    assert!(
        first.contains("fix the login") && first.ends_with("blocked"),
        "{first}"
    );
}

#[test]
fn small() {
    insta::assert_snapshot!(camp_at(40, 10).screen());
}

#[test]
fn narrow_and_high() {
    insta::assert_snapshot!(camp_at(60, 24).screen());
}

#[test]
fn low_and_wide() {
    insta::assert_snapshot!(camp_at(160, 9).screen());
}

#[test]
fn huge() {
    let screen = camp_at(300, 100).screen();
    assert_eq!(screen.lines().count(), 100);
    insta::assert_snapshot!(screen.lines().take(14).collect::<Vec<_>>().join("\n"));
}

#[test]
fn before_the_first_look() {
    insta::assert_snapshot!(Driver::new(90, 12).screen());
}

#[test]
fn no_instances() {
    insta::assert_snapshot!(Driver::with(100, 22, Vec::new()).screen());
}

#[test]
fn no_agents() {
    let mut driver = Driver::with(100, 22, Vec::new());
    driver.surveyed(Ok("/home/ada/app".into()), &["demo"]);
    insta::assert_snapshot!(driver.screen());
}

#[test]
fn no_repository() {
    let mut driver = Driver::with(100, 22, Vec::new());
    driver.surveyed(Err("not inside a git repository".to_owned()), &["claude"]);
    driver.press("n");
    insta::assert_snapshot!(driver.screen());
}

#[test]
fn paused_card() {
    let mut driver = camp_at(110, 26);
    driver.press("j j j");
    driver.shows(&id('f'), SCREEN);
    insta::assert_snapshot!(driver.screen());
}

#[test]
fn paused_card_on_a_small_screen() {
    let mut driver = camp_at(40, 12);
    driver.press("j j j");
    insta::assert_snapshot!(driver.screen());
}

#[test]
fn an_agent_that_has_ended() {
    let mut driver = camp_at(110, 16);
    driver.press("j j j j");
    driver.shows(&id('g'), "thread 'main' panicked");
    insta::assert_snapshot!(driver.screen());
}

#[test]
fn pausing_step_by_step() {
    let mut driver = camp_at(110, 16);
    driver.press("c");
    let (job, _) = driver.tasks().remove(0);
    driver.progress(job, "saving the work");
    insta::assert_snapshot!(driver.screen());
}

#[test]
fn pausing_all_of_them() {
    let mut driver = camp_at(110, 16);
    driver.press("P y");
    let (job, _) = driver.tasks().remove(0);
    driver.progress(job, "2 of 3");
    let screen = driver.screen();
    assert!(screen.contains("pausing all: 2 of 3"), "{screen}");
}

#[test]
fn creating() {
    let mut driver = camp_at(110, 18);
    driver.press("n").write("new one").press("enter");
    let (job, _) = driver.tasks().remove(0);
    driver.progress(job, "making the worktree");
    insta::assert_snapshot!(driver.screen());
}

#[test]
fn diff() {
    let mut driver = camp_at(110, 22);
    driver.press("tab");
    driver.read(&id('b'), patch_page(PATCH));
    insta::assert_snapshot!(driver.screen());
}

#[test]
fn diff_without_changes() {
    let mut driver = camp_at(100, 12);
    driver.press("tab");
    driver.read(&id('b'), patch_page(""));
    insta::assert_snapshot!(driver.screen());
}

#[test]
fn conversation() {
    let mut driver = camp_at(110, 22);
    driver.press("tab tab");
    let output = "line\n".repeat(20);
    driver.read(
        &id('b'),
        Page::Conversation(vec![
            entry(1, Speaker::User, "fix the login"),
            entry(2, Speaker::Assistant, "I look at it.\n\nThe session is checked in one place only, and that place does not look at the time, so an old session stays good."),
            entry(3, Speaker::Tool, &output).with("tool", "Bash").with("subject", "cargo test"),
            entry(4, Speaker::Assistant, "Done."),
        ]),
    );
    insta::assert_snapshot!(driver.screen());
}

#[test]
fn runs() {
    let mut driver = camp_at(110, 22);
    driver.press("tab tab tab");
    driver.read(
        &id('b'),
        Page::Runs(RunHistory {
            runs: vec![run('x', RunState::Superseded), run('b', RunState::Running)],
            unreadable: Vec::new(),
        }),
    );
    insta::assert_snapshot!(driver.screen());
}

#[test]
fn help() {
    let mut driver = camp_at(110, 32);
    driver.press("?");
    insta::assert_snapshot!(driver.screen());
}

#[test]
fn help_on_a_small_screen() {
    let mut driver = camp_at(40, 10);
    driver.press("? j j");
    insta::assert_snapshot!(driver.screen());
}

#[test]
fn new_form() {
    let mut driver = camp_at(110, 20);
    driver.press("n").write("日本語 title");
    insta::assert_snapshot!(driver.screen());
}

#[test]
fn new_form_with_prompt() {
    let mut driver = camp_at(110, 24);
    driver
        .press("N")
        .write("Fix it")
        .press("alt+enter")
        .write("then test it");
    insta::assert_snapshot!(driver.screen());
}

#[test]
fn new_form_on_a_small_screen() {
    let mut driver = camp_at(40, 10);
    driver.press("N tab tab");
    insta::assert_snapshot!(driver.screen());
}

#[test]
fn send_form() {
    let mut driver = camp_at(110, 20);
    driver.press("s");
    driver.paste("several\nlines\nof a prompt");
    insta::assert_snapshot!(driver.screen());
}

#[test]
fn kill_question() {
    let mut driver = camp_at(110, 20);
    driver.press("D b");
    insta::assert_snapshot!(driver.screen());
}

#[test]
fn kill_question_on_a_small_screen() {
    let mut driver = camp_at(40, 8);
    driver.press("D");
    insta::assert_snapshot!(driver.screen());
}

#[test]
fn filter_and_marks() {
    let mut driver = camp_at(110, 20);
    driver.press("space / i");
    insta::assert_snapshot!(driver.screen());
}

#[test]
fn error_toast() {
    let mut driver = camp_at(110, 20);
    driver.press("r");
    let (job, _) = driver.tasks().remove(0);
    let error = crate::engine::Error::AgentMissing {
        agent: "Claude Code".to_owned(),
        program: "claude".to_owned(),
    };
    driver.done(job, Err(error.into()));
    insta::assert_snapshot!(driver.screen());
}

#[test]
fn what_an_agent_said_last_is_in_the_toast() {
    let mut driver = camp_at(110, 40);
    driver.press("r");
    let (job, _) = driver.tasks().remove(0);
    let picture = "* . *\n".repeat(20);
    let error = crate::engine::Error::AgentDied {
        code: 1,
        last_words: picture + "Unable to connect\nPlease check your network settings.",
    };
    driver.done(job, Err(error.into()));
    let screen = driver.screen();
    for part in ["ended at once", "Unable to connect", "Please check", "…"] {
        assert!(screen.contains(part), "{part}: {screen}");
    }
}

#[test]
fn several_repositories() {
    let mut instances = camp();
    for view in instances.iter_mut().take(2) {
        view.repo = "/home/ada/web".into();
    }
    let mut driver = Driver::with(100, 20, instances);
    insta::assert_snapshot!("all", driver.screen());
    driver.press("f");
    insta::assert_snapshot!("one", driver.screen());
}

#[test]
fn two_hundred() {
    let letters: Vec<char> = "bcdfghjkmnpqrstvwxyz".chars().collect();
    let instances = (0..200)
        .map(|n| {
            let name: String = format!("{n:010}")
                .chars()
                .map(|digit| letters[digit.to_digit(10).unwrap() as usize])
                .collect();
            let mut view = instance('b', &format!("agent {n}"), InstanceState::Running);
            view.id = crate::model::InstanceId::parse(&name).unwrap();
            view
        })
        .collect();
    let mut driver = Driver::with(90, 12, instances);
    driver.press("end k k");
    insta::assert_snapshot!(driver.screen());
}

#[test]
fn without_colours_nothing_is_coloured() {
    let mut driver = camp_at(110, 26);
    driver.state.theme = Theme::plain();
    for key in ["", "?", "D", "N", "s"] {
        if !key.is_empty() {
            driver.press("esc").press(key);
        }
        let buffer = driver.buffer();
        for cell in buffer.content() {
            assert_eq!(cell.fg, ratatui::style::Color::Reset, "{key}");
            assert_eq!(cell.bg, ratatui::style::Color::Reset, "{key}");
        }
    }
}

#[test]
fn themes_use_sixteen_colours_only() {
    use ratatui::style::Color;
    for theme in [Theme::dark(), Theme::light()] {
        let mut driver = Driver::with(110, 26, camp());
        driver.state.theme = theme;
        for key in ["?", "D", "N"] {
            driver.press("esc").press(key);
            for cell in driver.buffer().content() {
                for color in [cell.fg, cell.bg] {
                    assert!(
                        !matches!(color, Color::Rgb(..) | Color::Indexed(16..)),
                        "{color}"
                    );
                }
            }
        }
    }
}
