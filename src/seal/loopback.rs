//! Switches on the loopback device of a new network namespace.

use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, sendto, socket_with,
};

const NEW_LINK: u16 = 16;
/// A request that wants an answer.
const REQUEST: u16 = 1;
const ACKNOWLEDGE: u16 = 4;
const UP: u32 = 1;
/// The loopback device is the first of every network namespace.
const LOOPBACK: i32 = 1;
const LENGTH: u32 = 32;
/// Where the error number is in an answer.
const ERROR_AT: std::ops::Range<usize> = 16..20;

pub(super) fn bring_up() -> std::io::Result<()> {
    let socket = socket_with(
        AddressFamily::NETLINK,
        SocketType::RAW,
        SocketFlags::CLOEXEC,
        None,
    )?;
    let mut message = Vec::new();
    // struct nlmsghdr
    message.extend(LENGTH.to_ne_bytes());
    message.extend(NEW_LINK.to_ne_bytes());
    message.extend((REQUEST | ACKNOWLEDGE).to_ne_bytes());
    message.extend([0; 8]);
    // struct ifinfomsg
    message.extend([0; 4]);
    message.extend(LOOPBACK.to_ne_bytes());
    message.extend(UP.to_ne_bytes());
    message.extend(UP.to_ne_bytes());
    sendto(
        &socket,
        &message,
        SendFlags::empty(),
        &SocketAddrNetlink::new(0, 0),
    )?;
    let mut answer = [0; 1024];
    recv(&socket, &mut answer, RecvFlags::empty())?;
    let code = answer
        .get(ERROR_AT)
        .and_then(|bytes| bytes.try_into().ok())
        .map_or(0, i32::from_ne_bytes);
    if code == 0 {
        Ok(())
    } else {
        Err(std::io::Error::from_raw_os_error(-code))
    }
}
