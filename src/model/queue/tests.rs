use proptest::prelude::*;

use super::*;

fn now() -> Timestamp {
    Timestamp::from_epoch(1_800_000_000).unwrap()
}

#[test]
fn one_at_a_time_in_order() {
    let mut queue = Queue::default();
    for prompt in ["a", "b", "c"] {
        queue.add(prompt.to_owned(), now());
    }
    let (first, prompt) = queue.begin(now()).unwrap();
    assert_eq!(prompt, "a");
    assert_eq!(queue.begin(now()), None, "one is being typed");
    queue.sent(first);
    assert_eq!(queue.begin(now()), None, "its turn is under way");
    queue.finish(TurnEnd::Done, now());
    assert_eq!(queue.begin(now()).unwrap().1, "b");
}

#[test]
fn a_batch_is_put_ahead_once() {
    let mut queue = Queue::default();
    queue.add("later".to_owned(), now());
    let batch = ["one", "two", "one"].map(str::to_owned);
    let at = Timestamp::from_epoch(1_800_000_001).unwrap();
    queue.put_batch_ahead(&batch, at);
    queue.put_batch_ahead(&batch, at);
    let prompts = |queue: &Queue| -> Vec<String> {
        let entries = queue.entries.iter();
        entries.map(|entry| entry.prompt.clone()).collect()
    };
    assert_eq!(prompts(&queue), ["one", "two", "one", "later"]);
    // Those of another pause are others.
    queue.put_batch_ahead(&batch, now());
    assert_eq!(queue.entries.len(), 7);
}

#[test]
fn a_failure_stops_the_queue_until_a_prompt_is_added() {
    let mut queue = Queue::default();
    queue.add("a".to_owned(), now());
    queue.add("b".to_owned(), now());
    queue.begin(now());
    queue.finish(TurnEnd::Failed("blocked".to_owned()), now());
    assert_eq!(queue.stopped.as_deref(), Some("blocked"));
    assert_eq!(queue.begin(now()), None);
    queue.add("c".to_owned(), now());
    queue.hold("cut off");
    assert_eq!(queue.begin(now()), None);
    queue.restart();
    assert_eq!(queue.begin(now()).unwrap().1, "b");
    // The end of the turn decides.
    queue.hold("cut off");
    assert_eq!(queue.stopped, None);
}

#[test]
fn what_is_to_be_sent_at_once_comes_before_what_was_queued_in_its_order() {
    let mut queue = Queue::default();
    queue.add("a".to_owned(), now());
    queue.add("b".to_owned(), now());
    queue.begin(now());
    let first = queue.put_ahead("first".to_owned(), now());
    let second = queue.put_ahead("second".to_owned(), now());
    let prompts: Vec<&str> = queue.entries.iter().map(|e| e.prompt.as_str()).collect();
    assert_eq!(prompts, ["a", "first", "second", "b"]);
    assert_eq!(
        queue.begin_prompt(first, now()),
        QueueStart::NotYet,
        "a is typed"
    );
    queue.finish(TurnEnd::Failed("blocked".to_owned()), now());
    assert_eq!(queue.begin_prompt(second, now()), QueueStart::NotYet);
    assert_eq!(queue.begin_prompt(first, now()), QueueStart::Now);
    assert_eq!(queue.begin_prompt(first, now()), QueueStart::ByAnother);
    queue.remove_prompt(first);
    assert_eq!(queue.begin_prompt(first, now()), QueueStart::Removed);
    assert_eq!(queue.stopped.as_deref(), Some("blocked"), "as it was");
    assert_eq!(queue.remove_last_ahead().as_deref(), Some("second"));
    assert_eq!(queue.remove_last_ahead(), None, "b was queued");
    assert_eq!(queue.counts().waiting, 1);
}

#[test]
fn what_waits_is_moved_and_dropped_and_nothing_else() {
    let mut queue = Queue::default();
    let numbers: Vec<u64> = ["a", "b", "c", "d"]
        .map(|prompt| queue.add(prompt.to_owned(), now()))
        .to_vec();
    let order =
        |queue: &Queue| -> String { queue.entries.iter().map(|it| it.prompt.as_str()).collect() };
    queue.begin(now()).unwrap();
    queue.move_waiting(numbers[1], true);
    assert_eq!(order(&queue), "abcd", "not before the one under way");
    queue.move_waiting(numbers[3], true);
    assert_eq!(order(&queue), "abdc");
    queue.move_waiting(numbers[1], false);
    assert_eq!(order(&queue), "adbc");
    queue.move_waiting(numbers[2], false);
    assert_eq!(order(&queue), "adbc");
    queue.put_ahead("x".to_owned(), now());
    queue.move_waiting(numbers[3], true);
    assert_eq!(order(&queue), "axdbc", "not before what was sent");
    assert!(!queue.drop_waiting(numbers[0]));
    assert!(queue.drop_waiting(numbers[1]));
    assert_eq!(order(&queue), "axdc");
}

#[derive(Debug, Clone)]
enum Act {
    Add,
    Begin,
    Sent,
    Done,
    Fail,
    Clear,
}

proptest! {
    #[test]
    fn each_is_begun_at_most_once_and_in_order(acts in prop::collection::vec(
        prop_oneof![
            3 => Just(Act::Add), 3 => Just(Act::Begin), 3 => Just(Act::Sent),
            3 => Just(Act::Done), 1 => Just(Act::Fail), 1 => Just(Act::Clear),
        ], 0..200)) {
        let mut queue = Queue::default();
        let mut begun = Vec::new();
        for act in acts {
            match act {
                Act::Add => drop(queue.add("x".to_owned(), now())),
                Act::Begin => begun.extend(queue.begin(now()).map(|(number, _)| number)),
                Act::Sent => {
                    if let Some(number) = queue.current().map(|entry| entry.number) {
                        queue.sent(number);
                    }
                }
                Act::Done => drop(queue.finish(TurnEnd::Done, now())),
                Act::Fail => drop(queue.finish(TurnEnd::Failed("x".to_owned()), now())),
                Act::Clear => drop(queue.clear()),
            }
            prop_assert!(queue.counts().running <= 1);
            prop_assert!(begun.windows(2).all(|pair| pair[0] < pair[1]));
            let over = queue.counts().done + queue.counts().failed;
            prop_assert!(over <= REMEMBERED as u64);
            let text = serde_json::to_string(&queue).unwrap();
            prop_assert_eq!(&serde_json::from_str::<Queue>(&text).unwrap(), &queue);
        }
    }
}

#[test]
fn a_turn_that_was_cut_off_is_told_until_the_user_acts() {
    let cut = || {
        let mut queue = Queue::default();
        queue.tell_of_cut(now());
        assert_eq!(queue.cut_at, Some(now()));
        queue
    };
    let acts: [fn(&mut Queue); 3] = [Queue::looked_at, Queue::restart, |queue| {
        assert_eq!(queue.clear(), 0);
    }];
    for act in acts {
        let mut queue = cut();
        act(&mut queue);
        assert_eq!(queue.cut_at, None);
    }
}
