//! The instances that a command line names, where they can be changed.

use super::args::Command;

pub(super) enum Targets<'a> {
    None,
    One(&'a mut String),
    Several(&'a mut Vec<String>),
    /// The first so many words; a prompt, a time or a switch follows.
    First(usize, &'a mut Vec<String>),
}

impl Targets<'_> {
    pub(super) fn of(command: &mut Command) -> Targets<'_> {
        let name = match command {
            Command::Pause(args) => return Targets::Several(&mut args.instances.instances),
            Command::Resume(args) => return Targets::Several(&mut args.instances.instances),
            Command::Kill(args) => return Targets::Several(&mut args.instances.instances),
            Command::Land(args) => return Targets::Several(&mut args.instances.instances),
            Command::Push(args) => return Targets::Several(&mut args.instances.instances),
            Command::Show(args) => &mut args.instance.instance,
            Command::Path(args) => &mut args.instance.instance,
            Command::Exec(args) => &mut args.instance.instance,
            Command::Open(args) => &mut args.instance.instance,
            Command::Rename(args) => &mut args.instance.instance,
            Command::Attach(args) => &mut args.instance.instance,
            Command::Send(args) => {
                return Targets::First(args.named().len(), &mut args.words);
            }
            Command::Queue(args) => {
                return Targets::First(args.first().len(), &mut args.words);
            }
            Command::Timeout(args) => {
                return Targets::First(args.parts().0.len(), &mut args.words);
            }
            Command::Autoyes(args) => {
                return Targets::First(args.parts().0.len(), &mut args.words);
            }
            Command::Usage(args) => return Targets::Several(&mut args.instances),
            Command::Wait(args) => return Targets::Several(&mut args.instances.instances),
            Command::Shell(args) => &mut args.instance.instance,
            Command::Review(args) => &mut args.instance.instance,
            Command::Export(args) => &mut args.instance,
            // It comes here, so it is done here.
            Command::Move(args) if args.comes_here() => return Targets::None,
            Command::Move(args) => &mut args.instance,
            Command::Snapshots(args) => &mut args.instance.instance,
            Command::Answer(args) => &mut args.instance.instance,
            Command::Peek(args) => &mut args.instance.instance,
            Command::Diff(args) => &mut args.instance.instance,
            Command::Restart(args) => &mut args.instance.instance,
            Command::UndoKill(args) => &mut args.instance,
            Command::UndoLand(args) => &mut args.instance,
            Command::Pr(args) => &mut args.instance.instance,
            Command::Runs(args) => &mut args.instance,
            Command::Log(args) => &mut args.instance,
            Command::Compact(args) => &mut args.instance.instance,
            Command::Audit(args) => match &mut args.instance {
                Some(instance) => instance,
                None => return Targets::None,
            },
            Command::New(_)
            | Command::Run(_)
            | Command::Adopt(_)
            | Command::Import(_)
            | Command::List(_)
            | Command::Status(_)
            | Command::Search(_)
            | Command::Events(_)
            | Command::Daemon(_)
            | Command::Gc(_)
            | Command::Repo(_)
            | Command::Detect(_)
            | Command::Policy(_)
            | Command::Seal(_)
            | Command::Host(_)
            | Command::Doctor(_)
            | Command::Agents(_)
            | Command::Config(_)
            | Command::Completions(_)
            | Command::Man(_)
            | Command::Demo(_)
            | Command::Launch { .. }
            | Command::AnswerOnce(_)
            | Command::Pipe { .. }
            | Command::Leash { .. }
            | Command::InsideSeal { .. }
            | Command::ServeHost { .. }
            | Command::RenewHosts
            | Command::Receive(_)
            | Command::Drain(_)
            | Command::Arrive(_)
            | Command::Depart(_)
            | Command::Exports(_)
            | Command::Lease(_)
            | Command::DemoAgent(_) => return Targets::None,
        };
        Targets::One(name)
    }

    pub(super) fn names(&self) -> &[String] {
        match self {
            Self::None => &[],
            Self::One(name) => std::slice::from_ref(name),
            Self::Several(names) => names,
            Self::First(count, words) => words.get(..*count).unwrap_or_default(),
        }
    }

    /// For a command that came from a machine which calls this one `host`: the names of instances here,
    /// without that name. Those of other hosts go away.
    pub(super) fn keep_those_of(&mut self, host: &str) {
        let here = |name: &str| {
            let (prefix, instance) = name.split_once(':')?;
            (prefix == host).then(|| instance.to_owned())
        };
        match self {
            Self::None => {}
            Self::One(name) => {
                if let Some(instance) = here(name) {
                    **name = instance;
                }
            }
            Self::Several(names) => **names = names.iter().filter_map(|name| here(name)).collect(),
            Self::First(count, words) => {
                let rest = words.split_off(*count);
                **words = words.iter().filter_map(|name| here(name)).collect();
                *count = words.len();
                words.extend(rest);
            }
        }
    }

    /// Keeps those that are here.
    pub(super) fn drop_each(&mut self, elsewhere: &[String]) {
        match self {
            Self::Several(names) => names.retain(|name| !elsewhere.contains(name)),
            Self::First(count, words) => {
                let rest = words.split_off(*count);
                words.retain(|name| !elsewhere.contains(name));
                *count = words.len();
                words.extend(rest);
            }
            Self::None | Self::One(_) => {}
        }
    }
}
