//! The diff: its looks, and comments on its lines.

use pretty_assertions::assert_eq;
use ratatui::style::Modifier;

use super::driver::*;
use super::journeys::{camp_driver, of, only_tasks};
use crate::engine::ReviewView;
use crate::model::{NewComment, Review, ReviewSide, Title};
use crate::tui::input::MouseKind;
use crate::tui::message::{Page, Task, TaskOutcome, UiRequest};

const PATCH: &str = "diff --git a/src/login.rs b/src/login.rs
old mode 100644
new mode 100755
--- a/src/login.rs
+++ b/src/login.rs
@@ -1,3 +1,4 @@ fn login()
 let user = read(\"name\"); // who
-check(user, 1);
+check(&user, 1)?;
+log(&user);
 done();
diff --git a/old.py b/new.py
similarity index 90%
rename from old.py
rename to new.py
--- a/old.py
+++ b/new.py
@@ -7,1 +7,1 @@
-def one(): pass
+def two(): pass
diff --git a/notes.txt b/notes.txt
new file mode 100644
--- /dev/null
+++ b/notes.txt
@@ -0,0 +1 @@
+Remember the milk, which is a long line that does not fit into half of a narrow screen
";

fn diff_driver(columns: u16, rows: u16) -> Driver {
    let mut driver = Driver::with(columns, rows, camp());
    driver.press("j tab");
    driver.read(&id('b'), patch_page(PATCH));
    driver
}

/// A slow machine reads the diff late: what is typed meanwhile must not reach the agent.
#[test]
fn a_comment_that_is_begun_before_the_diff_is_there() {
    let mut driver = Driver::with(110, 26, camp());
    driver.press("j v");
    driver.requests.clear();
    driver.press("enter a s");
    let asked = format!("{:?}", driver.requests);
    assert!(!asked.contains("Attach"), "{asked}");
    assert!(driver.tasks().is_empty());
    driver.read(&id('b'), patch_page(PATCH));
    driver.press("enter");
    assert!(
        driver.screen().contains("enter keep it"),
        "{}",
        driver.screen()
    );
}

#[test]
fn below_each_other() {
    insta::assert_snapshot!(diff_driver(110, 26).screen());
}

#[test]
fn side_by_side() {
    let mut driver = diff_driver(200, 26);
    insta::assert_snapshot!("wide", driver.screen());
    driver.press("|");
    assert!(driver.screen().contains(" 2    - check(user, 1);"));
}

#[test]
fn wrapped_and_scrolled_sideways() {
    let mut driver = diff_driver(90, 30);
    assert!(!driver.screen().contains("narrow screen"));
    driver.press("w");
    assert!(
        driver.screen().contains("narrow screen"),
        "{}",
        driver.screen()
    );
    driver.press("w >");
    assert!(!driver.screen().contains("Remember"));
    assert!(driver.screen().contains("long line"));
    driver.press("<");
    assert!(driver.screen().contains("Remember"));
}

#[test]
fn words_that_differ_and_code_have_their_looks() {
    let driver = diff_driver(110, 26);
    let buffer = driver.buffer();
    let theme = driver.state.theme;
    let cell = |text: &str| {
        for y in 0..buffer.area.height {
            let row: String = (0..buffer.area.width)
                .map(|x| buffer[(x, y)].symbol())
                .collect();
            if let Some(at) = row.find(text) {
                let x = u16::try_from(row[..at].chars().count()).unwrap();
                return buffer[(x, y)].clone();
            }
        }
        panic!("{text} is not there");
    };
    assert!(cell("&user, 1)").modifier.contains(Modifier::UNDERLINED));
    assert!(!cell("user, 1)?").modifier.contains(Modifier::UNDERLINED));
    assert_eq!(Some(cell("let user").fg), theme.code_keyword.fg);
    assert_eq!(Some(cell("\"name\"").fg), theme.code_text.fg);
    assert_eq!(Some(cell("// who").fg), theme.code_comment.fg);
    assert_eq!(Some(cell("log(&").fg), theme.added.fg);
}

#[test]
fn comments_are_written_changed_dropped_and_sent() {
    let mut driver = diff_driver(110, 30);
    driver.press("v");
    assert!(driver.screen().contains("enter comment"));
    // File, hunk, context, removed, added.
    driver.press("j j j j enter");
    let form = driver.screen();
    assert!(form.contains("src/login.rs, line 2"), "{form}");
    assert!(form.contains("+check(&user, 1)?;"), "{form}");
    driver.write("Why?").press("enter");
    let (job, task) = driver.tasks().remove(0);
    let comment = NewComment {
        file: "src/login.rs".to_owned(),
        line: Some(2),
        side: ReviewSide::New,
        hunk: [
            " let user = read(\"name\"); // who",
            "-check(user, 1);",
            "+check(&user, 1)?;",
            "+log(&user);",
            " done();",
        ]
        .map(str::to_owned)
        .to_vec(),
        text: "Why?".to_owned(),
    };
    assert_eq!(
        task,
        Task::Comment {
            id: of('b'),
            comment: comment.clone()
        }
    );
    let mut review = Review::default();
    review.add(comment, at(0));
    let view = |review: &Review| ReviewView {
        instance: of('b'),
        title: Title::new("fix the login").unwrap(),
        comments: review.comments.clone(),
    };
    driver.done(job, Ok(TaskOutcome::Reviewed(view(&review), None)));
    insta::assert_snapshot!("commented", driver.screen());
    // Down to the comment: its text is edited, and it is dropped.
    driver.press("j enter").write(" Really?").press("enter");
    let change = |text: Option<&str>| Task::ChangeComment {
        id: of('b'),
        number: 1,
        text: text.map(str::to_owned),
    };
    assert_eq!(only_tasks(&mut driver), [change(Some("Why? Really?"))]);
    driver.press("x");
    assert_eq!(only_tasks(&mut driver), [change(None)]);
    driver.press("s");
    let (job, task) = driver.tasks().remove(0);
    assert_eq!(task, Task::SendReview(of('b')));
    let words = Some("The comment went to the agent.".to_owned());
    driver.done(
        job,
        Ok(TaskOutcome::Reviewed(view(&Review::default()), words)),
    );
    assert!(!driver.screen().contains("Why?"));
    assert_eq!(driver.state.review, None);
    // Without a comment nothing is sent.
    driver.press("v s");
    assert_eq!(only_tasks(&mut driver), []);
}

#[test]
fn the_cursor_stays_on_its_line_when_the_patch_changes() {
    let mut driver = diff_driver(110, 30);
    driver.press("v j j j j");
    let more = format!(
        "diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -1 +1,2 @@\n a\n+b\n{PATCH}"
    );
    driver.read(&id('b'), patch_page(&more));
    let (_, page) = driver.state.page.diff.as_ref().unwrap();
    let line = page.line_of(driver.state.review.unwrap()).unwrap();
    assert_eq!(page.patch.lines[line].text, "check(&user, 1)?;");
    // And the list is asked to count again.
    assert!(driver.requests.contains(&UiRequest::Recount(of('b'))));
}

#[test]
fn files_and_lines_are_clicked() {
    let mut driver = diff_driver(110, 30);
    let screen = driver.screen();
    let row_of = |text: &str| {
        let row = screen.lines().position(|line| line.contains(text)).unwrap();
        u16::try_from(row).unwrap()
    };
    driver.mouse(MouseKind::Press, 60, row_of("+ log(&user);"));
    driver.press("enter");
    assert!(driver.screen().contains("src/login.rs, line 3"));
    driver.press("esc esc");
    driver.mouse(MouseKind::Press, 60, row_of("notes.txt"));
    let (_, page) = driver.state.page.diff.as_ref().unwrap();
    assert_eq!(page.file_at(driver.state.scroll), Some(2));
}

#[test]
fn the_tab_is_read_again_without_any_report() {
    let mut driver = diff_driver(110, 30);
    driver.requests.clear();
    let read = UiRequest::Read {
        id: of('b'),
        host: None,
        what: crate::tui::message::PageKind::Diff,
    };
    driver.tell(crate::tui::message::Message::Tick(at(60)));
    assert!(!driver.requests.contains(&read), "just read");
    driver.tell(crate::tui::message::Message::Tick(at(61)));
    assert!(driver.requests.contains(&read));
    // What was read is the same: nothing is counted again.
    driver.requests.clear();
    let review = ReviewView {
        instance: of('b'),
        title: Title::new("fix the login").unwrap(),
        comments: Vec::new(),
    };
    driver.read(&id('b'), Page::SameDiff(review));
    assert!(!driver.requests.contains(&UiRequest::Recount(of('b'))));
}

#[test]
fn nothing_to_review_is_said() {
    let mut driver = camp_driver();
    driver.press("tab");
    driver.read(&id('b'), patch_page(""));
    driver.press("v");
    assert_eq!(driver.state.review, None);
    assert!(driver.screen().contains("Nothing was changed."));
}
