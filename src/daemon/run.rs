//! The daemon's start and end: it takes its lock, opens its socket, runs the event loop.

use std::os::unix::net::UnixDatagram;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};

use serde_json::json;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use super::event_loop::EventLoop;
use super::message::DaemonMessage;
use super::server::{ServerContext, serve};
use super::subscribers::Subscribers;
use super::thread::{log, spawn};
use super::wire::{Hello, PROTOCOL};
use crate::engine::{Engine, Error, PanePipes, WatchEvent};
use crate::model::{InstanceId, Timestamp};

/// Whether the daemon stays in the session that it was started in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Attachment {
    Foreground,
    /// It starts its own session, so that it outlives the process that started it.
    Detached,
}

/// Serves this home until it is told to stop.
pub(crate) fn run(engine: Engine, attachment: Attachment) -> Result<(), Error> {
    if attachment == Attachment::Detached {
        // Fails for the leader of a process group, as when started from a shell.
        if let Err(error) = rustix::process::setsid() {
            tracing::debug!(%error, "the daemon stays in the session of its caller");
        }
    }
    let engine = Arc::new(engine);
    let lock = engine.lock_daemon()?;
    let (messages, mailbox) = channel();
    listen_for_signals(&messages);
    let bell = engine.open_wakeup_socket()?;
    let listener = engine.open_daemon_socket(&lock)?;
    let subscribers = Arc::new(Subscribers::default());
    let hello = Hello {
        bivouac: env!("CARGO_PKG_VERSION").to_owned(),
        protocol: PROTOCOL,
        pid: std::process::id(),
        started_at: Timestamp::new(chrono::Utc::now()),
    };
    let (watcher, watch_events) = engine.watch(PanePipes::TakeAll)?;
    forward(watch_events, &messages, &subscribers);
    hear(bell, &messages);
    let context = ServerContext {
        engine: Arc::clone(&engine),
        hello: hello.clone(),
        messages: messages.clone(),
        subscribers: Arc::clone(&subscribers),
    };
    spawn("server", move || serve(&listener, &context));
    log(&format!(
        "version {} serves as process {}",
        hello.bivouac, hello.pid
    ));

    let mut event_loop =
        EventLoop::new(Arc::clone(&engine), watcher, hello, messages, subscribers)?;
    work(&mut event_loop, &mailbox);
    event_loop.close();
    // The lock is released last, so that the next daemon finds no socket of this one.
    for socket in [engine.daemon_socket(), engine.wakeup_path()] {
        if let Err(error) = std::fs::remove_file(socket) {
            tracing::debug!(%error, "a socket of the daemon was not removed");
        }
    }
    drop(lock);
    log("ends");
    Ok(())
}

fn work(event_loop: &mut EventLoop, mailbox: &Receiver<DaemonMessage>) {
    while !event_loop.is_finished() {
        let message = mailbox.recv_timeout(event_loop.wait_time());
        event_loop.end_wait();
        match message {
            Ok(message) => {
                event_loop.handle(message);
                // All waiting messages are handled before the next step.
                while let Ok(message) = mailbox.try_recv() {
                    event_loop.handle(message);
                }
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
        event_loop.step();
    }
}

fn listen_for_signals(messages: &Sender<DaemonMessage>) {
    let messages = messages.clone();
    if let Ok(mut signals) = signal_hook::iterator::Signals::new([SIGTERM, SIGINT, SIGHUP]) {
        spawn("signals", move || {
            for signal in signals.forever() {
                // A closed terminal is no reason to end.
                if signal != SIGHUP {
                    // The loop has ended where this fails.
                    drop(messages.send(DaemonMessage::Stop));
                }
            }
        });
    }
}

fn forward(
    watch_events: Receiver<WatchEvent>,
    messages: &Sender<DaemonMessage>,
    subscribers: &Arc<Subscribers>,
) {
    let (messages, subscribers) = (messages.clone(), Arc::clone(subscribers));
    spawn("watch_events", move || {
        for event in watch_events {
            // Output needs no decision and is frequent, so it does not go through the event loop.
            if let WatchEvent::Output(id) = event {
                subscribers.announce_output(|| json!({ "bell": id }).to_string());
            } else if messages.send(DaemonMessage::WatchEvent(event)).is_err() {
                return;
            }
        }
    });
}

fn hear(bell: UnixDatagram, messages: &Sender<DaemonMessage>) {
    let messages = messages.clone();
    spawn("bell", move || {
        let mut word = [0; 64];
        while let Ok(length) = bell.recv(&mut word) {
            let id = word
                .get(..length)
                .and_then(|word| std::str::from_utf8(word).ok())
                .and_then(|word| InstanceId::parse(word.trim()));
            if messages.send(DaemonMessage::Bell(id)).is_err() {
                return;
            }
        }
    });
}
