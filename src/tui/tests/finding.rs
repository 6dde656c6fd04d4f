//! Finding things: the filter, killed instances, search, commands, queues.

use pretty_assertions::assert_eq;

use super::driver::*;
use super::journeys::{camp_driver, of, only_tasks};
use crate::engine::{Listing, QueueView, SearchMatch, SearchResult, Speaker, UsageView};
use crate::model::{Queue, State as InstanceState, Title, Tokens, TurnEnd, Usage};
use crate::report::Report;
use crate::tui::dialog::Dialog;
use crate::tui::message::{
    Lookup, LookupResult, Message, Page, Task, TaskFailure, TaskOutcome, UiRequest,
};
use crate::tui::picker::{Content, Picker};
use crate::tui::state::Tab;

fn titles(driver: &Driver) -> Vec<String> {
    let visible = driver.state.visible();
    visible.iter().map(|view| view.title.to_string()).collect()
}

fn looked(driver: &mut Driver, result: LookupResult) {
    driver.tell(Message::Looked(Box::new(Ok(result))));
}

#[test]
fn the_filter_finds_what_is_shown_and_ranks_it() {
    for (pattern, expected) in [
        ("needs", &["review api"][..]),
        ("busy", &["fix the login"]),
        ("paused", &["old task"]),
        ("autoyes", &["trusted"]),
        ("login", &["fix the login"]),
        ("e", &["review api", "broken", "trusted", "fix the login"]),
        ("ready t", &["trusted"]),
        ("flg", &[]),
    ] {
        let mut driver = camp_driver();
        driver.press("/").write(pattern);
        let found = titles(&driver);
        match pattern {
            "e" => assert_eq!(found.len(), 6, "{pattern}"),
            _ => assert_eq!(found, expected, "{pattern}"),
        }
    }
    let mut instances = camp();
    instances[1].repo = "/home/ada/website".into();
    instances[0].title = Title::new("a website").unwrap();
    let mut driver = Driver::with(110, 30, instances);
    driver.press("/").write("website");
    assert_eq!(titles(&driver), ["a website", "milk"], "the title first");
}

#[test]
fn while_a_filter_is_typed_the_bar_shows_its_keys() {
    let mut driver = camp_driver();
    let bar = |driver: &Driver| driver.screen().lines().last().unwrap().to_owned();
    driver.press("/");
    let keys = bar(&driver);
    assert!(keys.contains("enter keep the filter"), "{keys}");
    assert!(keys.contains("esc show all"), "{keys}");
    // These would be typed.
    assert!(
        !keys.contains("? help") && !keys.contains("q quit"),
        "{keys}"
    );
    driver.write("milk").press("enter");
    assert!(bar(&driver).contains("q quit"));
}

/// What was used today does not become less because an instance was killed.
#[test]
fn what_killed_ones_have_used_still_counts() {
    let used = |input: u64| Usage {
        tokens: Tokens {
            input,
            ..Tokens::default()
        },
        cost_usd: None,
    };
    let mut instances = camp();
    instances[0].usage = Some(UsageView {
        total: used(500),
        turns: 1,
        last_turn: None,
        today: used(300),
    });
    let mut driver = Driver::with(160, 30, instances.clone());
    assert!(driver.screen().contains("300 tokens today"));
    driver.requests.clear();
    instances.remove(0);
    driver.listed(instances);
    assert_eq!(driver.requests, [UiRequest::CountKilled]);
    driver.tell(Message::UsedByKilled(used(300)));
    assert!(driver.screen().contains("300 tokens today"));
}

#[test]
fn killed_instances_have_a_place_and_come_back() {
    let mut driver = camp_driver();
    driver.press("x");
    assert!(driver.requests.contains(&UiRequest::ShowKilled(true)));
    // A list of the others that was under way is not taken for theirs.
    driver.listed(camp());
    assert!(!driver.screen().contains("fix the login"));
    let killed = instance('k', "thrown away", InstanceState::Killed);
    driver.tell(Message::KilledListed(Box::new(Ok(Listing {
        instances: vec![killed],
        unreadable: Vec::new(),
        camp: None,
    }))));
    insta::assert_snapshot!("killed", driver.screen());
    driver.press("c D s");
    assert_eq!(only_tasks(&mut driver), []);
    assert!(driver.screen().contains("r brings it back"));
    driver.press("r");
    assert_eq!(only_tasks(&mut driver), [Task::UndoKill(of('k'))]);
    driver.press("x");
    assert!(driver.requests.contains(&UiRequest::ShowKilled(false)));
    driver.listed(camp());
    assert!(driver.screen().contains("fix the login"));
}

#[test]
fn where_none_is_killed_it_says_so() {
    let mut driver = camp_driver();
    driver.press("x");
    driver.tell(Message::KilledListed(Box::new(Ok(Listing {
        instances: Vec::new(),
        unreadable: Vec::new(),
        camp: None,
    }))));
    let screen = driver.screen();
    for part in [
        "Nothing that was killed can be brought back.",
        "x            shows the others",
        "x the others",
    ] {
        assert!(screen.contains(part), "{part}: {screen}");
    }
    for part in ["No instances yet", "n new"] {
        assert!(!screen.contains(part), "{part}: {screen}");
    }
}

#[test]
fn a_search_opens_the_conversation_where_it_was_said() {
    let mut driver = camp_driver();
    driver.press("S").write("session time").press("enter");
    let search = UiRequest::Look(Lookup::Search("session time".to_owned()));
    assert!(driver.requests.contains(&search));
    let hit = |letter, minutes, line: &str| SearchMatch {
        id: of(letter),
        title: Title::new("milk").unwrap(),
        state: InstanceState::Running,
        turn: 2,
        timestamp: at(minutes),
        speaker: Speaker::Assistant,
        line: line.to_owned(),
        column: line.find("session").unwrap_or(0),
    };
    // Agents write a paragraph as one line.
    let paragraph = format!("{}the session time, and more", "a long story ".repeat(30));
    let found = SearchResult {
        matches: vec![hit('b', 9, "another time"), hit('c', 3, &paragraph)],
        left_out: 0,
        unreadable: Vec::new(),
    };
    // The answer to another question is not taken.
    let other = LookupResult::Search("other".to_owned(), found.clone());
    looked(&mut driver, other);
    assert!(!driver.screen().contains("another time"));
    looked(
        &mut driver,
        LookupResult::Search("session time".to_owned(), found),
    );
    assert!(driver.screen().contains("the session time"));
    driver.press("down enter");
    assert_eq!(driver.state.dialog, None);
    assert_eq!(driver.state.selected, Some(of('c')));
    assert_eq!(driver.state.tab, Tab::Conversation);
    let long = "word\n\n".repeat(40);
    let said = |minutes, text: &str| entry(minutes, Speaker::Assistant, text);
    driver.read(
        &id('c'),
        Page::Conversation(vec![
            said(1, &long),
            said(3, "the session time"),
            said(5, &long),
        ]),
    );
    let screen = driver.screen();
    assert!(screen.contains("the session time"), "{screen}");
}

#[test]
fn a_search_of_the_command_line_is_there_when_the_ui_opens() {
    let mut driver = camp_driver();
    driver.state.dialog = Some(Dialog::Pick(Box::new(Picker::search_for("session time"))));
    let screen = driver.screen();
    assert!(screen.contains("session time"), "{screen}");
    let found = SearchResult {
        matches: vec![SearchMatch {
            id: of('c'),
            title: Title::new("milk").unwrap(),
            state: InstanceState::Running,
            turn: 2,
            timestamp: at(3),
            speaker: Speaker::Assistant,
            line: "the session time is over".to_owned(),
            column: 4,
        }],
        left_out: 0,
        unreadable: Vec::new(),
    };
    let result = LookupResult::Search("session time".to_owned(), found);
    looked(&mut driver, result);
    let screen = driver.screen();
    assert!(screen.contains("the session time is over"), "{screen}");
    // Enter opens what is chosen, and does not search again.
    driver.press("enter");
    assert_eq!(driver.state.dialog, None);
    assert_eq!(driver.state.selected, Some(of('c')));
    assert_eq!(driver.state.tab, Tab::Conversation);
}

#[test]
fn every_command_is_found_by_its_name() {
    let mut driver = camp_driver();
    driver.press(":");
    insta::assert_snapshot!("commands", driver.screen());
    driver.write("pause all").press("enter");
    assert!(matches!(driver.state.dialog, Some(Dialog::Confirm(_))));
    let mut driver = camp_driver();
    driver.press("ctrl+p").write("pause").press("enter");
    assert!(matches!(only_tasks(&mut driver)[..], [Task::Pause { .. }]));
    driver.press(":").write("zzzz").press("enter");
    assert!(driver.screen().contains("No command has these words."));
}

#[test]
fn a_queue_is_seen_reordered_and_dropped() {
    let mut driver = camp_driver();
    driver.press("Q");
    assert!(
        driver
            .requests
            .contains(&UiRequest::Look(Lookup::Queue(of('b'))))
    );
    let mut queue = Queue::default();
    for prompt in ["first", "second", "third"] {
        queue.add(prompt.to_owned(), at(0));
    }
    let view = queue_view;
    looked(&mut driver, LookupResult::Queue(view(&queue)));
    insta::assert_snapshot!("queue", driver.screen());
    // One row has a frame as well.
    let mut alone = Queue::default();
    alone.add("alone".to_owned(), at(0));
    looked(&mut driver, LookupResult::Queue(view(&alone)));
    assert!(driver.screen().contains("╭ Queue of `fix the login` ─"));
    let held = QueueView {
        held_by: Some("there is a text in its input box".to_owned()),
        ..view(&alone)
    };
    looked(&mut driver, LookupResult::Queue(held));
    assert!(
        driver
            .screen()
            .contains("waits: there is a text in its input box")
    );
    driver.requests.clear();
    driver.press("c");
    let goes_on = UiRequest::Look(Lookup::ContinueQueue(of('b')));
    assert!(!driver.requests.contains(&goes_on), "it has not stopped");
    let stopped = QueueView {
        stopped: Some("a pause has cut the turn before off".to_owned()),
        ..view(&alone)
    };
    looked(&mut driver, LookupResult::Queue(stopped));
    assert!(driver.screen().contains("stopped: a pause has cut"));
    assert!(driver.screen().contains("c let it go on"));
    driver.press("c");
    assert!(driver.requests.contains(&goes_on));
    looked(&mut driver, LookupResult::Queue(view(&queue)));
    driver.requests.clear();
    driver.press("j j K");
    let moved = Lookup::MoveQueued {
        id: of('b'),
        number: 3,
        forward: true,
    };
    assert!(driver.requests.contains(&UiRequest::Look(moved)));
    queue.move_waiting(3, true);
    looked(&mut driver, LookupResult::Queue(view(&queue)));
    // The prompt that was moved is still the chosen one.
    driver.press("x");
    let dropped = Lookup::DropQueued {
        id: of('b'),
        number: 3,
    };
    assert!(driver.requests.contains(&UiRequest::Look(dropped)));
    driver.press("a").write("fourth").press("enter");
    let task = Task::Enqueue {
        id: of('b'),
        prompt: "fourth".to_owned(),
    };
    assert_eq!(only_tasks(&mut driver), [task]);
}

fn queue_view(queue: &Queue) -> QueueView {
    QueueView {
        instance: of('b'),
        title: Title::new("fix the login").unwrap(),
        counts: queue.counts(),
        stopped: None,
        held_by: None,
        camp: None,
        entries: queue.entries.clone(),
    }
}

fn chosen(driver: &Driver) -> &str {
    let Some(Dialog::Pick(picker)) = &driver.state.dialog else {
        panic!("{:?}", driver.state.dialog)
    };
    let Content::Queue { queue, .. } = &picker.content else {
        panic!("{:?}", picker.content)
    };
    &queue.as_ref().unwrap().entries[picker.at].prompt
}

#[test]
fn a_queue_stays_open_when_a_prompt_was_added_and_shows_it() {
    let mut queue = Queue::default();
    for prompt in ["done", "under way", "next", "later"] {
        queue.add(prompt.to_owned(), at(0));
    }
    for _ in 0..2 {
        queue.finish(TurnEnd::Done, at(1));
        let (number, _) = queue.begin(at(0)).unwrap();
        queue.sent(number);
    }
    let mut driver = camp_driver();
    driver.press("Q");
    looked(&mut driver, LookupResult::Queue(queue_view(&queue)));
    assert_eq!(chosen(&driver), "next");
    // Escape leads back to the popup too.
    driver.press("a").write("no").press("esc");
    assert_eq!(chosen(&driver), "next");
    driver.press("a").write("new").press("enter");
    assert_eq!(chosen(&driver), "next");
    let (job, _) = driver.tasks().remove(0);
    driver.done(job, Ok(TaskOutcome::Said("Queued.".to_owned())));
    let look = UiRequest::Look(Lookup::Queue(of('b')));
    assert!(driver.requests.contains(&look));
    queue.add("new".to_owned(), at(2));
    looked(&mut driver, LookupResult::Queue(queue_view(&queue)));
    assert_eq!(chosen(&driver), "new");
    // What was chosen stays chosen when another one is done.
    driver.requests.clear();
    driver.listed(camp());
    assert!(driver.requests.contains(&look));
    queue.finish(TurnEnd::Done, at(3));
    looked(&mut driver, LookupResult::Queue(queue_view(&queue)));
    assert_eq!(chosen(&driver), "new");
}

#[test]
fn a_refused_queue_form_comes_back_over_the_popup() {
    let mut driver = camp_driver();
    driver.press("Q a").write("/bad").press("enter");
    let (job, _) = driver.tasks().remove(0);
    let report = Report::failed("x", "no such command", "do better");
    driver.done(job, Err(TaskFailure::Reported(report)));
    assert!(
        matches!(&driver.state.dialog, Some(Dialog::Send(form)) if form.prompt.text() == "/bad")
    );
    driver.press("esc");
    assert!(matches!(driver.state.dialog, Some(Dialog::Pick(_))));
}

#[test]
fn the_second_row_tells_something() {
    let mut instances = camp();
    let mut queue = Queue::default();
    for prompt in ["one", "two", "three"] {
        queue.add(prompt.to_owned(), at(0));
    }
    let (number, _) = queue.begin(at(0)).unwrap();
    queue.sent(number);
    instances[0].queue = Some(queue.counts());
    let mut driver = Driver::with(110, 30, instances);
    driver.tell(Message::Words(
        [(of('c'), "The milk is in the fridge.".to_owned())].into(),
    ));
    let screen = driver.screen();
    // What there is none of is left out.
    assert!(screen.contains("queue: turn 1 ●1 ○2"), "{screen}");
    assert!(screen.contains("The milk is in the fr"), "{screen}");
    assert!(screen.contains("biv/trusted"), "{screen}");
}

#[test]
fn at_eighty_columns_there_are_hints() {
    let driver = Driver::with(80, 24, camp());
    let screen = driver.screen();
    let bar = screen.lines().last().unwrap();
    assert!(
        bar.contains("? help") && bar.contains("enter attach"),
        "{bar}"
    );
}

#[test]
fn it_is_shown_why_autoyes_has_stopped() {
    let mut instances = camp();
    instances[0].autoyes_stopped = Some("the same dialog comes again and again".to_owned());
    let mut driver = Driver::with(110, 30, instances.clone());
    driver.press("j");
    let screen = driver.screen();
    assert!(screen.contains("autoyes stopped"), "{screen}");
    assert!(
        screen.contains("Autoyes has stopped: the same dialog comes again and again."),
        "{screen}"
    );
    instances[0].autoyes = true;
    driver.listed(instances);
    assert!(!driver.screen().contains("stopped"));
}

#[test]
fn the_lamp_says_whether_a_daemon_runs() {
    let mut driver = camp_driver();
    driver.tell(Message::Daemon(true));
    assert!(driver.screen().contains("• daemon"));
    assert!(!driver.screen().contains("autoyes: no daemon"));
    driver.tell(Message::Daemon(false));
    assert!(driver.screen().contains("no daemon"));
    assert!(driver.screen().contains("autoyes: no daemon"));
    // An agent that asks by its hook is answered all the same.
    let mut views = camp();
    for view in &mut views {
        let hook = format!(
            "/usr/bin/biv hook {} PermissionRequest 2>/dev/null || :",
            view.agent
        );
        view.command = vec!["agent".to_owned(), "--settings".to_owned(), hook];
    }
    driver.listed(views);
    assert!(driver.screen().contains("autoyes: hook only"));
    assert!(!driver.screen().contains("autoyes: no daemon"));
}
