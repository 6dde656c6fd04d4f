//! The socket: whoever is this user may ask; what runs inside an instance may only look.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use super::entrance::{Entrance, Silent};
use super::mail::Mail;
use super::subscribers::{Next, Subscribers};
use super::wire::{Answer, Hello, LONGEST_REQUEST, PROTOCOL, Request};
use crate::engine::{Engine, Peer, Reach};

/// Whoever connects has this long to say what they want.
const REQUEST: Duration = Duration::from_secs(5);
/// The daemon's own loop answers within milliseconds.
const ANSWER: Duration = Duration::from_secs(5);
/// A reader that takes nothing for this long is gone.
const WRITE: Duration = Duration::from_secs(30);
/// How often it is looked whether a silent listener is still there.
const STILL_THERE: Duration = Duration::from_secs(30);

/// What each connection is served with.
#[derive(Clone)]
pub(super) struct Counter {
    pub engine: Arc<Engine>,
    pub hello: Hello,
    pub mail: Sender<Mail>,
    pub subscribers: Arc<Subscribers>,
}

/// Serves every connection in a thread of its own.
pub(super) fn serve(listener: &UnixListener, counter: &Counter) {
    let entrance = Arc::new(Entrance::default());
    for stream in listener.incoming() {
        let Ok(stream) = stream else {
            // Out of descriptors, perhaps: the ones in use come back.
            std::thread::sleep(Duration::from_millis(100));
            continue;
        };
        let Ok(silent) = entrance.admit(&stream) else {
            continue;
        };
        let counter = counter.clone();
        let served = std::thread::Builder::new()
            .name("client".to_owned())
            .stack_size(256 * 1024)
            // A client that goes away in the middle has no more questions.
            .spawn(move || drop(attend(&stream, silent, &counter)));
        // One that no thread can be had for is closed; others end and make room.
        drop(served);
    }
}

fn attend(stream: &UnixStream, silent: Silent, counter: &Counter) -> std::io::Result<()> {
    stream.set_read_timeout(Some(REQUEST))?;
    stream.set_write_timeout(Some(WRITE))?;
    let peer = counter.engine.peer(stream);
    if peer == Peer::Stranger {
        return Ok(());
    }
    say(stream, &counter.hello)?;
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
    let Some(_served) = silent.serve() else {
        return say(stream, &refused("too many clients are connected"));
    };
    match request {
        Request::Subscribe { bells } => stream_events(stream, counter, bells),
        request if peer == Peer::Inside && request.verb().reach() != Reach::Everyone => {
            let why = format!(
                "cannot {} from inside an instance",
                request.verb().refusal()
            );
            say(stream, &refused(&why))
        }
        request @ (Request::Status | Request::Activities | Request::Stop) => {
            let (answer, answered) = channel();
            let sent = counter.mail.send(Mail::Request(request, answer));
            let answer = sent
                .ok()
                .and_then(|()| answered.recv_timeout(ANSWER).ok())
                .unwrap_or_else(|| refused("the daemon is about to end"));
            say(stream, &answer)
        }
    }
}

fn stream_events(stream: &UnixStream, counter: &Counter, bells: bool) -> std::io::Result<()> {
    let ring = counter.subscribers.join(bells);
    let streamed = (|| {
        say(stream, &Answer::Done)?;
        loop {
            match ring.next(STILL_THERE) {
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
    counter.subscribers.leave(&ring);
    streamed
}

/// Whether the other end was closed.
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
