//! The way of a hook out of a seal. `biv hook` inside reaches no state: it hands over what it got, and the
//! launcher outside handles it.
//!
//! Whoever is sealed can send anything here. So a caller has to belong to the instance, its call has a size
//! and a time, and no more than a few are handled at once.

use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::config::Home;
use crate::engine::base::socket;
use crate::engine::hook::handle_hook;
use crate::model::InstanceId;
use crate::process::{Identity, lineage};

/// The most bytes of one call. `biv hook` keeps a megabyte, and each byte may take four characters.
const LONGEST: usize = 5 << 20;
/// How many calls are handled at once; the next ones wait.
const AT_ONCE: usize = 8;
/// How long a call may take to arrive.
const ARRIVAL: Duration = Duration::from_secs(10);
/// How long the agent waits for an answer: saving the work first may take a while.
const PATIENCE: Duration = Duration::from_secs(60);
/// Before the next attempt where calls cannot be taken: too many files are open.
const PAUSE: Duration = Duration::from_millis(200);

/// What is handed over.
#[derive(Debug, Serialize, Deserialize)]
struct HookCall {
    event: String,
    input: Vec<u8>,
}

/// Handles the hooks of a sealed instance until this process ends.
pub(super) fn serve(listener: UnixListener, home: Home, instance: InstanceId) {
    let listener = Arc::new(listener);
    for _ in 0..AT_ONCE {
        let (listener, home, instance) = (Arc::clone(&listener), home.clone(), instance.clone());
        std::thread::spawn(move || {
            loop {
                match listener.accept() {
                    Ok((stream, _)) => handle(stream, &home, &instance),
                    Err(_) => std::thread::sleep(PAUSE),
                }
            }
        });
    }
}

fn handle(mut stream: UnixStream, home: &Home, instance: &InstanceId) {
    if !is_inside(&stream) {
        return;
    }
    let Some(text) = arrived(&stream) else { return };
    let Ok(HookCall { event, input }) = serde_json::from_slice(&text) else {
        return;
    };
    if let Some(answer) = handle_hook(home, instance.as_str(), &event, &input) {
        // An agent that is gone, or does not read, needs no answer.
        drop(stream.set_write_timeout(Some(ARRIVAL)));
        drop(stream.write_all(answer.as_bytes()));
    }
}

/// Whether the process at the other end descends from this launcher: the socket is a file, which a process
/// outside of the seal may find.
fn is_inside(stream: &UnixStream) -> bool {
    let Some((user, pid)) = socket::peer(stream) else {
        return false;
    };
    let launcher = Identity::of_this_process();
    user == rustix::process::geteuid().as_raw() && lineage(pid).processes.contains(&launcher)
}

/// The whole call; None where it is too long, or too slow.
fn arrived(mut stream: &UnixStream) -> Option<Vec<u8>> {
    let end = Instant::now() + ARRIVAL;
    let mut text = Vec::new();
    let mut piece = vec![0; 64 * 1024];
    loop {
        let left = end.checked_duration_since(Instant::now());
        let left = left.filter(|left| !left.is_zero())?;
        stream.set_read_timeout(Some(left)).ok()?;
        match stream.read(&mut piece) {
            Ok(0) => return Some(text),
            Ok(length) => text.extend_from_slice(piece.get(..length)?),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => return None,
        }
        if text.len() > LONGEST {
            return None;
        }
    }
}

/// Passes a hook on from inside a seal. Returns the answer.
pub(crate) fn pass_hook_on(to: &Path, event: &str, input: &[u8]) -> Option<String> {
    let mut stream = socket::connect(to).ok()?;
    stream.set_write_timeout(Some(PATIENCE)).ok()?;
    stream.set_read_timeout(Some(PATIENCE)).ok()?;
    let call = HookCall {
        event: event.to_owned(),
        input: input.to_vec(),
    };
    stream.write_all(&serde_json::to_vec(&call).ok()?).ok()?;
    stream.shutdown(std::net::Shutdown::Write).ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    Some(answer).filter(|answer| !answer.is_empty())
}
