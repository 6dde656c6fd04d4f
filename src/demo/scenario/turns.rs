//! The agent's turns.

use super::stage::Stage;
use crate::demo::agent::Input;
use crate::demo::keyboard::Key;
use crate::demo::session::{SessionEntry, Speaker};
use crate::demo::state::{Audience, Effect};
use crate::demo::view::next_change;

#[test]
fn a_turn_is_busy_then_answers_then_is_idle_and_silent() {
    let mut stage = Stage::new(60, 20);
    assert_eq!(next_change(&stage.agent, stage.now), None);
    stage.submit("fix the\tbug \"now\"");
    assert_eq!(stage.contents(Speaker::User), ["fix the\tbug \"now\""]);
    assert!(stage.screen().contains("… (0s · esc to interrupt)"));
    assert!(stage.title().starts_with("◐ "));
    stage.wait(0.9);
    assert!(stage.title().starts_with("◑ "));
    stage.wait(0.2);
    assert!(!stage.screen().contains("esc to interrupt"));
    assert!(stage.title().starts_with("✳ "));
    assert!(stage.printed.contains(&"✻ Worked for 1s".to_owned()));
    assert_eq!(stage.contents(Speaker::Assistant).len(), 1);
    assert_eq!(next_change(&stage.agent, stage.now), None);
}

#[test]
fn a_prompt_sent_while_busy_waits_for_its_turn() {
    let mut stage = Stage::new(60, 20);
    stage.submit("/busy 5");
    stage.submit("and then this");
    assert!(stage.screen().contains("queued: and then this"));
    assert_eq!(stage.contents(Speaker::User), ["/busy 5"]);
    assert!(stage.contents(Speaker::System).contains(&"and then this"));
    stage.wait(5.0);
    assert_eq!(stage.contents(Speaker::User), ["/busy 5", "and then this"]);
    assert!(!stage.screen().contains("queued"));
}

#[test]
fn an_interrupt_stops_at_once_keeps_what_was_said_and_gives_the_queue_back() {
    for key in [Key::Esc, Key::Ctrl('c')] {
        let mut stage = Stage::new(60, 20);
        stage.submit("/stream 100");
        stage.wait(1.0);
        assert!(!stage.screen().contains("esc to interrupt"), "no spinner");
        assert!(stage.title().starts_with(['◐', '◑']));
        stage.submit("later");
        stage.press(key);
        assert!(stage.title().starts_with('✳'));
        assert!(stage.contents(Speaker::Assistant)[0].starts_with("the tents stand"));
        assert!(
            stage
                .printed
                .last()
                .unwrap()
                .contains("⎿  Interrupted · What should")
        );
        assert!(stage.screen().contains("❯\u{a0}later"));
        assert_eq!(stage.agent.exit_hint, None);
    }
}

#[test]
fn streamed_rows_are_printed_once_each() {
    let mut stage = Stage::new(40, 20);
    stage.submit("/stream 48");
    stage.wait(10.0);
    let text = stage.contents(Speaker::Assistant)[0].to_owned();
    assert_eq!(text.split(' ').count(), 48);
    let rows = stage.printed.iter().skip_while(|row| !row.starts_with('●'));
    let shown: Vec<&str> = rows
        .take_while(|row| !row.is_empty())
        .map(|row| row.trim_start_matches('●').trim())
        .collect();
    assert_eq!(shown.join(" "), text);
}

#[test]
fn a_command_runs_only_after_a_yes() {
    let run = Effect::RunCommand("ls".to_owned());
    let mut stage = Stage::new(60, 20);
    stage.submit("/run ls");
    assert!(!stage.was(&run));
    stage.press(Key::Char('1'));
    assert!(stage.was(&run));
    assert!(stage.screen().contains("Running… (0s · esc to interrupt)"));
    stage.give(Input::CommandSaid("a\tb".to_owned()));
    stage.give(Input::CommandEnded(Some(2)));
    assert_eq!(stage.contents(Speaker::Tool), ["a\tb\n"]);
    assert!(stage.printed.contains(&"     exit status 2".to_owned()));

    let mut stage = Stage::new(60, 20);
    stage.submit("/run ls\n/print next");
    stage.press(Key::Char('3'));
    assert!(!stage.was(&run));
    assert!(
        stage.printed.contains(&"next".to_owned()),
        "no is not the end"
    );

    let mut stage = Stage::new(60, 20);
    stage.submit("/run ls\n/print next");
    stage.press(Key::Esc);
    assert!(!stage.was(&run));
    assert!(!stage.printed.contains(&"next".to_owned()), "cancel is");
}

#[test]
fn dont_ask_again_holds_for_the_session_and_after_resume() {
    let mut stage = Stage::new(60, 20);
    stage.submit("/write a.txt hi\n/run ls");
    stage.press(Key::Char('2'));
    assert!(stage.was(&Effect::RunCommand("ls".to_owned())));
    let mut stage = Stage::resumed(&stage.recorded.clone(), 60, 20);
    stage.submit("/run pwd");
    assert!(stage.was(&Effect::RunCommand("pwd".to_owned())));
}

#[test]
fn the_tour_writes_runs_and_reports() {
    let mut stage = Stage::new(80, 24);
    stage.submit("add a hello script");
    stage.wait(3.0);
    assert!(stage.screen().contains(" Edit file\n hello.sh\n"));
    stage.press(Key::Enter);
    stage.wait(3.0);
    assert!(stage.screen().contains("Bash command"));
    stage.press(Key::Enter);
    stage.give(Input::CommandEnded(Some(0)));
    stage.wait(3.0);
    assert!(stage.contents(Speaker::Assistant)[1].starts_with("Done: hello.sh"));
    assert!(stage.agent.memory.todos.iter().all(|todo| todo.done));

    let mut stage = Stage::new(80, 24);
    stage.submit("add a hello script");
    stage.wait(3.0);
    stage.press(Key::Char('3'));
    stage.wait(3.0);
    assert!(stage.agent.turn.is_none());
    assert!(stage.contents(Speaker::Assistant)[1].starts_with("All right"));
}

#[test]
fn earlier_prompts_are_remembered_after_resume() {
    let past = [
        SessionEntry::user(1, "the tent is blue"),
        SessionEntry::user(2, "it leaks"),
    ];
    let mut stage = Stage::resumed(&past, 60, 20);
    stage.submit("/recall");
    let said = stage.contents(Speaker::Assistant)[0];
    assert_eq!(said, "You told me:\n1. the tent is blue\n2. it leaks");
}

#[test]
fn exit_takes_the_same_key_twice_in_time() {
    let leave = Effect::Leave(0);
    for key in [Key::Ctrl('c'), Key::Ctrl('d')] {
        let mut stage = Stage::new(60, 20);
        stage.press(key);
        assert!(stage.screen().contains("again to exit"));
        stage.wait(3.0);
        assert!(!stage.screen().contains("again to exit"));
        stage.press(key);
        stage.press(Key::Char('x'));
        stage.press(Key::Backspace);
        stage.press(key);
        assert!(!stage.was(&leave));
        stage.press(key);
        assert!(stage.was(&leave));
    }
}

#[test]
fn one_that_ignores_signals_ignores_the_keys_too() {
    let mut stage = Stage::new(60, 20);
    stage.submit("/ignore-signals\n/busy 5");
    stage.press(Key::Esc);
    stage.press(Key::Ctrl('c'));
    assert!(stage.agent.turn.is_some());
    stage.wait(5.0);
    stage.press(Key::Ctrl('c'));
    stage.press(Key::Ctrl('c'));
    assert!(!stage.was(&Effect::Leave(0)));
    stage.submit("/exit 3");
    assert!(stage.was(&Effect::Leave(3)));
}

#[test]
fn trust_is_refused_by_default_and_a_limit_stops_the_turn() {
    let mut stage = Stage::new(60, 20);
    stage.submit("/trust");
    stage.press(Key::Enter);
    assert!(stage.was(&Effect::Leave(1)));
    let mut stage = Stage::new(60, 20);
    stage.submit("/limit\n/print next");
    assert!(stage.title().starts_with('✳'));
    stage.press(Key::Enter);
    assert!(stage.agent.turn.is_none());
    assert!(!stage.printed.contains(&"next".to_owned()));
}

#[test]
fn without_a_terminal_dialogs_are_declined_and_the_end_waits_for_the_work() {
    let mut stage = Stage::new(60, 20);
    stage.agent.audience = Audience::Pipe;
    stage.submit("/run ls\n/busy 1");
    stage.give(Input::NoMore);
    assert!(!stage.was(&Effect::RunCommand("ls".to_owned())));
    assert!(!stage.was(&Effect::Leave(0)));
    stage.wait(1.0);
    assert!(stage.was(&Effect::Leave(0)));
}
