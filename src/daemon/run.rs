//! The daemon's own life: it takes the seat, listens, and goes when it is told to.

use std::os::unix::net::UnixDatagram;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};

use serde_json::json;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use super::desk::Desk;
use super::mail::Mail;
use super::server::{Counter, serve};
use super::subscribers::Subscribers;
use super::thread::{log, spawn};
use super::wire::{Hello, PROTOCOL};
use crate::engine::{Doorbell, Engine, Error, Sight, Watcher};
use crate::model::{InstanceId, Timestamp};

/// Whether the daemon stays with the terminal that it was started from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Attachment {
    Foreground,
    /// It leaves the session of whoever started it, so that it outlives that.
    Detached,
}

/// Serves this home until it is told to stop.
pub(crate) fn run(engine: Engine, attachment: Attachment) -> Result<(), Error> {
    if attachment == Attachment::Detached {
        // Fails for the leader of a group, which has nothing to leave.
        rustix::process::setsid().ok();
    }
    let engine = Arc::new(engine);
    let seat = engine.lock_daemon()?;
    let (mail, mailbox) = channel();
    listen_for_signals(&mail);
    let bell = engine.hang_up_bell()?;
    let listener = engine.open_daemon_socket(&seat)?;
    let subscribers = Arc::new(Subscribers::default());
    let hello = Hello {
        bivouac: env!("CARGO_PKG_VERSION").to_owned(),
        protocol: PROTOCOL,
        pid: std::process::id(),
        started_at: Timestamp::new(chrono::Utc::now()),
    };
    let (watcher, sights) = Watcher::start(Arc::clone(&engine), Doorbell::Taken)?;
    forward(sights, &mail, &subscribers);
    hear(bell, &mail);
    let counter = Counter {
        engine: Arc::clone(&engine),
        hello: hello.clone(),
        mail: mail.clone(),
        subscribers: Arc::clone(&subscribers),
    };
    spawn("counter", move || serve(&listener, &counter));
    log(&format!(
        "version {} serves as process {}",
        hello.bivouac, hello.pid
    ));

    let mut desk = Desk::new(Arc::clone(&engine), watcher, hello, mail, subscribers)?;
    work(&mut desk, &mailbox);
    desk.close();
    // The seat goes last: whoever takes it finds no socket of ours.
    for socket in [engine.daemon_socket(), engine.bell_path()] {
        drop(std::fs::remove_file(socket));
    }
    drop(seat);
    log("ends");
    Ok(())
}

fn work(desk: &mut Desk, mailbox: &Receiver<Mail>) {
    while !desk.is_finished() {
        let mail = mailbox.recv_timeout(desk.patience());
        desk.wake();
        match mail {
            Ok(mail) => {
                desk.handle(mail);
                // What has come meanwhile belongs to the same moment.
                while let Ok(mail) = mailbox.try_recv() {
                    desk.handle(mail);
                }
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
        desk.step();
    }
}

fn listen_for_signals(mail: &Sender<Mail>) {
    let mail = mail.clone();
    if let Ok(mut signals) = signal_hook::iterator::Signals::new([SIGTERM, SIGINT, SIGHUP]) {
        spawn("signals", move || {
            for signal in signals.forever() {
                // A terminal that closes is no reason to go.
                if signal != SIGHUP {
                    drop(mail.send(Mail::Stop));
                }
            }
        });
    }
}

fn forward(sights: Receiver<Sight>, mail: &Sender<Mail>, subscribers: &Arc<Subscribers>) {
    let (mail, subscribers) = (mail.clone(), Arc::clone(subscribers));
    spawn("sights", move || {
        for sight in sights {
            // Agents talk all the time, and there is nothing to decide about that: past the desk.
            if let Sight::Rang(id) = sight {
                subscribers.tell_bell(|| json!({ "bell": id }).to_string());
            } else if mail.send(Mail::Sight(sight)).is_err() {
                return;
            }
        }
    });
}

fn hear(bell: UnixDatagram, mail: &Sender<Mail>) {
    let mail = mail.clone();
    spawn("bell", move || {
        let mut word = [0; 64];
        while let Ok(length) = bell.recv(&mut word) {
            let id = word
                .get(..length)
                .and_then(|word| std::str::from_utf8(word).ok())
                .and_then(|word| InstanceId::parse(word.trim()));
            if mail.send(Mail::Bell(id)).is_err() {
                return;
            }
        }
    });
}
