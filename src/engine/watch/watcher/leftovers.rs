//! What watchers that were killed have left behind.

use std::io::ErrorKind;
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};

use crate::engine::base::socket;
use crate::process::{Identity, Signal};

/// Removes the sockets of watchers that were killed, which refuse a connection. One with the pid of
/// this process is left from an earlier process.
pub(super) fn sweep(directory: &Path) {
    let own = format!("pipes-{}.sock", std::process::id());
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let Some(number) = name
            .strip_prefix("pipes-")
            .and_then(|name| name.strip_suffix(".sock")?.parse::<u32>().ok())
        else {
            continue;
        };
        let deserted = UnixDatagram::unbound()
            .and_then(|socket| socket::connect_datagram(&socket, &entry.path()))
            .is_err_and(|error| error.kind() == ErrorKind::ConnectionRefused);
        if deserted || name == own {
            // What cannot be removed is tried again by the next watcher.
            drop(std::fs::remove_file(entry.path()));
            let client_file = client_file(directory, number);
            let client = std::fs::read(&client_file)
                .ok()
                .and_then(|text| serde_json::from_slice::<Identity>(&text).ok());
            if let Some(client) = client {
                client.signal(Signal::KILL);
            }
            drop(std::fs::remove_file(client_file));
        }
    }
}

pub(super) fn client_file(directory: &Path, watcher: u32) -> PathBuf {
    directory.join(format!("client-{watcher}.json"))
}
