//! Many who want different things at random, on a busy machine: in the end each has one agent, and nothing
//! is lost.

mod work;

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use work::{Worker, leftovers, visit};

use chrono::{DateTime, TimeDelta, Utc};

use crate::dice::Dice;
use crate::post::{events, process_if_any, start, status};
use crate::support::busy::Busy;
use crate::support::terminal::Terminal;
use crate::support::{Answer, Call, Camp, Instance, until};

/// Done, no such instance, wrong state, busy, and a prompt that a pause has cut off.
const ANSWERS: [i32; 5] = [0, 1, 3, 4, 7];

struct Rounds {
    processes: u64,
    instances: usize,
    lasts: Duration,
    /// Loops that keep the machine busy meanwhile.
    busy: usize,
}

/// Short, or ten minutes with `BIV_TEST_LONG`. `BIV_CHAOS=PROCESSES,INSTANCES,SECONDS,LOOPS` is for those
/// who look for the cause of a failure.
fn rounds() -> Rounds {
    let wished = std::env::var("BIV_CHAOS").ok().map(|text| {
        let numbers = text
            .split(',')
            .map(|number| number.parse().expect("a number"));
        numbers.collect::<Vec<u64>>()
    });
    let [processes, instances, seconds, busy] = match wished.as_deref() {
        Some(wished) => wished
            .try_into()
            .expect("PROCESSES,INSTANCES,SECONDS,LOOPS"),
        None if std::env::var_os("BIV_TEST_LONG").is_some() => [8, 20, 600, 10],
        None => [8, 4, 10, 4],
    };
    Rounds {
        processes,
        instances: usize::try_from(instances).unwrap(),
        lasts: Duration::from_secs(seconds),
        busy: usize::try_from(busy).unwrap(),
    }
}

/// What was said to whom, and how often it must have arrived: exactly once, never, or unknown.
struct Sent {
    id: String,
    text: String,
    times: &'static [usize],
}

/// What the answer of `send` promises: sent; refused, so that nothing was typed; or that it is not known.
fn promised(status: Option<i32>) -> &'static [usize] {
    match status {
        Some(0) => &[1],
        Some(3 | 4 | 7) => &[0],
        _ => &[0, 1],
    }
}

/// What was done to whom and what came of it, to find out how something got lost.
struct Deed {
    id: String,
    from: DateTime<Utc>,
    to: DateTime<Utc>,
    told: String,
}

/// Everything that the many leave behind.
#[derive(Default)]
struct Diary {
    strange: Mutex<Vec<String>>,
    sent: Mutex<Vec<Sent>>,
    deeds: Mutex<Vec<Deed>>,
}

impl Diary {
    /// Makes a call and writes it down.
    fn call(&self, id: &str, call: Call<'_>) -> Answer {
        let from = Utc::now();
        let answer = call.run();
        let told = format!("{} → {:?} {}", answer.call, answer.status, answer.said());
        self.did(id, from, told);
        answer
    }

    fn did(&self, id: &str, from: DateTime<Utc>, told: String) {
        self.deeds.lock().unwrap().push(Deed {
            id: id.to_owned(),
            from,
            to: Utc::now(),
            told,
        });
    }

    fn said(&self, id: &str, text: String, times: &'static [usize]) {
        self.sent.lock().unwrap().push(Sent {
            id: id.to_owned(),
            text,
            times,
        });
    }

    /// What was done to the instance, and what it went through, around the time when this was said.
    fn around(&self, camp: &Camp, id: &str, text: &str) -> String {
        let deeds = self.deeds.lock().unwrap();
        let of_it = || deeds.iter().filter(|deed| deed.id == id);
        let Some(saying) = of_it().find(|deed| deed.told.contains(text)) else {
            return String::new();
        };
        let margin = TimeDelta::seconds(20);
        let (from, to) = (saying.from - margin, saying.to + margin);
        let mut lines: Vec<(DateTime<Utc>, String)> = of_it()
            .filter(|deed| deed.from < to && deed.to > from)
            .map(|deed| {
                (
                    deed.from,
                    format!("to {} {}", clock(deed.to), deed.told.trim()),
                )
            })
            .collect();
        lines.extend(events(camp).into_iter().filter_map(|event| {
            let at: DateTime<Utc> = event["at"].as_str()?.parse().ok()?;
            let here = event["instance"] == id && at > from && at < to;
            here.then(|| (at, format!("{} {}", event["type"], event["data"])))
        }));
        lines.sort();
        lines
            .into_iter()
            .map(|(at, told)| format!("\n    {} {told}", clock(at)))
            .collect()
    }
}

fn clock(at: DateTime<Utc>) -> String {
    at.format("%H:%M:%S%.3f").to_string()
}

#[test]
fn in_the_end_each_has_one_agent_and_nothing_is_lost() {
    let Rounds {
        processes,
        instances,
        lasts,
        busy,
    } = rounds();
    let camp = Camp::new().with("BIV_MINUTE_MS", "3000");
    start(&camp);
    let repository = camp.repository("app");
    let all: Vec<Instance> = (0..instances)
        .map(|n| {
            camp.start(
                &repository,
                &format!("agent {n}"),
                &["--idle-timeout", "1m"],
            )
        })
        .collect();
    let workers: Vec<Worker> = (0..instances.div_ceil(2))
        .map(|n| Worker::start(&camp, &repository, n))
        .collect();
    let over = AtomicBool::new(false);
    let diary = Diary::default();
    let busy = Busy::loops(busy);
    let end = Instant::now() + lasts;
    std::thread::scope(|scope| {
        for number in 0..processes {
            let (camp, repository) = (&camp, &repository);
            let (all, workers, over, diary) = (&all, &workers, &over, &diary);
            scope.spawn(move || {
                let mut dice = Dice::new(number * 977 + 13);
                let mut count = 0;
                while Instant::now() < end && !over.load(Ordering::Relaxed) {
                    count += 1;
                    let tag = format!("{number}-{count}");
                    let strange = match dice.below(10) {
                        0..=5 => act(camp, dice.one_of(all), &mut dice, &tag, diary),
                        6..=8 => dice.one_of(workers).wish(camp, &mut dice, diary),
                        _ => visit(camp, repository, &tag, diary),
                    };
                    diary.strange.lock().unwrap().extend(strange);
                }
            });
        }
        // No instance ever has two agents.
        scope.spawn(|| {
            while Instant::now() < end {
                let workers = workers.iter().map(|worker| &worker.instance);
                for instance in all.iter().chain(workers) {
                    let agents = instance.processes();
                    if agents.len() > 1 {
                        let told = format!("{}: two agents {agents:?}", instance.title);
                        diary.strange.lock().unwrap().push(told);
                        over.store(true, Ordering::Relaxed);
                        return;
                    }
                }
                std::thread::sleep(Duration::from_millis(50));
            }
        });
    });
    drop(busy);
    if status(&camp)["running"] == false {
        start(&camp);
    }
    let mut wrong = settled(&camp, &all, &diary);
    wrong.extend(workers.iter().flat_map(|worker| worker.losses(&camp)));
    wrong.extend(leftovers(&camp));
    wrong.append(&mut diary.strange.lock().unwrap());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// One wish, and what of its answer is not one of those that may come.
fn act(
    camp: &Camp,
    instance: &Instance,
    dice: &mut Dice,
    tag: &str,
    diary: &Diary,
) -> Option<String> {
    let id = instance.id.as_str();
    let answer = match dice.below(20) {
        0..=3 => diary.call(id, camp.biv(["pause", id])),
        4..=6 => diary.call(id, camp.biv(["resume", id])),
        7..=12 => {
            let text = format!("message {tag}.");
            let answer = diary.call(id, camp.biv(["send", "--now", id, &text]));
            diary.said(id, text, promised(answer.status));
            answer
        }
        13..=14 => {
            let text = format!("queued {tag}.");
            let answer = diary.call(id, camp.biv(["queue", id, &text]));
            diary.said(id, text, &[0, 1]);
            answer
        }
        15..=16 => {
            let from = Utc::now();
            let person =
                Terminal::named(camp, &format!("person-{tag}"), &format!("biv attach {id}"));
            person.wait_for_any(&["ctrl-q detach", "ended with"]);
            dice.let_pass(300);
            person.press(&["C-q"]);
            person.wait_for("ended with");
            diary.did(id, from, "attach".to_owned());
            return None;
        }
        17..=18 => {
            let answer = diary.call(id, camp.biv(["kill", "-y", id]));
            drop(diary.call(id, camp.biv(["undo-kill", id])));
            answer
        }
        _ => {
            // Another process may have done so a moment ago.
            if let Some(daemon) = process_if_any(camp) {
                daemon.kill();
            }
            camp.biv(["daemon", "start"]).run()
        }
    };
    let expected = answer
        .status
        .is_some_and(|status| ANSWERS.contains(&status));
    (!expected).then(|| format!("{}: {:?} {}", answer.call, answer.status, answer.said()))
}

/// What is not as it must be when everything has come to rest.
fn settled(camp: &Camp, all: &[Instance], diary: &Diary) -> Vec<String> {
    let mut wrong = Vec::new();
    for instance in all {
        // Any lock that were stuck would show here.
        if camp.biv(["undo-kill", &instance.id]).run().status == Some(0) {
            drop(camp.biv(["resume", &instance.id]).run());
        }
        drop(camp.biv(["queue", &instance.id, "--clear"]).run().ok());
        drop(camp.biv(["timeout", &instance.id, "off"]).run().ok());
        let answer = camp.biv(["resume", &instance.id]).run();
        if answer.status != Some(0) {
            wrong.push(format!("{}: {}", instance.title, answer.said()));
            continue;
        }
        instance.wait_idle(camp);
        until("it has one agent", || instance.processes().len() == 1);
        // The conversation may have begun anew where there was no turn yet.
        let shown = Instance::from_json(&camp.show(instance));
        let prompts = shown.prompts(camp);
        let sent = diary.sent.lock().unwrap();
        for sent in sent.iter().filter(|sent| sent.id == instance.id) {
            let times = prompts
                .iter()
                .filter(|prompt| **prompt == sent.text)
                .count();
            if !sent.times.contains(&times) {
                let similar: Vec<&String> = prompts
                    .iter()
                    .filter(|prompt| prompt.contains(&sent.text))
                    .collect();
                wrong.push(format!(
                    "{}: `{}` arrived {times} times (in {similar:?}){}",
                    instance.title,
                    sent.text,
                    diary.around(camp, &instance.id, &sent.text)
                ));
            }
        }
    }
    wrong
}
