//! Whether a server can be reached, found out without a process.

use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use super::Server;
use crate::process::Signal;

impl Server {
    /// Whether a server can be reached. Checked before a process is started for a call.
    pub(super) fn has_socket(&self) -> bool {
        match self.socket_path().exists() {
            true => !self.is_left_socket(),
            false => self.recreate_socket(),
        }
    }

    /// Whether the socket is certainly that of a server that has ended: nobody listens. A server that is known to
    /// run is not called for that.
    fn is_left_socket(&self) -> bool {
        if self.identity().is_some() {
            return false;
        }
        // The path may be too long for an address; a directory that is open has a short one.
        let socket = self.socket_path();
        let Some(Ok(directory)) = socket.parent().map(std::fs::File::open) else {
            return false;
        };
        let path = format!("/proc/self/fd/{}/{}", directory.as_raw_fd(), self.socket());
        UnixStream::connect(path)
            .is_err_and(|error| error.kind() == std::io::ErrorKind::ConnectionRefused)
    }

    /// Lets a running server whose socket was deleted, as by a cleaner of temporary files, create it again.
    /// A second server would not know the agents of the first.
    fn recreate_socket(&self) -> bool {
        let Some(server) = self.identity() else {
            return false;
        };
        server.signal(Signal::USR1);
        let deadline = Instant::now() + Duration::from_secs(1);
        while Instant::now() < deadline {
            if self.socket_path().exists() {
                return true;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        false
    }
}
