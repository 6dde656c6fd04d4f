//! The head of a request to the proxy.

use std::io::{self, Read};

/// A longer head is refused.
const LONGEST: usize = 64 * 1024;

/// What a client wants of the proxy.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Request {
    /// `CONNECT host:port`: bytes in both directions, usually TLS.
    Tunnel { host: String, port: u16 },
    /// `GET http://host/path`: the head to pass on, with the path alone and one request a connection.
    Plain {
        host: String,
        port: u16,
        head: Vec<u8>,
    },
}

/// A request, the value of its `Proxy-Authorization`, and the bytes that came behind its head.
#[derive(Debug)]
pub(super) struct Received {
    pub request: Request,
    pub authorization: Option<String>,
    pub rest: Vec<u8>,
}

/// None where the client has closed, or what it sent is no request to a proxy.
pub(super) fn read(stream: &mut impl Read) -> io::Result<Option<Received>> {
    let mut bytes = Vec::new();
    let mut piece = [0; 4096];
    let end = loop {
        let length = stream.read(&mut piece)?;
        if length == 0 || bytes.len() > LONGEST {
            return Ok(None);
        }
        bytes.extend_from_slice(piece.get(..length).unwrap_or_default());
        if let Some(at) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break at + 4;
        }
    };
    let rest = bytes.split_off(end);
    let parsed = std::str::from_utf8(&bytes).ok().and_then(parse);
    Ok(parsed.map(|(request, authorization)| Received {
        request,
        authorization,
        rest,
    }))
}

fn parse(head: &str) -> Option<(Request, Option<String>)> {
    let mut lines = head.trim_end_matches("\r\n").split("\r\n");
    let mut words = lines.next()?.split(' ');
    let (method, target, version) = (words.next()?, words.next()?, words.next()?);
    if words.next().is_some() || !version.starts_with("HTTP/1.") {
        return None;
    }
    let headers: Vec<(&str, &str)> = lines.filter_map(|line| line.split_once(':')).collect();
    let authorization = headers
        .iter()
        .find(|(name, _)| name.eq_ignore_ascii_case("proxy-authorization"))
        .map(|(_, value)| value.trim().to_owned());
    if method == "CONNECT" {
        let (host, port) = authority(target, None)?;
        return Some((Request::Tunnel { host, port }, authorization));
    }
    let target = target.strip_prefix("http://")?;
    let (named, path) = match target.find(['/', '?']) {
        Some(at) => target.split_at(at),
        None => (target, "/"),
    };
    let (host, port) = authority(named, Some(80))?;
    // The server must see the host that was checked, and no second request on this connection.
    let slash = if path.starts_with('/') { "" } else { "/" };
    let mut out =
        format!("{method} {slash}{path} HTTP/1.1\r\nHost: {named}\r\nConnection: close\r\n");
    for (name, value) in headers {
        let ours = [
            "host",
            "connection",
            "proxy-connection",
            "proxy-authorization",
            "keep-alive",
        ];
        if !ours.iter().any(|our| name.eq_ignore_ascii_case(our)) {
            out.push_str(name);
            out.push(':');
            out.push_str(value);
            out.push_str("\r\n");
        }
    }
    out.push_str("\r\n");
    let head = out.into_bytes();
    Some((Request::Plain { host, port, head }, authorization))
}

fn authority(text: &str, usual: Option<u16>) -> Option<(String, u16)> {
    // No user and password in front.
    if text.is_empty() || text.contains('@') {
        return None;
    }
    let (host, port) = match text.rsplit_once(':') {
        Some((host, port)) if !host.contains(':') || host.ends_with(']') => {
            (host, port.parse().ok()?)
        }
        _ => (text, usual?),
    };
    let host = host.trim_start_matches('[').trim_end_matches(']');
    (!host.is_empty()).then(|| (host.to_owned(), port))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(head: &str) -> Option<Received> {
        read(&mut head.as_bytes()).unwrap()
    }

    #[test]
    fn tunnels_and_plain_requests_are_understood() {
        let tunnel = check(
            "CONNECT a.org:443 HTTP/1.1\r\nHost: b.org\r\nProxy-Authorization: Basic x\r\n\r\nrest",
        )
        .unwrap();
        let (host, port) = ("a.org".to_owned(), 443);
        assert_eq!(tunnel.request, Request::Tunnel { host, port });
        assert_eq!(tunnel.authorization.as_deref(), Some("Basic x"));
        assert_eq!(tunnel.rest, b"rest");
        let plain = check("GET http://a.org:81/x?y HTTP/1.1\r\nHost: other.org\r\nProxy-Connection: keep-alive\r\nA: b\r\n\r\n").unwrap();
        let head =
            b"GET /x?y HTTP/1.1\r\nHost: a.org:81\r\nConnection: close\r\nA: b\r\n\r\n".to_vec();
        let (host, port) = ("a.org".to_owned(), 81);
        assert_eq!(plain.request, Request::Plain { host, port, head });
    }

    #[test]
    fn what_is_no_request_to_a_proxy_is_refused() {
        for head in [
            "",
            "GET / HTTP/1.1\r\n\r\n",
            "GET https://a.org/ HTTP/1.1\r\n\r\n",
            "CONNECT a.org HTTP/1.1\r\n\r\n",
            "CONNECT a.org:443 HTTP/2\r\n\r\n",
            "CONNECT u@a.org:443 HTTP/1.1\r\n\r\n",
            "CONNECT a.org:443 x HTTP/1.1\r\n\r\n",
            "CONNECT a.org:443 HTTP/1.1\r\n",
        ] {
            assert!(check(head).is_none(), "{head}");
        }
    }
}
