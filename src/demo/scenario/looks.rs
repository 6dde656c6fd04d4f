//! The agent's screens.

use super::stage::Stage;
use crate::demo::agent::Input;
use crate::demo::keyboard::{Key, Typed};
use crate::demo::view::view;

#[test]
fn the_input_box_and_the_approval_dialog_look_like_this() {
    let mut stage = Stage::new(44, 24);
    stage.give(Input::Typed(Typed::Paste(
        "tab\there 日本\nnext".to_owned(),
    )));
    insta::assert_snapshot!(stage.picture(), @r"
    ────────────────────────────────────────────
    ❯~tab    here 日本
      next
    ────────────────────────────────────────────
      /help for commands · say hello for a tour
    ");
    stage.press(Key::Ctrl('u'));
    stage.submit("/run cargo test --all-targets --all-features -- --nocapture");
    stage.press(Key::Down);
    insta::assert_snapshot!(stage.picture(), @r"
    ────────────────────────────────────────────
     Bash command
    ╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌
     cargo test --all-targets --all-features --
     --nocapture
    ╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌
     Do you want to proceed?
       1. Yes
     ❯ 2. Yes, and don't ask again this session
       3. No

     Esc to cancel · Tab to amend
    ");
}

#[test]
fn the_question_and_the_busy_box_look_like_this() {
    let mut stage = Stage::new(52, 24);
    stage.submit("/ask Which tea? | Green | Black");
    insta::assert_snapshot!(stage.picture(), @r"
    ────────────────────────────────────────────────────
     ☐ Question

     Which tea?
     ❯ 1. Green
       2. Black

    Enter to select · ↑/↓ to navigate · Esc to cancel
    ");
    stage.press(Key::Esc);
    stage.submit("/busy 9");
    stage.wait(3.0);
    insta::assert_snapshot!(stage.picture(), @r"
    ✳ Whittling… (3s · esc to interrupt)

    ────────────────────────────────────────────────────
    ❯~
    ────────────────────────────────────────────────────
      /help for commands · say hello for a tour
    ");
}

#[test]
fn every_screen_fits_every_terminal() {
    let long = "日本 ".repeat(300);
    for (columns, rows) in [(10, 4), (40, 10), (80, 24), (300, 100)] {
        for prompt in [
            "/busy 5",
            "/stream 50",
            "/trust",
            "/limit",
            &format!("/run {long}"),
        ] {
            let mut stage = Stage::new(columns, rows);
            stage.submit(prompt);
            stage.wait(1.0);
            stage.submit("one more thing");
            stage.give(Input::Typed(Typed::Paste(long.clone())));
            stage.give(Input::Typed(Typed::Paste("a\nb\nc".to_owned())));
            let frame = view(&stage.agent, stage.now);
            assert!(frame.lines.len() <= rows, "{prompt} at {columns}x{rows}");
            for line in &frame.lines {
                assert!(
                    line.width() <= columns,
                    "{prompt} at {columns}x{rows}: {}",
                    line.text()
                );
            }
            if let Some((row, column)) = frame.cursor {
                assert!(row < frame.lines.len() && column <= columns);
            }
        }
    }
}
