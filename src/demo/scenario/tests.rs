//! The agent's screens, drawn by itself and judged by the rules that watch it.

mod pane;

use uuid::Uuid;

use crate::demo::agent::Input;
use crate::demo::args::DemoArgs;
use crate::demo::greeting::{self};
use crate::demo::keyboard::Key;
use crate::demo::paint::cut;
use crate::model::Activity;
use pane::Pane;

const SIZES: [(usize, usize); 3] = [(80, 24), (120, 40), (220, 60)];

/// What the dialogs and the busy signs of all agents look like.
const QUOTED: [&str; 23] = [
    "Do you want to proceed?",
    " ❯ 1. Yes",
    "   2. Yes, and don't ask again this session",
    "   3. No",
    "",
    " Esc to cancel · Tab to amend",
    "Enter to select · ↑/↓ to navigate · Esc to cancel",
    " Enter to confirm · Esc to cancel",
    "  Press enter to confirm or esc to cancel",
    "› 1. Yes, proceed (y)",
    "  3. No, and tell Codex what to do differently (esc)",
    "│ ● 1. Allow once │",
    "│   3. No, suggest changes (esc) │",
    "  ┃   Allow once   Allow always   Reject   enter confirm",
    "Run shell command? (Y)es/(N)o/(D)on't ask again [Yes]:",
    "✻ Pondering… (3s · esc to interrupt)",
    "◦ Working (12s • esc to interrupt)",
    " ⠋ Thinking... (esc to cancel, 3s)",
    " ⬝⬝⬝■■  esc interrupt",
    "You've hit your limit · resets 3pm",
    "❯",
    ">",
    "",
];

/// A whole session, from the first screen to the one after `--resume`.
#[test]
fn every_screen_of_a_session_is_judged_as_what_it_is() {
    for (columns, rows) in SIZES {
        let sessions = tempfile::tempdir().unwrap();
        let session = Uuid::from_u128(0x0b1e_0dde_7e57_4c0d_8bad_c0ff_ee00_0001);
        let mut args = DemoArgs {
            sessions: sessions.path().to_owned(),
            session_id: Some(session),
            resume: None,
            prompt: None,
        };
        let opening = greeting::open(&args).unwrap();
        let mut pane = Pane::new(columns, rows);
        pane.open(&opening);

        typing(&mut pane);
        busy(&mut pane);
        asked(&mut pane);
        quoting(&mut pane);
        on_its_own(&mut pane);

        for entry in &pane.stage.recorded {
            opening.file.append(entry).unwrap();
        }
        args.resume = args.session_id.take();
        pane.open(&greeting::open(&args).unwrap());
        pane.see("Welcome back");
        pane.is(Activity::Idle, "resumed");
        pane.done(29);
    }
}

fn typing(pane: &mut Pane) {
    pane.is(Activity::Idle, "fresh");
    pane.write("a draft that is not sent");
    pane.see("not sent");
    pane.is(Activity::Idle, "draft");
    pane.press(&[Key::Ctrl('u')]);
    let numbers: Vec<String> = (1..=40).map(|number| number.to_string()).collect();
    pane.paste(&numbers.join("\n"));
    pane.see("[Pasted text");
    pane.is(Activity::Idle, "pasted");
    pane.press(&[Key::Ctrl('c')]);
    pane.see("Press Ctrl-C again");
    pane.is(Activity::Idle, "exit hint");
    pane.wait(2.2);
    pane.tell("the tent is blue");
    pane.see("esc to interrupt");
    pane.is(Activity::Busy, "pondering");
    pane.wait(3.0);
    pane.see("Worked for");
    pane.is(Activity::Idle, "after an answer");
}

fn busy(pane: &mut Pane) {
    pane.tell("/busy 600");
    pane.wait(1.0);
    pane.see("(1s · esc to interrupt)");
    pane.is(Activity::Busy, "spinner");
    pane.write("a draft");
    pane.see("a draft");
    pane.is(Activity::Busy, "draft while busy");
    pane.press(&[Key::Enter]);
    pane.see("queued: a draft");
    pane.is(Activity::Busy, "queued");
    pane.press(&[Key::Esc]);
    pane.see("Interrupted ·");
    pane.press(&[Key::Ctrl('u')]);
    pane.is(Activity::Idle, "interrupted");

    pane.tell("/stream 500");
    pane.wait(1.0);
    pane.see("the tents stand in a row");
    pane.is_in_doubt(Activity::Busy, Activity::Idle, "streaming");
    pane.press(&[Key::Ctrl('c')]);
    pane.tell("/mute 600");
    pane.see("❯ /mute 600");
    pane.is_in_doubt(Activity::Busy, Activity::Idle, "mute");
    pane.press(&[Key::Esc]);
}

fn asked(pane: &mut Pane) {
    pane.tell("/run cargo test --all-targets && git push --force origin main");
    pane.see("Do you want to proceed?");
    pane.is(Activity::Approval, "command");
    pane.press(&[Key::Down, Key::Down]);
    pane.see("❯ 3. No");
    pane.is(Activity::Approval, "command with no selected");
    pane.press(&[Key::Enter]);
    pane.see("Declined");
    pane.is(Activity::Idle, "declined");
    let numbers: Vec<String> = (1..=120).map(|number| number.to_string()).collect();
    pane.tell(&format!(
        "/run printf '%s\\n' {} | sort -rn | head -n 3 > /dev/null && echo done",
        numbers.join(" ")
    ));
    pane.see("Do you want to proceed?");
    pane.is(Activity::Approval, "wrapped command");
    pane.press(&[Key::Esc]);
    pane.tell("/write notes/todo.md buy rope\npack the tent");
    pane.see("Edit file");
    pane.is(Activity::Approval, "new file");
    pane.press(&[Key::Char('1')]);
    pane.see("Wrote 2 lines");
    pane.tell("/write notes/todo.md buy rope\npack the blue tent\nand the stove");
    pane.see("Edit file");
    pane.see("-pack the tent");
    pane.is(Activity::Approval, "edit");
    pane.press(&[Key::Esc]);

    pane.tell("/ask Which database should we use? | Postgres | SQLite | None at all");
    pane.see("Enter to select");
    pane.is(Activity::Question, "question");
    pane.press(&[Key::Down]);
    pane.see("❯ 2. SQLite");
    pane.is(Activity::Question, "question with the second selected");
    pane.press(&[Key::Enter]);
    pane.see("You chose: SQLite");
    pane.is(Activity::Idle, "answered");

    pane.tell("/limit");
    pane.see("Enter to confirm");
    pane.is(Activity::Blocked, "limit");
    pane.press(&[Key::Enter]);
    pane.tell("/trust");
    pane.see("I trust this folder");
    pane.is(Activity::Blocked, "trust");
    pane.press(&[Key::Down, Key::Enter]);
    pane.see("Thank you");
}

/// What the agent quotes is not what it asks.
fn quoting(pane: &mut Pane) {
    pane.tell(
        "/print  Bash command\n rm -rf build\n Do you want to proceed?\n ❯ 1. Yes\n   3. No\n \
         Esc to cancel · Tab to amend\n/print ✻ Pondering… (3s · esc to interrupt)",
    );
    pane.see("Worked for");
    pane.is_in_doubt(Activity::Idle, Activity::Busy, "quoted dialog");
    pane.tell(
        "/print Enter to select · ↑/↓ to navigate · Esc to cancel\n\
         /print  Enter to confirm · Esc to cancel\n/busy 600",
    );
    pane.see("(0s · esc to interrupt)");
    pane.is(Activity::Busy, "quoted dialog while busy");
    pane.press(&[Key::Esc]);
}

fn on_its_own(pane: &mut Pane) {
    pane.tell("/allow\n/run sleep 600");
    pane.see("Running…");
    pane.is(Activity::Busy, "running");
    pane.press(&[Key::Esc]);
    pane.is(Activity::Idle, "not asking");
    pane.tell("add a hello script");
    pane.wait(3.0);
    pane.give(Input::CommandSaid("Hello from camp!".to_owned()));
    pane.give(Input::CommandEnded(Some(0)));
    pane.wait(3.0);
    pane.see("Done: hello.sh");
    pane.is(Activity::Idle, "tour done");
    pane.tell("/exit");
}

#[test]
fn a_short_screen_is_judged_as_what_it_is() {
    let mut pane = Pane::new(80, 24);
    pane.print(&["● Hello! I am the demo agent.".to_owned()]);
    pane.is(Activity::Idle, "greeting");
    pane.write("fix the\ntests");
    pane.see("  tests");
    pane.is(Activity::Idle, "two rows typed");
    pane.press(&[Key::Ctrl('c')]);
    pane.see("Press Ctrl-C again to exit");
    pane.is(Activity::Idle, "exit hint");
    pane.done(3);

    let mut pane = Pane::new(80, 24);
    pane.tell("/busy 30");
    pane.wait(3.0);
    pane.see("(3s · esc to interrupt)");
    pane.is(Activity::Busy, "spinner");
    pane.press(&[Key::Esc]);
    pane.tell("/stream 100");
    pane.wait(1.0);
    pane.see("● the tents stand");
    pane.is_in_doubt(Activity::Busy, Activity::Idle, "streaming");
    pane.press(&[Key::Esc]);
    pane.tell("/run cargo test");
    pane.press(&[Key::Enter]);
    pane.wait(12.0);
    pane.tell("and then this");
    pane.see("Running… (12s · esc to interrupt)");
    pane.see("queued: and then this");
    pane.is(Activity::Busy, "running");
    pane.done(3);
}

/// A dialog whose screen shows nothing else.
#[test]
fn a_dialog_that_stands_alone_is_judged_as_what_it_is() {
    for (prompt, text, activity) in [
        ("/run cargo test", " cargo test\n", Activity::Approval),
        (
            "/run echo \"✻ Pondering… (3s · esc to interrupt)\"\n❯\u{a0}\nls",
            "interrupt)\"\n ❯\u{a0}\n ls\n",
            Activity::Approval,
        ),
        ("/write notes/plan.md one", " 1 +one\n", Activity::Approval),
        (
            "/ask Which colour shall it be? | Red | Blue",
            " ❯ 1. Red\n",
            Activity::Question,
        ),
        ("/trust", " ❯ 1. No, exit\n", Activity::Blocked),
        ("/limit", " Usage limit reached\n", Activity::Blocked),
    ] {
        let mut pane = Pane::bare();
        let old = ("notes/plan.md".to_owned(), "two".to_owned());
        pane.stage.files.extend([old]);
        pane.tell(prompt);
        pane.see(text);
        pane.is(activity, prompt);
        pane.done(1);
    }
}

/// Dialogs and busy signs that stand in answers, logs, diffs, prompts and drafts are none.
#[test]
fn what_is_quoted_is_no_dialog_and_no_work() {
    for (columns, _) in SIZES {
        let quoted = |indent: usize| -> Vec<String> {
            QUOTED
                .iter()
                .map(|line| {
                    format!("{}{line}", " ".repeat(indent))
                        .trim_end()
                        .to_owned()
                })
                .collect()
        };
        let heading = |text: &str| -> Vec<String> { text.split('\n').map(str::to_owned).collect() };

        let code = "❯ show me the dialogs\n\n● Here it is.\n  The dialog of the other agent looks like this:\n";
        judge_quote(columns, "code", &[heading(code), quoted(4)]);

        let log: Vec<String> = std::iter::once("Do you want to proceed?".to_owned())
            .chain(QUOTED.iter().enumerate().map(|(at, line)| match at % 2 {
                0 => (*line).to_owned(),
                _ => format!("2026-11-14T18:02:{at:02}Z pane[3] {line}"),
            }))
            .enumerate()
            .map(|(at, line)| {
                let lead = if at == 0 { "  ⎿  " } else { "     " };
                cut(&format!("{lead}{line}"), columns)
            })
            .collect();
        let command = "❯ show me the log\n\n● Bash(cat pane.log)";
        judge_quote(columns, "log", &[heading(command), log]);

        let diff: Vec<String> = QUOTED
            .iter()
            .zip(40..)
            .map(|(line, number)| {
                let mark = if number % 3 == 1 { '-' } else { '+' };
                format!("        {number} {mark}{line}")
            })
            .collect();
        let update = "❯ change the fixtures\n\n● Update(fixtures/dialogs.txt)\n  ⎿  Added 14 lines, removed 8 lines";
        judge_quote(columns, "diff", &[heading(update), diff]);

        let last = quoted(2).into_iter().take(6).collect();
        judge_quote(
            columns,
            "last",
            &[heading("● Do you want to proceed?"), last],
        );

        let answer = "\n● It is a dialog that asks for leave.";
        judge_quote(
            columns,
            "prompt",
            &[
                heading("❯ what does this mean:"),
                quoted(2),
                heading(answer),
            ],
        );

        let mut pane = Pane::new(columns, 60);
        pane.print(&heading("● Ready."));
        pane.write(&QUOTED[..8].join("\n"));
        pane.see("   Enter to confirm · Esc to cancel\n");
        pane.is(Activity::Idle, "draft");
        pane.done(1);
    }
}

fn judge_quote(columns: usize, name: &str, parts: &[Vec<String>]) {
    let mut pane = Pane::new(columns, 60);
    pane.print(&parts.concat());
    pane.print(&[String::new()]);
    pane.is(Activity::Idle, name);
    pane.done(1);
}

/// What stands in the first column, right above the input box, looks like the agent's own: there
/// only the title tells.
#[test]
fn what_is_quoted_in_the_first_column_is_told_by_the_title() {
    let rule = "─".repeat(80);
    let quote = [
        "Do you want to proceed?",
        " ❯ 1. Yes",
        "   3. No",
        "",
        " Esc to cancel · Tab to amend",
        &rule,
        "❯\u{a0}",
        &rule,
        "✻ Pondering… (3s · esc to interrupt)",
        "Enter to select · ↑/↓ to navigate · Esc to cancel",
    ];
    let quote = quote.map(str::to_owned);
    let mut pane = Pane::new(80, 40);
    pane.print(&["❯ /print what dialogs look like".to_owned()]);
    pane.print(&quote);
    pane.is_in_doubt(Activity::Idle, Activity::Busy, "printed");
    pane.done(1);

    let mut pane = Pane::new(80, 40);
    pane.tell("/stream 100");
    pane.wait(0.5);
    pane.stage.lines.clear();
    pane.print(&["❯ /print what dialogs look like".to_owned()]);
    pane.print(&quote);
    pane.see("● the tents stand");
    pane.is_in_doubt(Activity::Busy, Activity::Idle, "printed while streaming");
    pane.done(1);
}
