//! How soon a dialog on the screen is answered, from the first look that shows it whole.

use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use serde_json::Value;

use crate::stage::{PATIENCE, Stage};
use crate::support::Instance;
use crate::support::wait::until_within;

const DIALOGS: usize = 9;
const LIMIT: Duration = Duration::from_millis(700);
/// On a machine so busy that a look takes long, an answer takes so many times as long.
const LOOKS: u32 = 40;
const BETWEEN_LOOKS: Duration = Duration::from_millis(10);

/// When a dialog was drawn, and how long each look took.
struct Drawn {
    at: SystemTime,
    looks: Vec<Duration>,
}

/// Looks until the last row of a dialog is there. On a busy machine it may be answered between two looks, and its command
/// has made this file: then it was drawn after the look before at the earliest.
#[track_caller]
fn drawn(stage: &Stage, instance: &Instance, foot: &str, made: &Path) -> Drawn {
    let target = format!("=biv-{}:", instance.id);
    let since = Instant::now();
    let mut looks = Vec::new();
    let mut before = SystemTime::now();
    loop {
        let (began, began_at) = (Instant::now(), SystemTime::now());
        let seen = stage.camp.tmux(&["capture-pane", "-p", "-t", &target]);
        looks.push(began.elapsed());
        if String::from_utf8_lossy(&seen.stdout).contains(foot) {
            let at = SystemTime::now();
            return Drawn { at, looks };
        }
        if made.exists() {
            return Drawn { at: before, looks };
        }
        before = began_at;
        assert!(since.elapsed() < PATIENCE, "{}", stage.screen(instance));
        std::thread::sleep(BETWEEN_LOOKS);
    }
}

/// What the audit has of this command, when it says what became of the dialog.
#[track_caller]
fn settled(stage: &Stage, instance: &Instance, command: &str) -> Vec<Value> {
    let told = || format!("{command:?} is settled\n{}", stage.screen(instance));
    until_within(PATIENCE, BETWEEN_LOOKS, told, || {
        let audit = stage.camp.biv(["audit", "--json", &instance.id]).run().ok();
        let mut entries = audit.json()["entries"].as_array().cloned()?;
        entries.retain(|entry| entry["command"] == command);
        (entries.len() > 1).then_some(entries)
    })
}

/// The milliseconds of a day that a time of the audit names, as in `2026-11-17T12:27:42.063Z`.
fn millis_of_day(at: &str) -> i128 {
    let clock = at.split_once('T').unwrap().1.trim_end_matches('Z');
    let mut parts = clock.split(':').map(|part| part.parse::<f64>().unwrap());
    let seconds = parts
        .by_ref()
        .take(3)
        .fold(0.0, |all, part| all * 60.0 + part);
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a day has 86,400,000 of them"
    )]
    let millis = (seconds * 1000.0).round() as i128;
    millis
}

fn median<T: Ord + Copy>(mut values: Vec<T>) -> T {
    values.sort_unstable();
    values[values.len() / 2]
}

fn answers_soon(agent: &'static str, foot: &str) {
    const DAY: i128 = 86_400_000;
    let stage = Stage::of(agent);
    let agents = stage.camp.home().join("config/agents");
    std::fs::create_dir_all(&agents).unwrap();
    std::fs::write(
        agents.join(format!("{agent}.toml")),
        "[hooks]\noff = true\n",
    )
    .unwrap();
    let instance = Instance::from_json(&stage.new("soon", &["--autoyes"]).ok().json());
    stage.wait(&instance, "idle");
    let mut took = Vec::new();
    let mut looks = Vec::new();
    for number in 0..DIALOGS {
        let command = format!("touch made-{number}");
        let made = instance.worktree.join(format!("made-{number}"));
        // The dialog may be there before the sender is done.
        let seen = std::thread::scope(|scope| {
            scope.spawn(|| stage.send(&instance, &format!("model:run {command}")));
            drawn(&stage, &instance, foot, &made)
        });
        stage.model.request_with(&command);
        stage.wait(&instance, "idle");
        assert!(made.exists(), "{}", stage.screen(&instance));
        let entries = settled(&stage, &instance, &command);
        let outcomes: Vec<&str> = entries
            .iter()
            .filter_map(|entry| entry["outcome"].as_str())
            .collect();
        // One key, which was taken; on a busy machine perhaps after the daemon has stopped looking.
        assert!(
            matches!(outcomes[..], ["decided", "gone" | "stays"]),
            "{entries:#?}"
        );
        let decided = entries[0]["at"].as_str().unwrap();
        let since_epoch = seen.at.duration_since(SystemTime::UNIX_EPOCH).unwrap();
        let drawn = i128::try_from(since_epoch.as_millis()).unwrap() % DAY;
        took.push((millis_of_day(decided) - drawn).rem_euclid(DAY));
        looks.extend(seen.looks);
    }
    let look = median(looks);
    let limit = LIMIT.max(look * LOOKS);
    println!(
        "{agent}: answered after {took:?} ms; a look took {look:?}, so the limit is {limit:?}"
    );
    let median = median(took);
    assert!(
        median < i128::try_from(limit.as_millis()).unwrap(),
        "{median} ms"
    );
}

#[test]
fn claude_without_hooks_is_answered_soon() {
    answers_soon("claude", "Esc to cancel · Tab to amend");
}

#[test]
fn codex_without_hooks_is_answered_soon() {
    answers_soon("codex", "Press enter to confirm or esc to cancel");
}
