//! Unix sockets at paths that may be longer than a socket address allows.

use std::os::fd::AsFd;
use std::os::unix::net::{UnixDatagram, UnixListener, UnixStream};
use std::path::Path;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// What fits into the address of a socket, with its final zero.
const LONGEST_PATH: usize = 100;

/// Binds a socket at a path of any length: a long one is reached through its open directory.
pub(in crate::engine) fn bind(path: &Path) -> std::io::Result<UnixListener> {
    if path.as_os_str().len() <= LONGEST_PATH {
        return UnixListener::bind(path);
    }
    let directory = std::fs::File::open(path.parent().unwrap_or(Path::new(".")))?;
    UnixListener::bind(through(&directory, path))
}

/// The same for messages without a connection.
pub(in crate::engine) fn bind_datagram(path: &Path) -> std::io::Result<UnixDatagram> {
    if path.as_os_str().len() <= LONGEST_PATH {
        return UnixDatagram::bind(path);
    }
    let directory = std::fs::File::open(path.parent().unwrap_or(Path::new(".")))?;
    UnixDatagram::bind(through(&directory, path))
}

/// Connects to a socket at a path of any length.
pub(in crate::engine) fn connect(path: &Path) -> std::io::Result<UnixStream> {
    if path.as_os_str().len() <= LONGEST_PATH {
        return UnixStream::connect(path);
    }
    let directory = std::fs::File::open(path.parent().unwrap_or(Path::new(".")))?;
    UnixStream::connect(through(&directory, path))
}

pub(in crate::engine) fn connect_datagram(
    socket: &UnixDatagram,
    path: &Path,
) -> std::io::Result<()> {
    if path.as_os_str().len() <= LONGEST_PATH {
        return socket.connect(path);
    }
    let directory = std::fs::File::open(path.parent().unwrap_or(Path::new(".")))?;
    socket.connect(through(&directory, path))
}

/// User and process at the other end.
#[cfg(target_os = "linux")]
pub(in crate::engine) fn peer(stream: &UnixStream) -> Option<(u32, i32)> {
    let peer = rustix::net::sockopt::socket_peercred(stream).ok()?;
    Some((peer.uid.as_raw(), peer.pid.as_raw_nonzero().get()))
}

/// On other systems only the modes of the directory (0700) and the socket (0600) protect it.
#[cfg(not(target_os = "linux"))]
pub(in crate::engine) fn peer(_: &UnixStream) -> Option<(u32, i32)> {
    Some((rustix::process::geteuid().as_raw(), 0))
}

/// The same file by a short name, as long as the directory is open.
fn through(directory: &std::fs::File, path: &Path) -> std::path::PathBuf {
    use std::os::fd::AsRawFd;
    Path::new("/proc/self/fd")
        .join(directory.as_raw_fd().to_string())
        .join(path.file_name().unwrap_or_default())
}

/// Whether the other end is the process with this pid, of this user.
#[cfg(target_os = "linux")]
pub(in crate::engine) fn peer_is(stream: &UnixStream, pid: i32) -> bool {
    rustix::net::sockopt::socket_peercred(stream).is_ok_and(|peer| {
        peer.uid == rustix::process::geteuid() && peer.pid.as_raw_nonzero().get() == pid
    })
}

/// On other systems only the directory's mode (0700) and the random socket name protect it.
#[cfg(not(target_os = "linux"))]
pub(in crate::engine) fn peer_is(_: &UnixStream, _: i32) -> bool {
    true
}

pub(in crate::engine) fn wait_readable(socket: &impl AsFd, wait: Duration) {
    let timeout = Timespec {
        tv_sec: i64::try_from(wait.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: i64::from(wait.subsec_nanos()),
    };
    // Woken early or interrupted: the caller looks again anyway.
    poll(&mut [PollFd::new(socket, PollFlags::IN)], Some(&timeout)).ok();
}
