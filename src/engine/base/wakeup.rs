//! Wakes the daemon, if one runs, when something has happened.

use std::os::unix::net::UnixDatagram;
use std::path::PathBuf;
use std::time::Duration;

use crate::engine::base::{Core, Error, socket};
use crate::model::InstanceId;

/// A daemon that does not read must not hold up the caller.
const PATIENCE: Duration = Duration::from_millis(100);

/// The file name of the daemon's datagram socket.
pub(in crate::engine) const WAKEUP_SOCKET: &str = "bell.sock";

impl Core {
    /// The socket on which the daemon gets datagrams: each is the id of an instance to look at.
    pub(crate) fn wakeup_path(&self) -> PathBuf {
        self.home.run.join(WAKEUP_SOCKET)
    }

    /// Tells the daemon that something has happened, to one instance or in general.
    pub(crate) fn wake_daemon(&self, instance: Option<&InstanceId>) {
        let path = self.wakeup_path();
        if !path.exists() {
            return;
        }
        let message = instance.map_or("-", InstanceId::as_str);
        let sent = UnixDatagram::unbound().and_then(|socket| {
            socket.set_write_timeout(Some(PATIENCE))?;
            socket::connect_datagram(&socket, &path)?;
            socket.send(message.as_bytes())
        });
        // The daemon scans from time to time and then sees the change.
        if let Err(error) = sent {
            tracing::debug!(%error, "wake the daemon");
        }
    }

    /// Opens that socket.
    pub(crate) fn open_wakeup_socket(&self) -> Result<UnixDatagram, Error> {
        use std::os::unix::fs::PermissionsExt;
        let path = self.wakeup_path();
        // Usually the file does not exist; otherwise binding reports the error.
        drop(std::fs::remove_file(&path));
        let socket = socket::bind_datagram(&path).map_err(Error::files("open", &path))?;
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600))
            .map_err(Error::files("close to others", &path))?;
        Ok(socket)
    }
}
