//! What the user can do about an error.

use crate::config::ConfigError;
use crate::engine::{Error, GitError, Unanswerable};
use crate::lifecycle::Operation;
use crate::model::{Activity, Holder, InstanceId, State, Title};
use crate::report::outside::{self, KEEPS, conflict_hint};
use crate::report::word::word;

/// What the user can do. Every error is listed, so that a new error needs a decision here.
pub(super) fn hints(error: &Error) -> Vec<String> {
    let hint = match error {
        Error::TakenBack {
            operation: Operation::Resume,
            title,
            source,
        } => match resume_hint(&word(title), source.innermost()) {
            Some(hint) => hint,
            None => return hints(source),
        },
        Error::TakenBack { source, .. } => return hints(source),
        Error::PromptNotSent {
            title,
            source,
            queued: true,
            ..
        } => {
            let mut hints = hints(source);
            hints.push(format!(
                "the prompt waits in its queue and is sent as soon as it is ready: `biv queue {}`",
                word(title)
            ));
            return hints;
        }
        Error::PromptNotSent { title, source, .. } => {
            let mut hints = hints(source);
            hints.push(format!(
                "then send it again with `biv send {} …`",
                word(title)
            ));
            return hints;
        }
        Error::Stuck { source, .. } => {
            let mut hints = hints(source);
            hints.push("nothing is lost; the next `biv` command continues it".to_owned());
            return hints;
        }
        Error::NoSuchInstance { given } if given.contains(':') => {
            "`biv list` shows all instances, `biv host list` all hosts".to_owned()
        }
        Error::NoSuchInstance { .. } => "`biv list` shows all instances".to_owned(),
        Error::Ended {
            id,
            landed_on: Some(_),
            ..
        } => format!(
            "`biv undo-land {id}` takes that back, `biv undo-kill {id}` only brings the instance back"
        ),
        Error::Ended { id, .. } => format!("`biv undo-kill {id}` brings it back, paused"),
        Error::NoSuchKilled { .. } => {
            "`biv list --state killed` shows those that were killed".to_owned()
        }
        Error::NotKilled { title, state } => match state {
            State::Running => format!("`biv attach {}` goes on with it", word(title)),
            state => from_state(&word(title), *state),
        },
        Error::Ambiguous { candidates, .. } => {
            let list: Vec<String> = candidates
                .iter()
                .map(|one| {
                    let twins = candidates.iter().filter(|other| other.title == one.title);
                    match twins.count() {
                        1 => format!("{} ({})", one.title, one.id),
                        _ => format!("{}/{} ({})", one.repository, one.title, one.id),
                    }
                })
                .collect();
            format!("say which: {}", list.join(", "))
        }
        Error::WrongState { title, state, .. } => from_state(&word(title), *state),
        Error::Away { title, id, holder } => away_hint(title, id, holder),
        Error::OtherLease { .. } => {
            "another move has come first; `biv list` shows where it is".to_owned()
        }
        Error::ChangedMeanwhile { .. } => "it is still here; run the command again".to_owned(),
        Error::NotExportable { title, state } => match state {
            State::Running => format!("pause it first: `biv pause {}`", word(title)),
            _ => format!(
                "only a paused instance travels: `biv resume {0}`, then `biv pause {0}`",
                word(title)
            ),
        },
        Error::NoKey => {
            "name one with `--key FILE`, or make an ssh key: `ssh-keygen -t ed25519`".to_owned()
        }
        Error::NoAge => {
            "install it (`apt install age`, `brew install age`), or export with --plain".to_owned()
        }
        Error::NotEncrypted { .. } => {
            "`--key FILE` names a public ssh key or a file of age recipients".to_owned()
        }
        Error::NotDecrypted { .. } => {
            "`--key FILE` names the private key that it was encrypted for".to_owned()
        }
        Error::AtUsageLimit { title, .. } => format!(
            "`biv send {}` without `--now` queues the prompt until then",
            word(title)
        ),
        Error::NeedsPerson {
            title, activity, ..
        } => match activity {
            Activity::Approval | Activity::Question => {
                format!("`biv answer {}` shows what it asks", word(title))
            }
            Activity::Menu => format!("`biv attach {}` and close it", word(title)),
            _ => format!("`biv attach {}` and answer it", word(title)),
        },
        Error::Busy { title, .. } => {
            format!("try again when it is done; see `biv show {}`", word(title))
        }
        Error::TitleTaken { title } => {
            format!("choose another title, or `biv attach {}`", word(title))
        }
        Error::BranchHeld { id, .. } => {
            format!(
                "a branch can have only one instance: use another branch, or end that instance with `biv kill {id}`"
            )
        }
        Error::Title(_) => "a title is free text, such as `fix the login`".to_owned(),
        Error::NoSuchBase { .. } => "give a branch, tag or commit with --base".to_owned(),
        Error::NoCommits { .. } => {
            "make a first commit: `git commit --allow-empty -m \"first\"`".to_owned()
        }
        Error::AgentMissing { .. } => {
            "`biv agents` lists what is installed; `-a demo` needs nothing".to_owned()
        }
        Error::SealBranch { branch, .. } => format!(
            "a sealed agent needs a branch in a directory of its own: leave out --branch, or give `--branch {}/work`",
            if branch.is_empty() {
                "NAME"
            } else {
                branch.as_str()
            }
        ),
        Error::SealPath { .. } => "mend `seal.read`, `seal.write` or the agent's file".to_owned(),
        Error::SealHost { .. } => {
            "write `example.org`, `*.example.org` or `example.org:8443`".to_owned()
        }
        Error::InsideSeal => "ask the user to run it outside".to_owned(),
        Error::UnknownAgent(unknown) => match &unknown.suggestion {
            Some(suggestion) => format!("did you mean `{suggestion}`? `biv agents` lists them all"),
            None => format!("known are {}", unknown.known.join(", ")),
        },
        Error::NoAgent { .. } => {
            "install one of them; `-a demo` starts the built-in demo agent".to_owned()
        }
        Error::AgentDied { .. } => "run its command by hand to see what it needs".to_owned(),
        Error::NotReady { title, .. } => format!(
            "`biv peek {}` shows its screen; `launch.ready` sets the limit",
            word(title)
        ),
        Error::DraftInTheWay { title } => {
            format!("`biv attach {}`, and submit or delete it", word(title))
        }
        Error::PasteInTheWay { title } => format!(
            "`biv attach {}`, and submit or delete it; `biv pause --now` pauses without it",
            word(title)
        ),
        Error::LongDraftInTheWay { title } => format!(
            "`biv attach {}`, and submit or shorten it; `biv pause --now` keeps what it shows",
            word(title)
        ),
        Error::WorktreeAway { title, state, .. } => from_state(&word(title), *state),
        Error::NothingToRun => "`biv exec INSTANCE -- COMMAND`".to_owned(),
        Error::Unanswerable { title, why } => match why {
            Unanswerable::NoDialog => format!("`biv peek {}` shows its screen", word(title)),
            Unanswerable::Another | Unanswerable::Changed | Unanswerable::NoField => {
                format!("`biv answer {}` shows what it asks now", word(title))
            }
            Unanswerable::AnsweredByHook => format!("`biv audit {}` shows it", word(title)),
            Unanswerable::NotALine => {
                format!("without line ends: `biv answer {} 'TEXT'`", word(title))
            }
            Unanswerable::Typing
            | Unanswerable::ReadsKeys
            | Unanswerable::TakesMarks
            | Unanswerable::FieldOpen
            | Unanswerable::LeftInField => {
                format!("answer it there: `biv attach {}`", word(title))
            }
        },
        Error::NoSuchChoice { choices, .. } => match numbered(choices) {
            Some(list) => format!("it offers {list}"),
            None => "`biv attach` shows it".to_owned(),
        },
        Error::ReasonWithoutNo => "`biv answer INSTANCE no --reason TEXT`".to_owned(),
        Error::CannotArrive { .. } => {
            "begin it with a word, or `biv send --raw` to type it as it is".to_owned()
        }
        Error::UnknownCommand { .. } => {
            "begin it with a word to send it as text: `about /x: …`".to_owned()
        }
        Error::NotSubmitted => "`biv attach` shows it in the agent's input box".to_owned(),
        Error::NoTurn { title } => format!(
            "`biv attach {}` shows what became of it; send it again if it is not there",
            word(title)
        ),
        Error::NotKnown { title } => format!(
            "`biv log {}` shows the prompts that arrived; send it again if it is not there",
            word(title)
        ),
        Error::NothingToSend => "give a prompt, or `-` to read it from standard input".to_owned(),
        Error::ReviewPlace { .. } | Error::ReviewEmpty { .. } => {
            "a comment is `FILE:LINE: TEXT` or `FILE:FIRST-LAST: TEXT`".to_owned()
        }
        Error::MainCheckout { .. } => {
            "`biv new` makes a worktree of its own for the agent".to_owned()
        }
        Error::AlreadyManaged { title, .. } => format!("`biv attach {}`", word(title)),
        Error::ConsentNeeded { .. } => {
            "read it, then `biv new --trust-setup` runs it from now on; `--no-setup` skips it"
                .to_owned()
        }
        Error::SetupFailed { .. } => {
            "correct it in .bivouac.toml, or skip it with `--no-setup`".to_owned()
        }
        Error::ForeignState { .. } => {
            "name the file with --file; `biv adopt DIR` adopts a single worktree".to_owned()
        }
        Error::NoBranch { .. } => "make one in its worktree: `git switch -c NAME`".to_owned(),
        Error::NoPullRequest { title } => {
            format!("`biv pr {}` opens one", word(title))
        }
        Error::NoRemote { .. } => "add one: `git remote add origin URL`".to_owned(),
        Error::NoTerminal => {
            "run it from a terminal; `biv peek` shows the screen without one".to_owned()
        }
        Error::NotAttached { .. } => {
            "try again; `biv doctor` checks tmux, and TERM must name a terminal that tmux knows"
                .to_owned()
        }
        Error::NoSuchSnapshot { title, .. } => {
            format!("`biv snapshots {}` lists them", word(title))
        }
        Error::NothingKept { .. } => "`snapshots.keep` sets for how long it is kept".to_owned(),
        Error::Unsavable { .. } => {
            "remove them, or keep the worktree: `--keep-worktree`".to_owned()
        }
        Error::Space { .. } => "free some space; nothing was changed".to_owned(),
        Error::SnapshotDiffers { .. } => {
            "a process writes into the worktree; stop it and try again".to_owned()
        }
        Error::WorktreeMissing { .. } => {
            "restore the directory, or `biv kill` the instance; its branch still exists".to_owned()
        }
        Error::Vault { .. } | Error::Fact(_) => {
            "it was not changed; use the version of biv that wrote it".to_owned()
        }
        Error::Cancelled => "the agent continues as before".to_owned(),
        Error::Interrupted => {
            "everything was rolled back; run the command again to start over".to_owned()
        }
        Error::Unsent => "to send it after all, run `biv send` again".to_owned(),
        Error::CannotResume { title, .. } => {
            format!(
                "start a new conversation with `biv restart {}`",
                word(title)
            )
        }
        Error::RepositoryMoved { recorded, .. } => format!(
            "if you moved it: `biv repo moved {} NEW`, or run this inside of it",
            path_word(recorded)
        ),
        Error::NoSuchRepository { .. } => {
            "`biv list --json` names the repository of each instance".to_owned()
        }
        Error::RepositoryStillThere { .. } => {
            "instances stay with the original; `biv new` in the copy gives the copy its own id"
                .to_owned()
        }
        Error::Conflict { .. } => conflict_hint(""),
        Error::Land(error) => super::land::hint(error),
        Error::Host(error) => super::host::hint(error),
        Error::Remote(error) => super::remote::hint(error),
        Error::Survivors(_) => {
            "they are stuck in the kernel, perhaps on a dead network mount; run `biv doctor`"
                .to_owned()
        }
        Error::Inside { leave, .. } => format!(
            "run it in another terminal; if you are attached, {leave} detaches from the instance"
        ),
        Error::DaemonNotStarted { log } => {
            format!(
                "see {}, or run `biv daemon run` in the foreground",
                log.display()
            )
        }
        Error::Home(_) => "set BIV_HOME to a directory".to_owned(),
        Error::Config(ConfigError::UnknownKey {
            nearest: Some(nearest),
            ..
        }) => format!("did you mean `{nearest}`? `biv config show` prints all keys"),
        Error::Config(_) => "`biv config show` prints all keys with their defaults".to_owned(),
        Error::Repository(_) => "correct it, or skip it with `--no-setup`".to_owned(),
        Error::Catalog(_) => {
            "correct or remove that file; `biv agents` then lists all agents".to_owned()
        }
        Error::Key(_) => {
            "set `terminal.detach_key` to a key such as C-q, `terminal.next_key` to one such as M-!"
                .to_owned()
        }
        Error::AgentLaunch(_) | Error::Launch(_) => "run `biv doctor` to find the cause".to_owned(),
        Error::Files { source, .. } => outside::file(source),
        Error::Process(failure) => outside::process(failure),
        Error::NotRunnable { program, title, .. } => not_runnable(program, &word(title)),
        Error::Store(error) => outside::store(error),
        Error::Git(error) => outside::git(error),
        Error::Tmux(error) => outside::tmux(error),
    };
    vec![hint]
}

/// The hint for a failed resume, if the remedy is another resume.
fn resume_hint(title: &str, error: &Error) -> Option<String> {
    match error {
        Error::Conflict { .. } | Error::Git(GitError::Conflict { .. }) => {
            Some(conflict_hint(&format!("biv resume {title} ")))
        }
        Error::Git(GitError::BranchInUse { path, .. }) => Some(format!(
            "switch {} to another branch, then `biv resume {title}`",
            path.display()
        )),
        Error::Git(GitError::PathTaken { .. }) => {
            Some(format!("move it away, then `biv resume {title}`"))
        }
        Error::Git(GitError::OperationInProgress { .. }) => {
            Some(format!("`biv resume {title} --on-conflict keep` {KEEPS}"))
        }
        _ => None,
    }
}

/// What to do when a command of the user's cannot be run in a worktree.
fn not_runnable(program: &str, title: &str) -> String {
    if program.contains(char::is_whitespace) {
        format!("for a shell command: `biv exec {title} -- sh -c '…'`")
    } else if program.contains('/') {
        format!("a relative path begins at the worktree: `biv path {title}`")
    } else {
        "install it, or give its path; it was looked for on your PATH".to_owned()
    }
}

/// A path as a shell word.
fn path_word(path: &std::path::Path) -> String {
    let shown = path.display().to_string();
    shlex::try_quote(&shown).map_or_else(|_| shown.clone(), std::borrow::Cow::into_owned)
}

/// `1 (Yes), 2 (No)`; None where there is nothing to choose from.
fn numbered(choices: &[String]) -> Option<String> {
    let list: Vec<String> = choices
        .iter()
        .enumerate()
        .map(|(at, label)| format!("{} ({label})", at + 1))
        .collect();
    (!list.is_empty()).then(|| list.join(", "))
}

/// What to do with an instance that another machine has.
fn away_hint(title: &Title, id: &InstanceId, holder: &Holder) -> String {
    let word = word(title);
    match holder {
        Holder::Host {
            host,
            id: there,
            confirmed: true,
        } => {
            let named = if there == id {
                word.as_str()
            } else {
                there.as_str()
            };
            format!(
                "name it there, as `{host}:{named}`; `biv move {word} --take-back` brings it back"
            )
        }
        Holder::Host { host, .. } => {
            format!(
                "`biv move {word} {host}` ends the move; `biv move {word} --take-back` undoes it"
            )
        }
        Holder::Offered { from: Some(_), .. } => {
            format!("`biv move {word} --take-back` ends that")
        }
        Holder::Offered { from: None, .. } => {
            "run `biv move` again on the machine that it comes from".to_owned()
        }
        Holder::Elsewhere { .. } | Holder::Here => "use it there".to_owned(),
    }
}

fn from_state(title: &str, state: State) -> String {
    match state {
        State::Paused => format!("resume it with `biv resume {title}`"),
        State::Interrupted => {
            format!("its tmux server is gone; resume it with `biv resume {title}`")
        }
        State::Completed | State::Failed => {
            format!("`biv peek {title}` shows its last output; `biv resume {title}` continues")
        }
        State::Away => format!("`biv move {title} --take-back` brings it back"),
        State::Killed => format!("bring it back with `biv undo-kill {title}`"),
        State::Running => format!("`biv show {title}` shows what it is doing"),
        State::Creating
        | State::Pausing
        | State::Resuming
        | State::Restarting
        | State::Killing
        | State::Landing => "wait until that is done".to_owned(),
    }
}
