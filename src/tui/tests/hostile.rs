//! Any text, any size, any keys: the screen stays valid.

use proptest::prelude::*;

use super::driver::*;
use crate::engine::Speaker;
use crate::model::{State as InstanceState, Title};
use crate::tui::message::{Message, Page};

const HOSTILE: &str = "a\x1b]0;pwned\x07\x1b[2J\u{202e}b\u{200b}日本👩‍💻é\u{301}\r\n\tx";

/// No cell has a control character.
fn assert_harmless(driver: &Driver) {
    for cell in driver.buffer().content() {
        let symbol = cell.symbol();
        assert!(
            !symbol
                .chars()
                .any(|c| c.is_control() || c == '\u{202e}' || c == '\u{200b}'),
            "{symbol:?}"
        );
    }
}

#[test]
fn hostile_text_is_harmless_wherever_it_stands() {
    let mut view = paused('b', "x", &[HOSTILE]);
    view.title = Title::new(HOSTILE).unwrap();
    view.branch = Some(HOSTILE.to_owned());
    view.base = HOSTILE.to_owned();
    view.agent = "claude".to_owned();
    let running = {
        let mut running = view.clone();
        running.id = crate::model::InstanceId::parse(&id('c')).unwrap();
        running.state = InstanceState::Running;
        running.repo = format!("/home/{HOSTILE}").into();
        running
    };
    for (columns, rows) in [(110, 30), (40, 10), (20, 5)] {
        let mut driver = Driver::with(columns, rows, vec![view.clone(), running.clone()]);
        driver.shows(&id('b'), HOSTILE);
        assert_harmless(&driver);
        driver.press("tab");
        let patch = format!("diff --git a/{HOSTILE} b/{HOSTILE}\n@@ -0,0 +1,2 @@\n+{HOSTILE}\n");
        driver.read(&id('b'), patch_page(&patch));
        assert_harmless(&driver);
        driver.press("tab");
        let said = entry(1, Speaker::Tool, HOSTILE)
            .with("tool", HOSTILE)
            .with("subject", "x\x1b[2J");
        driver.read(&id('b'), Page::Conversation(vec![said]));
        assert_harmless(&driver);
        for keys in ["D", "esc R", "esc p", "esc s", "esc N", "esc ?", "esc /"] {
            driver.press(keys);
            driver.paste(HOSTILE);
            assert_harmless(&driver);
        }
        driver.press("esc r");
        let (job, _) = driver.tasks().remove(0);
        driver.progress(job, "x");
        let error = crate::engine::Error::NoSuchInstance {
            given: HOSTILE.to_owned(),
        };
        driver.done(job, Err(error.into()));
        assert_harmless(&driver);
    }
}

#[test]
fn wide_characters_keep_the_columns_straight() {
    let mut driver = Driver::with(
        90,
        10,
        vec![
            instance(
                'b',
                "日本語のとても長いタイトルは切り詰められる",
                InstanceState::Running,
            ),
            instance('c', "plain", InstanceState::Running),
        ],
    );
    driver.shows(&id('b'), "日本語日本語日本語\nabc");
    insta::assert_snapshot!(driver.screen());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn any_keys_at_any_size_draw_a_screen(
        columns in 0_u16..180,
        rows in 0_u16..50,
        keys in proptest::collection::vec(0_usize..34, 0..30),
        resized in (0_u16..120, 0_u16..40),
    ) {
        let names = [
            "n", "N", "enter", "o", "c", "r", "R", "D", "s", "tab", "shift+tab", "shift+up",
            "shift+down", "/", "y", "space", "P", "u", "p", "?", "q", "ctrl+x p", "ctrl+c", "esc",
            "j", "k", "home", "end", "pageup", "pagedown", "[", "]", "f", "x",
        ];
        let mut driver = Driver::with(columns, rows, camp());
        driver.shows(&id('b'), "some\nlines\nof a screen");
        for key in keys {
            driver.press(names[key]);
            driver.buffer();
        }
        driver.tell(Message::Resized { columns: resized.0, rows: resized.1 });
        driver.buffer();
        driver.listed(Vec::new());
        driver.buffer();
    }
}
