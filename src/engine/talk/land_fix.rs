//! Landing with corrections: an agent whose work conflicts or fails the check is told, and landing is
//! tried again when it is at rest.

use std::time::{Duration, Instant};

use crate::engine::base::view::InstanceView;
use crate::engine::base::{Core, Error, LandError, Progress, now};
use crate::engine::operate::land::options::{LandHow, LandOptions, Landed};
use crate::engine::operate::options::ResumeOptions;
use crate::engine::typing::delivery::Wording;
use crate::model::{Activity, InstanceId, State, Timestamp};

/// How long an agent must stay idle, because it may just have got the prompt.
const HOLD: Duration = Duration::from_millis(1500);
const PROBE: Duration = Duration::from_millis(200);
/// Dialogs flicker. One that stays this long is a question.
const STAYS: Duration = Duration::from_secs(1);
/// A question that autoyes has not decided on after this long is for the user, whatever keeps it.
const UNDECIDED: Duration = Duration::from_secs(60);

/// Before the rest of the prompt.
const COMMIT_FIRST: &str =
    "First commit all of your work that is in no commit yet (`git status` shows it).";

impl Core {
    /// Lands an instance. Up to `fixes` times its agent is told what is wrong.
    pub(crate) fn land_with_fixes(
        &self,
        id: &InstanceId,
        options: &LandOptions,
        fixes: u32,
        progress: &mut dyn Progress,
    ) -> Result<Landed, Error> {
        for told in 0..=fixes {
            let error = match self.land(id.as_str(), options, progress) {
                Ok(landed) => return Ok(landed),
                Err(error) => error,
            };
            let prompt = match error.innermost() {
                Error::Land(refusal) if told < fixes => fix_prompt(refusal, options.how),
                _ => None,
            };
            let Some(prompt) = prompt else {
                return Err(after_telling(error, told));
            };
            if progress.is_interrupted() {
                return Err(Error::Interrupted);
            }
            progress.note(&format!("{error}; the agent is told"));
            let view = self.show(id.as_str())?;
            if view.state != State::Running {
                self.resume(id.as_str(), &ResumeOptions::quiet(), progress)?;
                self.await_rest(id, progress)?;
            }
            // That may have taken a while. After Ctrl+C no agent is told anything.
            if progress.is_interrupted() {
                return Err(Error::Interrupted);
            }
            // With --commit a conflict is found although some work is in no commit. Git does not merge into that.
            let says_so = matches!(
                error.innermost(),
                Error::Land(LandError::Uncommitted { .. })
            );
            let prompt_as_it_is = says_so || !view.dirty.unwrap_or(options.commit);
            let prompt = match prompt_as_it_is {
                true => prompt,
                false => format!("{COMMIT_FIRST} {prompt}"),
            };
            self.send_now(id.as_str(), &prompt, Wording::Text, progress)?;
            self.await_rest(id, progress).map_err(|error| match error {
                Error::Interrupted => {
                    let title = view.title.clone();
                    LandError::FixInterrupted { title }.into()
                }
                other => other,
            })?;
            progress.note(&format!(
                "the agent of `{}` is done; trying again",
                view.title
            ));
        }
        Err(Error::Interrupted)
    }

    /// Waits until the agent is at its prompt again, or has ended. A question of the agent is for the user
    /// to answer, however long that takes.
    fn await_rest(&self, id: &InstanceId, progress: &mut dyn Progress) -> Result<(), Error> {
        let mut idle_since: Option<Instant> = None;
        let mut asks: Option<OpenQuestion> = None;
        progress.waiting("its agent works");
        loop {
            if progress.is_interrupted() {
                return Err(Error::Interrupted);
            }
            let view = self.show(id.as_str())?;
            if view.state != State::Running {
                return Ok(());
            }
            match view.activity {
                Some(Activity::Idle) => {
                    let since = *idle_since.get_or_insert_with(Instant::now);
                    if since.elapsed() >= HOLD {
                        return Ok(());
                    }
                }
                _ => idle_since = None,
            }
            if waits_for_user(&view) {
                let question = asks.get_or_insert_with(OpenQuestion::now);
                if !question.told && self.is_for_user(&view, question) {
                    let title = &view.title;
                    progress.note(&format!(
                        "`{title}` waits for you: `biv answer {title}`, or `biv attach {title}` in another terminal"
                    ));
                    question.told = true;
                }
            } else {
                asks = None;
            }
            std::thread::sleep(PROBE);
        }
    }

    /// Whether nobody but the user will answer: autoyes is off, or has left it to them.
    fn is_for_user(&self, view: &InstanceView, question: &OpenQuestion) -> bool {
        let open = question.since.elapsed();
        if !view.autoyes {
            return open >= STAYS;
        }
        open >= UNDECIDED || self.autoyes_left(&view.id, question.at)
    }
}

/// A question of the agent that is on its screen.
struct OpenQuestion {
    since: Instant,
    at: Timestamp,
    told: bool,
}

impl OpenQuestion {
    fn now() -> Self {
        Self {
            since: Instant::now(),
            at: now(),
            told: false,
        }
    }
}

fn waits_for_user(view: &InstanceView) -> bool {
    view.activity.is_some_and(Activity::needs_you)
}

/// The error after the agent was told, where that is what it says can be done.
fn after_telling(error: Error, told: u32) -> Error {
    match error {
        Error::Land(refusal) if told > 0 && is_fixable(&refusal) => LandError::NotFixed {
            told,
            refusal: Box::new(refusal),
        }
        .into(),
        error => error,
    }
}

fn is_fixable(refusal: &LandError) -> bool {
    fix_prompt(refusal, LandHow::Merge).is_some()
}

/// What the agent is told; None where it cannot do anything about it.
fn fix_prompt(refusal: &LandError, how: LandHow) -> Option<String> {
    let bring_in = |target: &str| match how {
        LandHow::Rebase => format!("Rebase your branch onto `{target}` (`git rebase {target}`)"),
        LandHow::Merge | LandHow::Squash => {
            format!("Merge the branch `{target}` into yours (`git merge {target}`)")
        }
    };
    match refusal {
        LandError::Conflict { target, files, .. } => Some(format!(
            "Your work conflicts with the branch `{target}` in: {}. {}, resolve the conflicts so \
             that both changes are kept, and commit the result.",
            files.join(", "),
            bring_in(target)
        )),
        LandError::CheckFailed {
            target,
            command,
            status,
            output,
            ..
        } => Some(format!(
            "Your work was put together with the branch `{target}`, and the check `{command}` \
             failed there with {status}. {}, correct it, and commit the result. The end of the \
             output:\n{output}",
            bring_in(target)
        )),
        LandError::Uncommitted { files, .. } => Some(format!(
            "Commit your work. These files are in no commit: {}.",
            files.join(", ")
        )),
        _ => None,
    }
}
