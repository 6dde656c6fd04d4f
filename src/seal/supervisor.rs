//! The process outside a seal: it has the seal built, runs the proxy, and ends with the agent.

use std::net::TcpListener;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::process::{Child, ExitCode};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use rustix::process::{Pid, Signal, getpgrp, kill_process_group};
use rustix::termios::{isatty, tcgetpgrp, tcsetpgrp};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};

use super::frame;
use super::messages::{FromInside, Orders, ProxyAddress, ToInside};
use super::mirror::Mirror;
use super::proxy::{Proxy, forward};
use super::sealed::Sealed;
use super::{SealError, landlock};
use crate::model::{SealLayer, SealNetwork, missing_layers};
use crate::process::{Command, shell_status};

/// A seal that is built, and waits for its program to start.
pub(crate) struct Built {
    child: Child,
    channel: UnixStream,
    namespaces: bool,
    pub layers: Vec<SealLayer>,
}

/// A program that runs in a seal.
pub(crate) struct Running {
    child: Child,
    channel: UnixStream,
    namespaces: bool,
}

/// Builds the seal in a child process. Where namespaces are not allowed, by Landlock alone.
pub(crate) fn build(sealed: &Sealed) -> Result<Built, SealError> {
    let mut reason = None;
    if sealed.plan.namespaces {
        match attempt(sealed, true) {
            Err(SealError::NoNamespaces(message)) => reason = Some(message),
            other => return other,
        }
    }
    let built = attempt(sealed, false)?;
    let network = sealed.plan.network;
    // Without a way to restrict connections, a list of hosts would be a promise that is not kept.
    if missing_layers(&built.layers, network).contains(&SealLayer::Tcp) {
        return Err(SealError::NoNetwork(
            reason.unwrap_or_else(|| "namespaces are switched off".to_owned()),
        ));
    }
    Ok(built)
}

fn attempt(sealed: &Sealed, namespaces: bool) -> Result<Built, SealError> {
    let network = sealed.plan.network;
    let (ours, theirs) = UnixStream::pair()?;
    let outside = match network {
        SealNetwork::AllowList if !namespaces => Some(TcpListener::bind("127.0.0.1:0")?),
        _ => None,
    };
    let address = outside.as_ref().map(listening).transpose()?;
    let child = Command::new(&sealed.biv)
        .args(["__seal", if namespaces { "outer" } else { "alone" }])
        .spawn_on(theirs.into(), true)
        .map_err(|error| SealError::Failed(error.to_string()))?;
    give_terminal(&child);
    let orders = || {
        ToInside::Orders(Box::new(Orders {
            plan: sealed.plan.clone(),
            argv: sealed.argv.clone(),
            environment: sealed.environment.clone(),
            directory: sealed.directory.clone(),
            proxy: address.clone(),
            pid: i32::try_from(std::process::id()).unwrap_or(i32::MAX),
            biv: sealed.biv.clone(),
        }))
    };
    let stdin = std::io::stdin();
    frame::send(&ours, &orders(), &[stdin.as_fd()])?;
    loop {
        let (said, descriptors) = match frame::receive::<FromInside>(&ours) {
            Ok(received) => received,
            Err(error) => {
                return Err(SealError::Failed(format!(
                    "the process that builds the seal ended: {error}"
                )));
            }
        };
        match said {
            FromInside::Again => frame::send(&ours, &orders(), &[stdin.as_fd()])?,
            FromInside::Ready { layers } => {
                let mut listeners = descriptors.into_iter().map(TcpListener::from);
                if network == SealNetwork::AllowList
                    && let Some(listener) = outside.or_else(|| listeners.next())
                {
                    let authorization = address.and_then(|address| address.authorization());
                    let on_denied = Arc::clone(&sealed.on_denied);
                    Proxy::new(sealed.hosts.clone(), authorization, on_denied).serve(listener);
                }
                for (listener, port) in listeners.zip(&sealed.plan.loopback_ports) {
                    forward(listener, *port);
                }
                if namespaces {
                    sealed.plan.mirrors.iter().cloned().for_each(Mirror::follow);
                }
                return Ok(Built {
                    child,
                    channel: ours,
                    namespaces,
                    layers,
                });
            }
            FromInside::NoNamespaces { message } => {
                end(child);
                return Err(SealError::NoNamespaces(message));
            }
            FromInside::Failed { message } => {
                end(child);
                return Err(SealError::Failed(message));
            }
            FromInside::Started => {}
        }
    }
}

fn listening(listener: &TcpListener) -> std::io::Result<ProxyAddress> {
    Ok(ProxyAddress {
        port: listener.local_addr()?.port(),
        credentials: Some(format!("biv:{}", uuid::Uuid::new_v4().simple())),
    })
}

impl ProxyAddress {
    /// As clients send it in `Proxy-Authorization`.
    fn authorization(&self) -> Option<String> {
        let credentials = self.credentials.as_ref()?;
        Some(format!("Basic {}", base64(credentials.as_bytes())))
    }
}

/// For the few bytes of a header, instead of another dependency.
fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for three in bytes.chunks(3) {
        let value = three
            .iter()
            .fold(0_u32, |value, byte| value << 8 | u32::from(*byte));
        let value = value << (8 * (3 - three.len()));
        for at in 0..4 {
            let index = (value >> (18 - 6 * at)) & 63;
            let letter = LETTERS.get(index as usize).copied().unwrap_or(b'=');
            text.push(if at <= three.len() {
                char::from(letter)
            } else {
                '='
            });
        }
    }
    text
}

/// Makes the child the foreground of our terminal, if we are that now.
fn give_terminal(child: &Child) {
    let stdin = std::io::stdin();
    let is_ours = isatty(&stdin) && tcgetpgrp(&stdin).is_ok_and(|group| group == getpgrp());
    if is_ours && let Some(group) = pid_of(child) {
        // Without a terminal of its own the program still runs.
        tcsetpgrp(&stdin, group).ok();
    }
}

fn pid_of(child: &Child) -> Option<Pid> {
    i32::try_from(child.id()).ok().and_then(Pid::from_raw)
}

fn end(mut child: Child) {
    // It has ended already, or ends now.
    child.kill().ok();
    child.wait().ok();
}

impl Built {
    /// Starts the program.
    pub(crate) fn start(self) -> Result<Running, SealError> {
        frame::send(&self.channel, &ToInside::Start, &[])?;
        // With Landlock alone the process becomes the program, and the channel is closed.
        if let Ok((FromInside::Failed { message }, _)) = frame::receive(&self.channel) {
            end(self.child);
            return Err(SealError::Failed(message));
        }
        Ok(Running {
            child: self.child,
            channel: self.channel,
            namespaces: self.namespaces,
        })
    }
}

impl Running {
    /// Waits until the program has ended, and returns its exit status.
    ///
    /// The signals that end an agent are sent to each of its processes, this one included. The program
    /// decides what they mean, so they are not followed here.
    pub(crate) fn wait(mut self) -> ExitCode {
        for signal in [SIGTERM, SIGINT, SIGQUIT] {
            let ignored = Arc::new(AtomicBool::new(false));
            if let Err(error) = signal_hook::flag::register(signal, ignored) {
                tracing::warn!(%error, signal, "a signal cannot be ignored");
            }
        }
        self.pass_hangup_on();
        let status = self.child.wait();
        ExitCode::from(status.map_or(1, shell_status))
    }

    /// The kernel tells only the leader of the session that the terminal is gone.
    fn pass_hangup_on(&self) {
        let Ok(mut signals) = signal_hook::iterator::Signals::new([SIGHUP]) else {
            return;
        };
        let (group, namespaces) = (pid_of(&self.child), self.namespaces);
        let Ok(channel) = self.channel.try_clone() else {
            return;
        };
        std::thread::spawn(move || {
            for _ in signals.forever() {
                // An error means that the program has ended.
                if namespaces {
                    drop(frame::send(&channel, &ToInside::Hangup, &[]));
                } else if let Some(group) = group {
                    kill_process_group(group, Signal::HUP).ok();
                }
            }
        });
    }
}

/// The layers that this machine has, found by building a seal around nothing.
pub(crate) fn layers_of_machine(biv: &std::path::Path) -> Vec<SealLayer> {
    let mut layers = landlock::layers();
    let probe = Command::new(biv).args(["__seal", "probe"]);
    if probe.output().is_ok_and(|output| output.success()) {
        layers.extend([SealLayer::Mounts, SealLayer::Processes, SealLayer::Network]);
    }
    layers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_encoded_as_clients_do() {
        for (plain, encoded) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(base64(plain.as_bytes()), encoded);
        }
    }
}
