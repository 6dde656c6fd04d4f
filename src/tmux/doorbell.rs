//! The output of a pane as a doorbell: tmux pipes it into a helper, which hands its end of the pipe
//! over to the watcher and ends. No process stays, and a silent pane costs nothing.

use std::io::{IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};

/// The longest name of a pane that is worth reading.
const LONGEST_NAME: usize = 32;

/// Where helpers hand over what they were given.
#[derive(Debug)]
pub(crate) struct Doorbells {
    socket: UnixDatagram,
    path: PathBuf,
}

impl Doorbells {
    /// Takes the place over: whatever stood there before belongs to nobody any more.
    pub(crate) fn open(socket: UnixDatagram, path: &Path) -> std::io::Result<Self> {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))?;
        socket.set_nonblocking(true)?;
        Ok(Self {
            socket,
            path: path.to_owned(),
        })
    }

    pub(crate) fn readable(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// The shell command for tmux that hands the output of a pane over to us. The helper finds the
    /// socket by its name: it starts in the server's directory.
    pub(crate) fn command(&self, biv: &Path, pane: &str) -> Option<String> {
        let biv = shlex::try_quote(biv.to_str()?).ok()?.into_owned();
        let socket = self.path.file_name()?.to_str()?;
        let number = pane.strip_prefix('%')?;
        // tmux expands formats and times in this command.
        let biv = biv.replace('#', "##").replace('%', "%%");
        Some(format!("exec {biv} __pipe {socket} {number}"))
    }

    /// The next pipe that was handed over, with the name of its pane.
    pub(crate) fn receive(&self) -> Option<(String, OwnedFd)> {
        loop {
            let mut name = [0; LONGEST_NAME];
            let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
            let mut control = RecvAncillaryBuffer::new(&mut space);
            let message = recvmsg(
                &self.socket,
                &mut [IoSliceMut::new(&mut name)],
                &mut control,
                RecvFlags::CMSG_CLOEXEC,
            )
            .ok()?;
            let pipe = control.drain().find_map(|message| match message {
                RecvAncillaryMessage::ScmRights(mut pipes) => pipes.next(),
                _ => None,
            });
            let number = name
                .get(..message.bytes)
                .and_then(|name| std::str::from_utf8(name).ok())
                .filter(|name| name.parse::<u32>().is_ok());
            if let (Some(number), Some(pipe)) = (number, pipe) {
                return Some((format!("%{number}"), pipe));
            }
        }
    }
}

impl Drop for Doorbells {
    fn drop(&mut self) {
        drop(std::fs::remove_file(&self.path));
    }
}

/// The helper: hands its standard input over and is done.
pub(crate) fn hand_over(socket: &Path, pane: &str) -> std::io::Result<()> {
    let watcher = UnixDatagram::unbound()?;
    watcher.connect(socket)?;
    let stdin = std::io::stdin();
    let pipes = [stdin.as_fd()];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    control.push(SendAncillaryMessage::ScmRights(&pipes));
    sendmsg(
        &watcher,
        &[IoSlice::new(pane.as_bytes())],
        &mut control,
        SendFlags::empty(),
    )?;
    Ok(())
}
