//! The proxy through which a sealed agent reaches named hosts, and nothing else.
//!
//! It runs outside the seal. A thread for each direction of a connection: an agent has a few at a time,
//! and the daemon's reasons against a runtime hold here too.

mod hosts;
mod request;

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

pub(crate) use hosts::AllowedHost;
use request::{Received, Request};

/// More connections at a time are refused.
const MOST_CONNECTIONS: usize = 512;
/// How long a client may take for its request, and a host to be reached.
const PATIENCE: Duration = Duration::from_secs(30);

/// A connection that the list does not allow.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Denied {
    pub host: String,
    pub port: u16,
}

pub(crate) type OnDenied = Arc<dyn Fn(&Denied) + Send + Sync>;

pub(crate) struct Proxy {
    hosts: Vec<AllowedHost>,
    /// What clients must say where other users of the machine can reach the port.
    authorization: Option<String>,
    on_denied: OnDenied,
    open: AtomicUsize,
}

impl Proxy {
    pub(super) fn new(
        hosts: Vec<AllowedHost>,
        authorization: Option<String>,
        on_denied: OnDenied,
    ) -> Arc<Self> {
        Arc::new(Self {
            hosts,
            authorization,
            on_denied,
            open: AtomicUsize::new(0),
        })
    }

    /// Accepts connections for as long as this process runs.
    pub(super) fn serve(self: &Arc<Self>, listener: TcpListener) {
        let proxy = Arc::clone(self);
        each_connection(listener, move |client| {
            if proxy.open.fetch_add(1, Ordering::Relaxed) < MOST_CONNECTIONS {
                // A connection that breaks concerns its two ends only.
                if let Err(error) = proxy.handle(client) {
                    tracing::debug!(%error, "a connection through the proxy of a seal ended");
                }
            }
            proxy.open.fetch_sub(1, Ordering::Relaxed);
        });
    }

    fn handle(&self, mut client: TcpStream) -> io::Result<()> {
        client.set_read_timeout(Some(PATIENCE))?;
        let Some(received) = request::read(&mut client)? else {
            return refuse(
                &mut client,
                "400 Bad Request",
                "this is no request to a proxy",
            );
        };
        client.set_read_timeout(None)?;
        let Received {
            request,
            authorization,
            rest,
        } = received;
        if self.authorization.is_some() && self.authorization != authorization {
            return refuse(
                &mut client,
                "407 Proxy Authentication Required",
                "this proxy belongs to a sealed agent",
            );
        }
        let (host, port) = match &request {
            Request::Tunnel { host, port } | Request::Plain { host, port, .. } => (host, *port),
        };
        if !self.hosts.iter().any(|allowed| allowed.allows(host, port)) {
            (self.on_denied)(&Denied {
                host: host.clone(),
                port,
            });
            let why =
                format!("{host}:{port} is not in the list of hosts (seal.hosts) of this seal");
            return refuse(&mut client, "403 Forbidden", &why);
        }
        let mut server = match connect(host, port) {
            Ok(server) => server,
            Err(error) => return refuse(&mut client, "502 Bad Gateway", &error.to_string()),
        };
        match &request {
            Request::Tunnel { .. } => {
                client.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n")?;
            }
            Request::Plain { head, .. } => server.write_all(head)?,
        }
        server.write_all(&rest)?;
        copy_both(client, server)
    }
}

/// Connects each client of the listener with this port on the loopback outside.
pub(super) fn forward(listener: TcpListener, port: u16) {
    each_connection(listener, move |client| {
        // The service may not run: the client sees that its connection is closed.
        drop(connect("localhost", port).and_then(|server| copy_both(client, server)));
    });
}

fn each_connection(listener: TcpListener, handle: impl Fn(TcpStream) + Send + Sync + 'static) {
    let handle = Arc::new(handle);
    std::thread::spawn(move || {
        loop {
            match listener.accept() {
                Ok((client, _)) => {
                    let handle = Arc::clone(&handle);
                    let builder = std::thread::Builder::new();
                    // Without a thread the connection is closed.
                    drop(builder.spawn(move || handle(client)));
                }
                // Too many open files, for example: that passes.
                Err(_) => std::thread::sleep(Duration::from_millis(50)),
            }
        }
    });
}

fn connect(host: &str, port: u16) -> io::Result<TcpStream> {
    let mut last = io::Error::other("the name has no address");
    for address in (host, port).to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, PATIENCE) {
            Ok(stream) => return Ok(stream),
            Err(error) => last = error,
        }
    }
    Err(last)
}

fn copy_both(client: TcpStream, server: TcpStream) -> io::Result<()> {
    let (mut from_client, mut to_server) = (client.try_clone()?, server.try_clone()?);
    let upwards = std::thread::spawn(move || {
        // The end of either side ends the other.
        drop(io::copy(&mut from_client, &mut to_server));
        drop(to_server.shutdown(Shutdown::Write));
    });
    let (mut from_server, mut to_client) = (server, client);
    let copied = io::copy(&mut from_server, &mut to_client);
    drop(to_client.shutdown(Shutdown::Both));
    drop(from_server.shutdown(Shutdown::Both));
    // A panic in the thread has ended its copy.
    drop(upwards.join());
    copied.map(drop)
}

fn refuse(client: &mut TcpStream, status: &str, why: &str) -> io::Result<()> {
    let body = format!("biv: {why}\n");
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    client.write_all(head.as_bytes())?;
    client.write_all(body.as_bytes())?;
    client.shutdown(Shutdown::Write)?;
    // Closing with unread bytes would reset the connection before the client has read the answer.
    client.set_read_timeout(Some(Duration::from_secs(1)))?;
    let mut unread = [0; 1024];
    while client.read(&mut unread)? > 0 {}
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    fn start(hosts: &[String], authorization: Option<&str>) -> (u16, Arc<Mutex<Vec<Denied>>>) {
        let denied = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&denied);
        let proxy = Proxy::new(
            hosts
                .iter()
                .map(|host| AllowedHost::parse(host).unwrap())
                .collect(),
            authorization.map(str::to_owned),
            Arc::new(move |one: &Denied| seen.lock().unwrap().push(one.clone())),
        );
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        proxy.serve(listener);
        (port, denied)
    }

    fn ask(port: u16, request: &str) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    /// Sends back what it gets.
    fn echo() -> u16 {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        each_connection(listener, |client| {
            let (mut from, mut to) = (client.try_clone().unwrap(), client);
            io::copy(&mut from, &mut to).ok();
            to.shutdown(Shutdown::Write).ok();
        });
        port
    }

    #[test]
    fn named_hosts_are_reached_and_others_are_reported() {
        let server = echo();
        let (port, denied) = start(&[format!("127.0.0.1:{server}")], None);
        let answer = ask(
            port,
            &format!("CONNECT 127.0.0.1:{server} HTTP/1.1\r\n\r\nhello"),
        );
        assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
        assert!(answer.ends_with("\r\n\r\nhello"), "{answer}");
        let answer = ask(
            port,
            &format!("GET http://127.0.0.1:{server}/x HTTP/1.1\r\n\r\n"),
        );
        assert!(answer.starts_with("GET /x HTTP/1.1\r\n"), "{answer}");
        assert!(denied.lock().unwrap().is_empty());
        let answer = ask(port, "CONNECT evil.example:443 HTTP/1.1\r\n\r\n");
        assert!(answer.starts_with("HTTP/1.1 403 "), "{answer}");
        let other = Denied {
            host: "evil.example".to_owned(),
            port: 443,
        };
        assert_eq!(*denied.lock().unwrap(), [other]);
    }

    #[test]
    fn another_user_of_the_machine_cannot_use_it() {
        let server = echo();
        let (port, _) = start(&[format!("127.0.0.1:{server}")], Some("Basic abc"));
        let head = format!("CONNECT 127.0.0.1:{server} HTTP/1.1\r\n");
        assert!(ask(port, &format!("{head}\r\n")).starts_with("HTTP/1.1 407 "));
        let with = format!("{head}Proxy-Authorization: Basic abc\r\n\r\n");
        assert!(ask(port, &with).starts_with("HTTP/1.1 200 "));
    }
}
