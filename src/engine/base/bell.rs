//! Telling the daemon that something has happened, where there is one.

use std::os::unix::net::UnixDatagram;
use std::path::PathBuf;
use std::time::Duration;

use crate::engine::base::{Core, Error, socket};
use crate::model::InstanceId;

/// A daemon that hears nothing must not hold anybody up.
const PATIENCE: Duration = Duration::from_millis(100);

/// The file name of the socket that those listen on who want to hear it.
pub(in crate::engine) const BELL: &str = "bell.sock";

impl Core {
    /// Where the daemon listens for messages of one word: the id of an instance to look at.
    pub(crate) fn bell_path(&self) -> PathBuf {
        self.home.run.join(BELL)
    }

    /// Says that something has happened to an instance, or somewhere. Nobody need hear it.
    pub(crate) fn ring(&self, instance: Option<&InstanceId>) {
        let path = self.bell_path();
        if !path.exists() {
            return;
        }
        let word = instance.map_or("-", InstanceId::as_str);
        drop(
            UnixDatagram::unbound()
                .and_then(|bell| {
                    bell.set_write_timeout(Some(PATIENCE))?;
                    socket::connect_datagram(&bell, &path)?;
                    Ok(bell)
                })
                .and_then(|bell| bell.send(word.as_bytes())),
        );
    }

    /// Begins to listen for such messages.
    pub(crate) fn hang_up_bell(&self) -> Result<UnixDatagram, Error> {
        use std::os::unix::fs::PermissionsExt;
        let path = self.bell_path();
        drop(std::fs::remove_file(&path));
        let bell = socket::bind_datagram(&path).map_err(Error::files("open", &path))?;
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600))
            .map_err(Error::files("close to others", &path))?;
        Ok(bell)
    }
}
