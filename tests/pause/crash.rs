//! SIGKILL at every step of every operation, over many states; then any command, and nothing is
//! lost, no agent runs twice, nothing is left over.

use std::time::{Duration, Instant};

use serde_json::Value;

use crate::crowd;
use crate::ground::{Ground, long, state, states};
use crate::states::State;

/// Different in what git, the file system and the program have to do for them.
const TEN_STATES: [&str; 10] = [
    "mixed",
    "ignored",
    "odd-names",
    "conflict-kinds",
    "rebase-conflict",
    "skip-worktree",
    "read-only-directory",
    "nested-repository",
    "detached",
    "hard-links",
];

/// For how long an operation may be left alone.
const TAKEN_UP: Duration = Duration::from_secs(60);

/// A way to bring an instance into an operation, and back to where it began.
struct Story {
    name: &'static str,
    /// Brings a running instance to where the operation begins.
    prepare: &'static [&'static [&'static str]],
    operation: &'static [&'static str],
    /// What the instance is before the operation, and after it.
    from: &'static str,
    to: &'static str,
}

const STORIES: [Story; 7] = [
    Story {
        name: "pause",
        prepare: &[],
        operation: &["pause"],
        from: "running",
        to: "paused",
    },
    Story {
        name: "pause, thinned",
        prepare: &[],
        operation: &["pause", "--remove-worktree"],
        from: "running",
        to: "paused",
    },
    Story {
        name: "resume",
        prepare: &[&["pause"]],
        operation: &["resume"],
        from: "paused",
        to: "running",
    },
    Story {
        name: "resume, thinned",
        prepare: &[&["pause", "--remove-worktree"]],
        operation: &["resume"],
        from: "paused",
        to: "running",
    },
    Story {
        name: "restart",
        prepare: &[],
        operation: &["restart", "-y"],
        from: "running",
        to: "running",
    },
    Story {
        name: "restart, paused",
        prepare: &[&["pause"]],
        operation: &["restart", "-y"],
        from: "paused",
        to: "running",
    },
    Story {
        name: "kill",
        prepare: &[],
        operation: &["kill", "-y"],
        from: "running",
        to: "killed",
    },
];

/// The next command takes the operation up.
const NEXT_COMMANDS: [&[&str]; 5] = [&["list"], &["show"], &["doctor"], &["peek"], &["runs"]];

/// The steps of the operation that the journal tells of.
struct Plan {
    operation: String,
    reversible: Vec<String>,
    forward: Vec<String>,
}

impl Plan {
    fn of_last(ground: &Ground) -> Self {
        let plan = ground.journal()[0]["plan"].clone();
        let steps = |key: &str| -> Vec<String> {
            let steps = plan[key].as_array().expect("a plan has steps");
            steps
                .iter()
                .map(|step| step.as_str().unwrap().to_owned())
                .collect()
        };
        Self {
            operation: plan["operation"].as_str().unwrap().to_owned(),
            reversible: steps("reversible"),
            forward: steps("forward"),
        }
    }

    fn place(&self, step: &str, moment: &str) -> String {
        format!("{}:{step}:{moment}", self.operation)
    }
}

/// One state with all that is done to it.
struct Trial<'a> {
    ground: Ground,
    story: &'a Story,
    plan: Plan,
    cases: usize,
    losses: Vec<String>,
}

impl<'a> Trial<'a> {
    /// Goes through the operation once without harm, which tells its steps.
    fn new(state: &State, story: &'a Story) -> Self {
        let ground = Ground::made(state);
        let mut trial = Self {
            plan: Plan {
                operation: String::new(),
                reversible: Vec::new(),
                forward: Vec::new(),
            },
            ground,
            story,
            cases: 0,
            losses: Vec::new(),
        };
        trial.begin();
        drop(trial.ground.biv(story.operation).ok());
        trial.plan = Plan::of_last(&trial.ground);
        trial.check("without a crash", &[story.to]);
        trial
    }

    fn begin(&self) {
        for command in self.story.prepare {
            drop(self.ground.biv(command).ok());
        }
    }

    fn crash(&self, place: &str) -> bool {
        let answer = self.ground.call(self.story.operation).crash_at(place).run();
        answer.status.is_none()
    }

    /// The command that takes the operation up, itself cut off at this place. On a busy machine the first look may leave
    /// the operation alone: a process that the crashed command was just starting holds its lock until it has become
    /// another program, or tmux answers too late.
    fn crash_again(&mut self, place: &str) {
        let under_way = |shown: &Value| {
            let state = shown["state"].as_str().unwrap_or_default();
            state.ends_with("ing") && state != "running"
        };
        let since = Instant::now();
        loop {
            let call = self.ground.call(&["show", "--json"]);
            let answer = call.crash_at(place).run();
            if answer.status.is_none() {
                return;
            }
            let shown = serde_json::from_str(&answer.stdout).unwrap_or_default();
            if !under_way(&shown) || since.elapsed() > TAKEN_UP {
                let said = format!("{}{}", answer.stdout, answer.stderr);
                self.losses
                    .push(format!("{place}: did not crash again: {said}"));
                return;
            }
        }
    }

    fn next_command(&self) {
        let command = NEXT_COMMANDS[self.cases % NEXT_COMMANDS.len()];
        let answer = match command {
            ["list" | "doctor"] => self.ground.camp.biv(command).run(),
            _ => self.ground.biv(command),
        };
        // What it prints is its own business; that it brings things to rest is looked at below.
        drop(answer);
    }

    fn check(&mut self, when: &str, allowed: &[&str]) {
        self.cases += 1;
        let wrong = self.ground.losses(allowed);
        if !wrong.is_empty() {
            let case = format!("{} {when}", self.story.name);
            self.losses
                .push(format!("{case}:\n    {}", wrong.join("\n    ")));
        }
    }

    /// Before the line it is what it was; one that was to be killed may have lost its agent.
    fn rests_before_the_line(&self) -> Vec<&'static str> {
        match self.story.to {
            "killed" => vec!["running", "failed", "completed"],
            _ => vec![self.story.from],
        }
    }

    /// A crash before and after each step, one at a time.
    fn at_each_step(&mut self) {
        let steps: Vec<(String, bool)> = self
            .plan
            .reversible
            .iter()
            .map(|step| (step.clone(), false))
            .chain(self.plan.forward.iter().map(|step| (step.clone(), true)))
            .collect();
        for (step, crossed) in steps {
            for moment in ["before", "after"] {
                let place = self.plan.place(&step, moment);
                self.begin();
                if !self.crash(&place) {
                    self.losses.push(format!("{place}: did not crash"));
                }
                self.next_command();
                let allowed = if crossed {
                    vec![self.story.to]
                } else {
                    self.rests_before_the_line()
                };
                self.check(&format!("after a crash at {place}"), &allowed);
            }
        }
    }

    /// Turned back at its last moment, and every command that takes it back crashes too.
    fn on_the_way_back(&mut self) {
        let Some(last) = self.plan.reversible.last().cloned() else {
            return;
        };
        self.begin();
        self.crash(&self.plan.place(&last, "after"));
        for step in self.plan.reversible.clone().iter().rev() {
            for moment in ["undo", "undone"] {
                let place = self.plan.place(step, moment);
                self.crash_again(&place);
            }
        }
        self.next_command();
        let allowed = self.rests_before_the_line();
        self.check("after a crash at each step back", &allowed);
    }

    /// Cut off behind its line, and every command that carries it on crashes too.
    fn on_the_way_on(&mut self) {
        let forward = self.plan.forward.clone();
        let Some(first) = forward.first() else {
            return;
        };
        self.begin();
        self.crash(&self.plan.place(first, "before"));
        for step in &forward {
            for moment in ["before", "after"] {
                let place = self.plan.place(step, moment);
                self.crash_again(&place);
            }
        }
        self.next_command();
        self.check("after a crash at each step on", &[self.story.to]);
    }
}

/// Which stories a state goes through.
enum Share {
    All,
    /// Each operation, but of two ways to come to it one only.
    Half,
}

fn run(states: &[State], share: &Share) {
    let only = std::env::var("STORY").ok();
    let mut pairs: Vec<(&State, &Story)> = Vec::new();
    for (number, state) in states.iter().enumerate() {
        for (turn, story) in STORIES.iter().enumerate() {
            let told = match (&only, share) {
                (Some(only), _) => only == story.name,
                (None, Share::All) => true,
                (None, Share::Half) => turn == STORIES.len() - 1 || turn % 2 == number % 2,
            };
            if told {
                pairs.push((state, story));
            }
        }
    }
    let results = crowd::each(&pairs, |(state, story)| {
        let mut trial = Trial::new(state, story);
        trial.at_each_step();
        trial.on_the_way_back();
        trial.on_the_way_on();
        (trial.cases, trial.losses)
    });
    let mut cases = 0;
    let mut losses = Vec::new();
    for ((state, story), result) in pairs.iter().zip(results) {
        match result {
            Ok((count, found)) => {
                cases += count;
                losses.extend(found.iter().map(|loss| format!("{}: {loss}", state.name)));
            }
            Err(panic) => losses.push(format!("{}: {}: {panic}", state.name, story.name)),
        }
    }
    println!(
        "{cases} crashes over {} states, {} losses",
        states.len(),
        losses.len()
    );
    assert!(losses.is_empty(), "\n{}", losses.join("\n"));
}

#[test]
fn a_crash_at_any_step_loses_nothing() {
    if std::env::var_os("STATE").is_some() {
        run(&states(), &Share::All);
    } else {
        run(&TEN_STATES.map(state), &Share::Half);
    }
}

#[test]
fn a_crash_at_any_step_loses_nothing_in_any_state() {
    if long() {
        let states: Vec<State> = states()
            .into_iter()
            // `biv new` starts from a commit.
            .filter(|state| !state.name.starts_with("unborn"))
            .collect();
        assert!(std::env::var_os("STATE").is_some() || states.len() >= 100);
        // Both ways of everything would be twenty thousand crashes; `STATE` alone goes through them.
        run(&states, &Share::Half);
    }
}

/// What is freed from the disk is no change of the work: the snapshot goes on saying what it was.
#[test]
fn a_crash_while_the_disk_is_freed_leaves_the_snapshot_whole() {
    let ground = Ground::made(&state("mixed"));
    let before = ground.biv(&["diff"]).ok().stdout;
    assert!(before.contains("on disk"), "{before}");
    for step in ["free-worktree", "thin-worktree"] {
        let call = ground.call(&["pause", "--remove-worktree"]);
        let crashed = call.crash_at(&format!("pause:{step}:after")).run();
        assert_eq!(crashed.status, None, "there is no step {step}");
        assert_eq!(ground.state(), "paused");
        assert_eq!(ground.biv(&["diff"]).ok().stdout, before, "after {step}");
        assert_eq!(ground.losses(&["paused"]), Vec::<String>::new());
    }
}
