//! The instances that a command line names, where they can be changed.

use super::args::Command;

pub(super) enum Targets<'a> {
    None,
    One(&'a mut String),
    Several(&'a mut Vec<String>),
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
            Command::Send(args) => &mut args.instance.instance,
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
            Command::Queue(args) => &mut args.instance.instance,
            Command::Wait(args) => &mut args.instance.instance,
            Command::Timeout(args) => &mut args.instance.instance,
            Command::Autoyes(args) => &mut args.instance.instance,
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
            | Command::DemoAgent(_) => return Targets::None,
        };
        Targets::One(name)
    }

    pub(super) fn names(&self) -> &[String] {
        match self {
            Self::None => &[],
            Self::One(name) => std::slice::from_ref(name),
            Self::Several(names) => names,
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
        }
    }

    /// Keeps those that are here.
    pub(super) fn drop_each(&mut self, elsewhere: &[String]) {
        if let Self::Several(names) = self {
            names.retain(|name| !elsewhere.contains(name));
        }
    }
}
