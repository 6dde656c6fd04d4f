//! Many who want different things at random: in the end each has one agent, and nothing is lost.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::dice::Dice;
use crate::post::{process_if_any, start, status};
use crate::support::terminal::Terminal;
use crate::support::{Camp, Instance, until};

/// Done, no such instance, wrong state, busy, and a prompt that a pause has cut off.
const ANSWERS: [i32; 5] = [0, 1, 3, 4, 7];

struct Rounds {
    processes: u64,
    instances: usize,
    lasts: Duration,
}

fn rounds() -> Rounds {
    if std::env::var_os("BIV_TEST_LONG").is_some() {
        Rounds {
            processes: 8,
            instances: 20,
            lasts: Duration::from_secs(600),
        }
    } else {
        Rounds {
            processes: 4,
            instances: 5,
            lasts: Duration::from_secs(12),
        }
    }
}

/// What was said to whom, and whether it is certain that it arrived.
struct Sent {
    id: String,
    text: String,
    certain: bool,
}

#[test]
fn in_the_end_each_has_one_agent_and_nothing_is_lost() {
    let Rounds {
        processes,
        instances,
        lasts,
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
    let over = AtomicBool::new(false);
    let strange: Mutex<Vec<String>> = Mutex::new(Vec::new());
    let sent: Mutex<Vec<Sent>> = Mutex::new(Vec::new());
    let end = Instant::now() + lasts;
    std::thread::scope(|scope| {
        for number in 0..processes {
            let (camp, all, over, strange, sent) = (&camp, &all, &over, &strange, &sent);
            scope.spawn(move || {
                let mut dice = Dice::new(number * 977 + 13);
                let mut count = 0;
                while Instant::now() < end && !over.load(Ordering::Relaxed) {
                    count += 1;
                    let instance = dice.one_of(all);
                    act(
                        camp,
                        instance,
                        &mut dice,
                        &format!("{number}-{count}"),
                        strange,
                        sent,
                    );
                }
            });
        }
        // Nobody ever has two agents.
        scope.spawn(|| {
            while Instant::now() < end {
                for instance in &all {
                    let agents = instance.processes();
                    if agents.len() > 1 {
                        let told = format!("{}: two agents {agents:?}", instance.title);
                        strange.lock().unwrap().push(told);
                        over.store(true, Ordering::Relaxed);
                        return;
                    }
                }
                std::thread::sleep(Duration::from_millis(50));
            }
        });
    });
    let mut wrong = strange.into_inner().unwrap();
    if status(&camp)["running"] == false {
        start(&camp);
    }
    wrong.extend(settled(&camp, &all, &sent.into_inner().unwrap()));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn act(
    camp: &Camp,
    instance: &Instance,
    dice: &mut Dice,
    tag: &str,
    strange: &Mutex<Vec<String>>,
    sent: &Mutex<Vec<Sent>>,
) {
    let id = instance.id.as_str();
    let answer = match dice.below(20) {
        0..=3 => camp.biv(["pause", id]).run(),
        4..=6 => camp.biv(["resume", id]).run(),
        7..=12 => {
            let text = format!("message {tag}");
            let answer = camp.biv(["send", id, &text]).run();
            sent.lock().unwrap().push(Sent {
                id: id.to_owned(),
                text,
                certain: answer.status == Some(0),
            });
            answer
        }
        13..=14 => {
            let text = format!("queued {tag}");
            let answer = camp.biv(["queue", id, &text]).run();
            sent.lock().unwrap().push(Sent {
                id: id.to_owned(),
                text,
                certain: false,
            });
            answer
        }
        15..=16 => {
            let person =
                Terminal::named(camp, &format!("person-{tag}"), &format!("biv attach {id}"));
            person.wait_for_any(&["ctrl-q detach", "ended with"]);
            dice.let_pass(300);
            person.press(&["C-q"]);
            person.wait_for("ended with");
            return;
        }
        17..=18 => {
            let answer = camp.biv(["kill", "-y", id]).run();
            drop(camp.biv(["undo-kill", id]).run());
            answer
        }
        _ => {
            // Somebody else may have done so a moment ago.
            if let Some(daemon) = process_if_any(camp) {
                daemon.kill();
            }
            camp.biv(["daemon", "start"]).run()
        }
    };
    if !answer
        .status
        .is_some_and(|status| ANSWERS.contains(&status))
    {
        let told = format!("{}: {:?} {}", answer.call, answer.status, answer.said());
        strange.lock().unwrap().push(told);
    }
}

/// What is not as it must be when everything has come to rest.
fn settled(camp: &Camp, all: &[Instance], sent: &[Sent]) -> Vec<String> {
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
        for sent in sent.iter().filter(|sent| sent.id == instance.id) {
            let times = prompts
                .iter()
                .filter(|prompt| **prompt == sent.text)
                .count();
            if times > 1 || (sent.certain && times == 0) {
                wrong.push(format!(
                    "{}: `{}` arrived {times} times",
                    instance.title, sent.text
                ));
            }
        }
    }
    wrong
}
