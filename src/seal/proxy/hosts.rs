//! Which hosts a sealed agent may reach.

use serde::{Deserialize, Serialize};

/// The port where a name has none.
const HTTPS: u16 = 443;

/// One entry of the list: `api.example.org`, `*.example.org`, `example.org:8443`, `example.org:*`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AllowedHost {
    name: String,
    /// Whether every name below it is meant.
    below: bool,
    /// None: every port.
    port: Option<u16>,
}

impl AllowedHost {
    /// None where the text is no host.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (name, port) = match text.rsplit_once(':') {
            Some((name, "*")) => (name, None),
            Some((name, port)) if !name.contains(':') || name.ends_with(']') => {
                (name, Some(port.parse().ok()?))
            }
            _ => (text, Some(HTTPS)),
        };
        let (below, name) = match name.strip_prefix("*.") {
            Some(name) => (true, name),
            None => (false, name),
        };
        let name = canonical(name);
        let is_name = !name.is_empty()
            && name
                .chars()
                .all(|letter| letter.is_ascii_alphanumeric() || "-._:".contains(letter));
        is_name.then_some(Self { name, below, port })
    }

    pub(crate) fn allows(&self, host: &str, port: u16) -> bool {
        let host = canonical(host);
        let named = if self.below {
            host.strip_suffix(&self.name)
                .is_some_and(|before| before.ends_with('.') && before.len() > 1)
        } else {
            host == self.name
        };
        named && self.port.is_none_or(|allowed| allowed == port)
    }

    /// The port, where this is a service on the loopback outside: it is forwarded instead of proxied.
    pub(crate) fn loopback_port(&self) -> Option<u16> {
        let is_loopback = matches!(self.name.as_str(), "localhost" | "127.0.0.1" | "::1");
        self.port.filter(|_| is_loopback)
    }
}

/// Lower case, without the dot at the end and the brackets of an address.
fn canonical(name: &str) -> String {
    let name = name.strip_suffix('.').unwrap_or(name);
    let name = name
        .strip_prefix('[')
        .and_then(|name| name.strip_suffix(']'))
        .unwrap_or(name);
    name.to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_named_is_allowed() {
        for (entry, host, port, expected) in [
            ("api.example.org", "api.example.org", 443, true),
            ("api.example.org", "API.example.org.", 443, true),
            ("api.example.org", "api.example.org", 80, false),
            ("api.example.org", "evil-api.example.org", 443, false),
            ("api.example.org", "api.example.org.evil.net", 443, false),
            ("*.example.org", "a.b.example.org", 443, true),
            ("*.example.org", "example.org", 443, false),
            ("*.example.org", "evilexample.org", 443, false),
            ("*.example.org", ".example.org", 443, false),
            ("example.org:8443", "example.org", 8443, true),
            ("example.org:8443", "example.org", 443, false),
            ("example.org:*", "example.org", 22, true),
            ("[::1]:99", "::1", 99, true),
            ("10.0.0.1", "10.0.0.1", 443, true),
        ] {
            let parsed = AllowedHost::parse(entry).unwrap();
            assert_eq!(parsed.allows(host, port), expected, "{entry} {host}:{port}");
        }
        for wrong in ["", "*.", "a b", "http://x", "x:port", "x/y", "*"] {
            assert_eq!(AllowedHost::parse(wrong), None, "{wrong}");
        }
        let port = |text| AllowedHost::parse(text).unwrap().loopback_port();
        assert_eq!(port("127.0.0.1:5432"), Some(5432));
        assert_eq!(port("localhost:*"), None);
        assert_eq!(port("example.org:5432"), None);
    }
}
