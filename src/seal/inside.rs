//! `biv __seal`: the processes that build a seal around themselves and then run the program.
//!
//! `outer` creates the namespaces and waits; `inner` is the first process of the pid namespace: it mounts,
//! gives up its rights, starts the program, reaps orphans and ends with the program, which ends everything
//! else in the namespace. `program` stops itself and becomes the program when it is continued, which is after
//! it has got the terminal. `alone` restricts itself by Landlock and becomes the program. `probe` tells by
//! its exit status whether namespaces can be created.

use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::net::TcpListener;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::process::{ExitCode, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use rustix::process::{
    Pid, Signal, WaitOptions, WaitStatus, kill_process_group, set_parent_process_death_signal,
    wait, waitpid,
};
use rustix::termios::{isatty, tcgetpgrp, tcsetpgrp};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};

use super::landlock::{Ports, restrict};
use super::messages::{FromInside, Orders, ProxyAddress, ToInside};
use super::plan::Grant;
use super::{environment, frame, loopback, mounts, namespaces};
use crate::model::{SealLayer, SealNetwork};
use crate::process::{CANNOT_START, Command, adopt_orphans, shell_status};

/// Why a seal was not built.
enum Problem {
    NoNamespaces(String),
    Other(String),
}

impl From<String> for Problem {
    fn from(message: String) -> Self {
        Self::Other(message)
    }
}

impl From<std::io::Error> for Problem {
    fn from(error: std::io::Error) -> Self {
        Self::Other(error.to_string())
    }
}

pub(crate) fn run_inside(stage: &str, words: &[OsString]) -> ExitCode {
    match stage {
        "program" => return become_program(words),
        "probe" => return probe(),
        "probe-mounts" => return probe_mounts(),
        _ => {}
    }
    let Ok(channel) = rustix::stdio::stdin().try_clone_to_owned() else {
        return ExitCode::FAILURE;
    };
    let channel = UnixStream::from(channel);
    let outcome = match stage {
        "outer" => outer(&channel),
        "inner" => inner(&channel),
        "alone" => alone(&channel),
        _ => Err(Problem::Other(format!("no such stage: {stage}"))),
    };
    match outcome {
        Ok(status) => status,
        Err(problem) => {
            let said = match problem {
                Problem::NoNamespaces(message) => FromInside::NoNamespaces { message },
                Problem::Other(message) => FromInside::Failed { message },
            };
            // If the other end is gone, the problem cannot be reported.
            drop(frame::send(&channel, &said, &[]));
            ExitCode::FAILURE
        }
    }
}

/// Succeeds where the namespaces of a seal, and a `/proc` in them, can be had.
fn probe() -> ExitCode {
    let entered = namespaces::enter(SealNetwork::None);
    let mounted = entered.is_ok_and(|()| {
        let biv = std::env::current_exe().unwrap_or_default();
        let again = Command::new(biv).args(["__seal", "probe-mounts"]);
        // Without a thread: none can be started between two pid namespaces.
        let stdin = rustix::stdio::stdin().try_clone_to_owned();
        let child = stdin
            .ok()
            .and_then(|stdin| again.spawn_on(stdin, false).ok());
        child.is_some_and(|mut child| child.wait().is_ok_and(|status| status.success()))
    });
    ExitCode::from(u8::from(!mounted))
}

fn probe_mounts() -> ExitCode {
    ExitCode::from(u8::from(
        mounts::can_mount().is_err() || loopback::bring_up().is_err(),
    ))
}

fn orders(channel: &UnixStream) -> Result<(Box<Orders>, OwnedFd), Problem> {
    match frame::receive(channel)? {
        (ToInside::Orders(orders), mut descriptors) => match descriptors.pop() {
            Some(stdin) => Ok((orders, stdin)),
            None => Err(Problem::Other("there is no standard input".to_owned())),
        },
        _ => Err(Problem::Other("there are no orders".to_owned())),
    }
}

/// Creates the namespaces, starts the first process in them, and passes its exit status on.
fn outer(channel: &UnixStream) -> Result<ExitCode, Problem> {
    let (orders, _) = orders(channel)?;
    namespaces::enter(orders.plan.network)
        .map_err(|error| Problem::NoNamespaces(format!("user namespaces: {error}")))?;
    // Signals are for the program; this process ends after it.
    for signal in [SIGTERM, SIGINT, SIGQUIT, SIGHUP] {
        signal_hook::flag::register(signal, Arc::new(AtomicBool::new(false)))?;
    }
    let stdin = channel.as_fd().try_clone_to_owned()?;
    let mut child = Command::new(&orders.biv)
        .args(["__seal", "inner"])
        .spawn_on(stdin, false)
        .map_err(|error| error.to_string())?;
    Ok(ExitCode::from(child.wait().map_or(1, shell_status)))
}

/// The first process of the pid namespace.
fn inner(channel: &UnixStream) -> Result<ExitCode, Problem> {
    frame::send(channel, &FromInside::Again, &[])?;
    let (orders, stdin) = orders(channel)?;
    let network = orders.plan.network;
    mounts::move_into(&orders.plan).map_err(Problem::NoNamespaces)?;
    let mut listeners = Vec::new();
    let mut proxy = None;
    if network != SealNetwork::All {
        loopback::bring_up()?;
    }
    if network == SealNetwork::AllowList {
        // Those with a number first: the proxy takes any port, and must not take one of theirs.
        for port in &orders.plan.loopback_ports {
            listeners.push(TcpListener::bind(("127.0.0.1", *port))?);
        }
        let listener = TcpListener::bind("127.0.0.1:0")?;
        proxy = Some(ProxyAddress {
            port: listener.local_addr()?.port(),
            credentials: None,
        });
        listeners.insert(0, listener);
    }
    namespaces::choose_next_pid(orders.pid);
    namespaces::drop_capabilities()?;
    let replaced = orders.plan.replacements.iter();
    let own: Vec<Grant> = replaced
        .map(|replaced| Grant::write(&replaced.target))
        .chain([Grant::write("/dev"), Grant::read("/proc")])
        // Only what is granted exists, so that its names are no secret.
        .chain([Grant::list("/")])
        .collect();
    let grants = orders.plan.grants_for(true).chain(&own);
    let mut layers = restrict(grants, &terminal(&stdin), &Ports::Any).map_err(|e| e.to_string())?;
    require_files(&layers)?;
    layers.extend([SealLayer::Mounts, SealLayer::Processes]);
    if network != SealNetwork::All {
        layers.push(SealLayer::Network);
    }
    std::env::set_current_dir(&orders.directory)?;
    let descriptors: Vec<BorrowedFd<'_>> = listeners.iter().map(AsFd::as_fd).collect();
    frame::send(channel, &FromInside::Ready { layers }, &descriptors)?;
    drop(listeners);
    await_start(channel)?;
    let terminal = stdin.try_clone()?;
    let waits = isatty(&terminal);
    let child = program(&orders, proxy.as_ref(), waits)?
        .spawn_on(stdin, true)
        .map_err(|error| error.to_string())?;
    let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    if let Some(group) = group.filter(|_| waits) {
        // A program that reads before it is in the foreground gets an error.
        if let Some(status) = ended_before_it_stopped(group) {
            return Ok(status);
        }
        give_terminal(&terminal, group);
    }
    drop(terminal);
    frame::send(channel, &FromInside::Started, &[])?;
    listen(channel.try_clone()?, group);
    Ok(reap(group))
}

/// Restricts this process by Landlock and becomes the program.
fn alone(channel: &UnixStream) -> Result<ExitCode, Problem> {
    let (orders, stdin) = orders(channel)?;
    let ports = match orders.plan.network {
        SealNetwork::All => Ports::Any,
        SealNetwork::None => Ports::Only(Vec::new()),
        SealNetwork::AllowList => {
            let proxy = orders.proxy.iter().map(|proxy| proxy.port);
            Ports::Only(proxy.chain(orders.plan.loopback_ports.clone()).collect())
        }
    };
    // The process outside runs the proxy: the program ends with it.
    set_parent_process_death_signal(Some(Signal::KILL)).map_err(std::io::Error::from)?;
    // Root could read the memory of other processes.
    namespaces::drop_capabilities()?;
    let temporary = Grant::write(&orders.plan.temporary);
    let grants = orders.plan.grants_for(false).chain([&temporary]);
    let layers = restrict(grants, &terminal(&stdin), &ports).map_err(|error| error.to_string())?;
    require_files(&layers)?;
    std::env::set_current_dir(&orders.directory)?;
    frame::send(channel, &FromInside::Ready { layers }, &[])?;
    await_start(channel)?;
    adopt_orphans();
    let program = command(&orders, &words_of(&orders), false, orders.proxy.as_ref())?;
    Err(Problem::Other(program.exec_on(stdin).to_string()))
}

fn require_files(layers: &[SealLayer]) -> Result<(), Problem> {
    if layers.contains(&SealLayer::Files) {
        return Ok(());
    }
    let why = "the kernel has no Landlock, or one without the right to truncate (Linux 6.2)";
    Err(Problem::Other(why.to_owned()))
}

/// The descriptors by which the program may open its own terminal again.
fn terminal(stdin: &OwnedFd) -> [BorrowedFd<'_>; 3] {
    [
        stdin.as_fd(),
        rustix::stdio::stdout(),
        rustix::stdio::stderr(),
    ]
}

fn await_start(channel: &UnixStream) -> Result<(), Problem> {
    match frame::receive(channel)? {
        (ToInside::Start, _) => Ok(()),
        _ => Err(Problem::Other("not started".to_owned())),
    }
}

/// The program with namespaces; one that waits stops itself first.
fn program(orders: &Orders, proxy: Option<&ProxyAddress>, waits: bool) -> Result<Command, Problem> {
    if !waits {
        return command(orders, &words_of(orders), true, proxy);
    }
    let mut words = vec![orders.biv.clone().into_os_string()];
    words.extend(["__seal", "program", "--"].map(OsString::from));
    words.extend(words_of(orders));
    command(orders, &words, true, proxy)
}

fn words_of(orders: &Orders) -> Vec<OsString> {
    orders.argv.iter().map(OsString::from).collect()
}

/// Stops, and becomes the program when it is continued.
fn become_program(words: &[OsString]) -> ExitCode {
    // It is continued at once if it was stopped too late.
    rustix::process::kill_process(rustix::process::getpid(), Signal::STOP).ok();
    let Some((program, args)) = words.split_first() else {
        return ExitCode::FAILURE;
    };
    let problem = Command::new(program).args(args).exec();
    drop(writeln!(std::io::stderr(), "{problem}"));
    ExitCode::from(CANNOT_START)
}

/// Waits until the program has stopped itself. The exit status if it has ended instead.
fn ended_before_it_stopped(program: Pid) -> Option<ExitCode> {
    loop {
        match waitpid(Some(program), WaitOptions::UNTRACED) {
            Ok(Some((_, status))) if status.stopped() => return None,
            Ok(Some((_, status))) => return Some(ended(&status)),
            Ok(None) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => return Some(ExitCode::FAILURE),
        }
    }
}

fn command(
    orders: &Orders,
    words: &[OsString],
    namespaces: bool,
    proxy: Option<&ProxyAddress>,
) -> Result<Command, Problem> {
    let (program, args) = words.split_first().ok_or("no command".to_owned())?;
    let variables = environment::inside(&orders.environment, &orders.plan, namespaces, proxy);
    let mut command = Command::new(program)
        .args(args)
        .directory(&orders.directory)
        .env_clear();
    for (name, value) in &variables {
        command = command.env(OsStr::from_bytes(name), OsStr::from_bytes(value));
    }
    Ok(command)
}

/// Makes the program the foreground of the terminal, if we are that now, and lets it go on.
fn give_terminal(terminal: &OwnedFd, group: Pid) {
    // The group of `outer` has no number in this namespace, so that it reads as none.
    let is_foreground = isatty(terminal) && tcgetpgrp(terminal).is_err();
    if is_foreground {
        tcsetpgrp(terminal, group).ok();
    }
    kill_process_group(group, Signal::CONT).ok();
}

/// Ends everything when the process outside is gone.
fn listen(channel: UnixStream, group: Option<Pid>) {
    std::thread::spawn(move || {
        while let Ok((said, _)) = frame::receive::<ToInside>(&channel) {
            if let (ToInside::Hangup, Some(group)) = (said, group) {
                kill_process_group(group, Signal::HUP).ok();
            }
        }
        std::process::exit(128 + SIGTERM);
    });
}

fn ended(status: &WaitStatus) -> ExitCode {
    ExitCode::from(shell_status(ExitStatus::from_raw(status.as_raw())))
}

/// Waits for all children, also adopted ones, until the program has ended.
fn reap(program: Option<Pid>) -> ExitCode {
    loop {
        match wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) if Some(pid) == program => {
                return ended(&status);
            }
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => return ExitCode::FAILURE,
        }
    }
}
