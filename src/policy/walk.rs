//! Where the commands of a line run: every `cd` is followed, and what is not certain counts both ways.

use std::path::{Path, PathBuf};

use super::paths::{PathContext, absolute, physical};
use super::shell::{Joined, Simple};

/// The directories in which the next command may run.
#[derive(Debug, Clone)]
pub(super) struct Walk {
    after_success: Vec<PathBuf>,
    after_failure: Vec<PathBuf>,
    /// Those of the pipeline that is being read.
    pipeline: Vec<PathBuf>,
    /// For each open group: whether it is a subshell, and where the shell around it may be.
    groups: Vec<(bool, Vec<PathBuf>)>,
    /// Every directory so far.
    ever: Vec<PathBuf>,
    only_moved: bool,
}

impl Walk {
    pub(super) fn new(start: &Path) -> Self {
        let here = vec![start.to_owned()];
        Self {
            after_success: here.clone(),
            after_failure: here.clone(),
            pipeline: here.clone(),
            groups: Vec::new(),
            ever: here,
            only_moved: true,
        }
    }

    /// The directories in which this command may run.
    pub(super) fn enter(&mut self, command: &Simple) -> Vec<PathBuf> {
        let places = match command.joined {
            Joined::Always => union(&self.after_success, &self.after_failure),
            Joined::And => self.after_success.clone(),
            Joined::Or => self.after_failure.clone(),
            Joined::Pipe => self.pipeline.clone(),
        };
        // What cannot run by this account is judged as if it could run anywhere.
        let places = if places.is_empty() {
            self.ever.clone()
        } else {
            places
        };
        for subshell in &command.opens {
            let around = union(&self.after_success, &self.after_failure);
            self.groups.push((*subshell, union(&around, &places)));
        }
        self.pipeline.clone_from(&places);
        places
    }

    /// Takes in what the command leaves behind. Only a `cd` that stands alone is allowed to have an effect.
    pub(super) fn leave(
        &mut self,
        command: &Simple,
        places: Vec<PathBuf>,
        context: &PathContext<'_>,
    ) {
        let target = match &command.words[..] {
            [program, target] if program.text == "cd" => Some(target.text.as_str()),
            _ => None,
        };
        let (success, failure) = match target {
            Some(target) => {
                let moved = moved(&places, target, context);
                let stays = if self.is_certain(target, &places, context) {
                    Vec::new()
                } else {
                    places
                };
                (moved, stays)
            }
            None => {
                self.only_moved = false;
                (places.clone(), places)
            }
        };
        match command.joined {
            Joined::Always => {
                self.after_success = success;
                self.after_failure = failure;
            }
            Joined::Pipe => {
                self.after_success = union(&self.after_success, &success);
                self.after_failure = union(&self.after_failure, &failure);
            }
            Joined::And => {
                self.after_success = success;
                self.after_failure = union(&self.after_failure, &failure);
            }
            Joined::Or => {
                self.after_success = union(&self.after_success, &success);
                self.after_failure = failure;
            }
        }
        self.ever = union(&self.ever, &union(&self.after_success, &self.after_failure));
        for _ in 0..command.closes {
            if let Some((true, around)) = self.groups.pop() {
                self.after_success.clone_from(&around);
                self.pipeline.clone_from(&around);
                self.after_failure = around;
            }
        }
    }

    /// Whether a `cd` must succeed: nothing ran before it that could have moved the directory away.
    fn is_certain(&self, target: &str, places: &[PathBuf], context: &PathContext<'_>) -> bool {
        let upwards = target
            .split('/')
            .all(|part| part == ".." || part.is_empty());
        upwards
            || (self.only_moved
                && places.iter().all(|place| {
                    physical(target, place, context)
                        .is_some_and(|path| context.resolver.entries(&path).is_some())
                }))
    }
}

/// Both ways in which a shell may read `..` behind a link.
fn moved(places: &[PathBuf], target: &str, context: &PathContext<'_>) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for place in places {
        let ways = [
            absolute(target, place, context),
            physical(target, place, context),
        ];
        for way in ways.into_iter().flatten() {
            if !found.contains(&way) {
                found.push(way);
            }
        }
    }
    found
}

fn union(some: &[PathBuf], others: &[PathBuf]) -> Vec<PathBuf> {
    let mut all = some.to_vec();
    all.extend(others.iter().filter(|place| !some.contains(place)).cloned());
    all
}
