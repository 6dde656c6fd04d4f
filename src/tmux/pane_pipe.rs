//! Pipes the output of a pane to the watcher: tmux pipes it into a helper process, which sends the pipe's
//! file descriptor to the watcher and ends. No process stays, and a silent pane costs nothing.

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

/// The longest name of a pane.
const LONGEST_NAME: usize = 32;

/// The socket on which the watcher receives the pipes.
#[derive(Debug)]
pub(crate) struct PipeReceiver {
    socket: UnixDatagram,
    path: PathBuf,
}

impl PipeReceiver {
    /// Uses a socket that is bound to this path.
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

    /// The shell command for tmux that sends the output of a pane to this process. The helper finds the
    /// socket by its file name, because it starts in the server's directory.
    pub(crate) fn command(&self, biv: &Path, pane: &str) -> Option<String> {
        let biv = shlex::try_quote(biv.to_str()?).ok()?.into_owned();
        let socket = self.path.file_name()?.to_str()?;
        let number = pane.strip_prefix('%')?;
        // tmux expands formats and times in this command.
        let biv = biv.replace('#', "##").replace('%', "%%");
        Some(format!("exec {biv} __pipe {socket} {number}"))
    }

    /// The next pipe that was sent, with the id of its pane.
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

impl Drop for PipeReceiver {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_file(&self.path) {
            tracing::debug!(%error, "the socket for pane output was not removed");
        }
    }
}

/// The helper: sends the descriptor of its standard input to the watcher.
pub(crate) fn send_pipe(socket: &Path, pane: &str) -> std::io::Result<()> {
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
