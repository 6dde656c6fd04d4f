//! The daemon's socket: any process of this user may send requests; one inside an instance may only read.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use super::connections::{ConnectionLimits, PendingConnection};
use super::message::DaemonMessage;
use super::subscribers::{Next, Subscribers};
use super::wire::{Answer, Hello, LONGEST_REQUEST, PROTOCOL, Request};
use crate::engine::{Engine, Peer, Reach};

/// How long a client may take to send its request.
const REQUEST: Duration = Duration::from_secs(5);
/// How long the event loop may take to answer; usually milliseconds.
const ANSWER: Duration = Duration::from_secs(5);
/// A client that reads nothing for this long is disconnected.
const WRITE: Duration = Duration::from_secs(30);
/// How often a subscriber without events is checked for being connected.
const STILL_THERE: Duration = Duration::from_secs(30);

/// What a connection needs to be served.
#[derive(Clone)]
pub(super) struct ServerContext {
    pub engine: Arc<Engine>,
    pub hello: Hello,
    pub messages: Sender<DaemonMessage>,
    pub subscribers: Arc<Subscribers>,
}

/// Serves every connection in a thread of its own.
pub(super) fn serve(listener: &UnixListener, context: &ServerContext) {
    let connections = Arc::new(ConnectionLimits::default());
    for stream in listener.incoming() {
        let Ok(stream) = stream else {
            // Perhaps out of descriptors: others are closed soon.
            std::thread::sleep(Duration::from_millis(100));
            continue;
        };
        let Ok(pending) = connections.admit(&stream) else {
            continue;
        };
        let context = context.clone();
        let served = std::thread::Builder::new()
            .name("client".to_owned())
            .stack_size(256 * 1024)
            .spawn(move || {
                // Normal where the client disconnects early.
                if let Err(error) = serve_connection(&stream, pending, &context) {
                    tracing::debug!(%error, "a connection ended early");
                }
            });
        // Without a thread the connection is closed; others end and make room.
        if let Err(error) = served {
            tracing::warn!(%error, "a connection could not be served");
        }
    }
}

fn serve_connection(
    stream: &UnixStream,
    pending: PendingConnection,
    context: &ServerContext,
) -> std::io::Result<()> {
    stream.set_read_timeout(Some(REQUEST))?;
    stream.set_write_timeout(Some(WRITE))?;
    let peer = context.engine.peer(stream);
    if peer == Peer::Stranger {
        return Ok(());
    }
    say(stream, &context.hello)?;
    let mut line = Vec::new();
    let mut reader = BufReader::new(stream).take(LONGEST_REQUEST as u64);
    reader.read_until(b'\n', &mut line)?;
    let refused = |why: &str| Answer::Refused(why.to_owned());
    let request = match serde_json::from_slice::<Request>(&line) {
        Ok(request) if line.ends_with(b"\n") => request,
        _ => {
            let why = format!("this is no request of protocol {PROTOCOL}");
            return say(stream, &refused(&why));
        }
    };
    let Some(_served) = pending.serve() else {
        return say(stream, &refused("too many clients are connected"));
    };
    match request {
        Request::Subscribe { bells } => stream_events(stream, context, bells),
        request if peer == Peer::Inside && request.verb().reach() != Reach::Everyone => {
            let why = format!(
                "cannot {} from inside an instance",
                request.verb().refusal()
            );
            say(stream, &refused(&why))
        }
        request @ (Request::Status | Request::Activities | Request::Stop) => {
            let (answer, answered) = channel();
            let sent = context
                .messages
                .send(DaemonMessage::Request(request, answer));
            let answer = sent
                .ok()
                .and_then(|()| answered.recv_timeout(ANSWER).ok())
                .unwrap_or_else(|| refused("the daemon is about to end"));
            say(stream, &answer)
        }
    }
}

fn stream_events(stream: &UnixStream, context: &ServerContext, bells: bool) -> std::io::Result<()> {
    let queue = context.subscribers.join(bells);
    let streamed = (|| {
        say(stream, &Answer::Done)?;
        loop {
            match queue.next(STILL_THERE) {
                Next::Lines(lines) => {
                    let mut text = String::new();
                    for line in lines {
                        text.push_str(&line);
                        text.push('\n');
                    }
                    (&*stream).write_all(text.as_bytes())?;
                }
                Next::Silence if has_left(stream) => return Ok(()),
                Next::Silence => {}
                Next::Closed => return Ok(()),
            }
        }
    })();
    context.subscribers.leave(&queue);
    streamed
}

/// Whether the client has disconnected.
fn has_left(stream: &UnixStream) -> bool {
    if stream.set_nonblocking(true).is_err() {
        return true;
    }
    let gone = matches!((&*stream).read(&mut [0; 64]), Ok(0));
    stream.set_nonblocking(false).is_err() || gone
}

fn say(mut stream: &UnixStream, words: &impl serde::Serialize) -> std::io::Result<()> {
    let mut line = serde_json::to_vec(words)?;
    line.push(b'\n');
    stream.write_all(&line)
}
