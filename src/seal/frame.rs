//! Messages with file descriptors over a stream socket: a length, then JSON.

use std::io::{IoSlice, IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The most descriptors of one message: the proxy and the forwarded ports.
pub(super) const MOST_DESCRIPTORS: usize = 64;
/// Larger than any environment.
const LONGEST: u64 = 64 << 20;
const HEADER: usize = 8;

pub(super) fn send(
    stream: &UnixStream,
    message: &impl Serialize,
    descriptors: &[BorrowedFd<'_>],
) -> std::io::Result<()> {
    let bytes = serde_json::to_vec(message)?;
    let header = (bytes.len() as u64).to_le_bytes();
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_DESCRIPTORS))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !descriptors.is_empty() && !control.push(SendAncillaryMessage::ScmRights(descriptors)) {
        return Err(std::io::Error::other("too many descriptors"));
    }
    let sent = sendmsg(
        stream,
        &[IoSlice::new(&header)],
        &mut control,
        SendFlags::NOSIGNAL,
    )?;
    let mut stream = stream;
    stream.write_all(header.get(sent..).unwrap_or_default())?;
    stream.write_all(&bytes)
}

/// The next message; an error of the kind `UnexpectedEof` where the other end is gone.
pub(super) fn receive<T: DeserializeOwned>(
    stream: &UnixStream,
) -> std::io::Result<(T, Vec<OwnedFd>)> {
    let mut header = [0; HEADER];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_DESCRIPTORS))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let received = loop {
        match recvmsg(
            stream.as_fd(),
            &mut [IoSliceMut::new(&mut header)],
            &mut control,
            RecvFlags::CMSG_CLOEXEC,
        ) {
            Err(rustix::io::Errno::INTR) => {}
            other => break other?.bytes,
        }
    };
    if received == 0 {
        return Err(std::io::ErrorKind::UnexpectedEof.into());
    }
    let mut stream = stream;
    stream.read_exact(header.get_mut(received..).unwrap_or_default())?;
    let length = u64::from_le_bytes(header);
    if length > LONGEST {
        return Err(std::io::Error::other("the message is too long"));
    }
    let mut bytes = vec![0; usize::try_from(length).unwrap_or(0)];
    stream.read_exact(&mut bytes)?;
    let descriptors = control
        .drain()
        .filter_map(|message| match message {
            RecvAncillaryMessage::ScmRights(descriptors) => Some(descriptors),
            _ => None,
        })
        .flatten()
        .collect();
    Ok((serde_json::from_slice(&bytes)?, descriptors))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_and_descriptors_arrive() {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let (pipe_out, mut pipe_in) = UnixStream::pair().unwrap();
        let text = "x".repeat(100_000);
        send(&ours, &text, &[pipe_out.as_fd()]).unwrap();
        send(&ours, &7, &[]).unwrap();
        drop(ours);
        let (received, mut descriptors) = receive::<String>(&theirs).unwrap();
        assert_eq!(received, text);
        let mut other = UnixStream::from(descriptors.remove(0));
        pipe_in.write_all(b"hello").unwrap();
        let mut read = [0; 5];
        other.read_exact(&mut read).unwrap();
        assert_eq!(&read, b"hello");
        assert_eq!(receive::<i32>(&theirs).unwrap().0, 7);
        let end = receive::<i32>(&theirs).unwrap_err();
        assert_eq!(end.kind(), std::io::ErrorKind::UnexpectedEof);
    }
}
