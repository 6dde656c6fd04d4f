//! A request as one word of letters and digits, and the marks around its answer.
//!
//! ssh joins the words of a command and the login shell of the other side reads them again, which may be sh,
//! fish or csh, each with rules of its own; `docker exec` passes them on as they are. Hexadecimal digits mean
//! the same to all of them.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use super::name::HostName;

/// Grows when a side could misunderstand the other.
pub(super) const PROTOCOL: u32 = 1;

/// Begins each mark on the standard error of a request.
pub(super) const MARK: &[u8] = b"\x1ebiv-host ";

/// The most bytes of a request: Linux limits one argument to 128 KiB, and ssh makes one of all.
const LONGEST: usize = 60_000;

/// One command line for the other side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Request {
    /// What the host is called here: names of instances begin with it.
    pub host: HostName,
    pub screen: Screen,
    pub words: Vec<OsString>,
}

/// What the other side should know of the terminal here.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Screen {
    pub columns: Option<u16>,
    pub coloured: bool,
    /// The connection has a terminal of its own.
    pub terminal: bool,
}

/// Why a request was not understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Misunderstood {
    Protocol,
    Malformed,
}

impl Request {
    /// The word; an error with its size where it is too long.
    pub(super) fn encode(&self) -> Result<String, usize> {
        let columns = self.screen.columns.map(|columns| columns.to_string());
        let flag = |set: bool| if set { "1" } else { "" };
        let mut bytes = Vec::new();
        for field in [
            PROTOCOL.to_string().as_str(),
            self.host.as_str(),
            columns.as_deref().unwrap_or(""),
            flag(self.screen.coloured),
            flag(self.screen.terminal),
        ] {
            bytes.extend_from_slice(field.as_bytes());
            bytes.push(0);
        }
        for word in &self.words {
            bytes.extend_from_slice(word.as_bytes());
            bytes.push(0);
        }
        if bytes.len() > LONGEST {
            return Err(bytes.len());
        }
        Ok(hexadecimal(&bytes))
    }

    pub(super) fn decode(word: &OsStr) -> Result<Self, Misunderstood> {
        let bytes = from_hexadecimal(word.as_bytes()).ok_or(Misunderstood::Malformed)?;
        let whole = bytes.strip_suffix(b"\0").ok_or(Misunderstood::Malformed)?;
        let mut fields = whole.split(|byte| *byte == 0);
        let mut text = || {
            let field = fields.next().ok_or(Misunderstood::Malformed)?;
            std::str::from_utf8(field).map_err(|_| Misunderstood::Malformed)
        };
        if text()? != PROTOCOL.to_string() {
            return Err(Misunderstood::Protocol);
        }
        let host = HostName::parse(text()?).map_err(|_| Misunderstood::Malformed)?;
        let columns = text()?.parse().ok();
        let coloured = text()? == "1";
        let terminal = text()? == "1";
        Ok(Self {
            host,
            screen: Screen {
                columns,
                coloured,
                terminal,
            },
            words: fields
                .map(|word| OsString::from_vec(word.to_vec()))
                .collect(),
        })
    }
}

pub(super) fn hexadecimal(bytes: &[u8]) -> String {
    let digit = |value: u8| char::from(b"0123456789abcdef"[usize::from(value & 15)]);
    bytes
        .iter()
        .flat_map(|byte| [digit(byte >> 4), digit(*byte)])
        .collect()
}

fn from_hexadecimal(text: &[u8]) -> Option<Vec<u8>> {
    if !text.len().is_multiple_of(2) {
        return None;
    }
    let value = |digit: u8| u8::try_from(char::from(digit).to_digit(16)?).ok();
    text.chunks_exact(2)
        .map(|pair| Some(value(pair[0])? << 4 | value(pair[1])?))
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn request(words: Vec<OsString>) -> Request {
        Request {
            host: HostName::parse("box").unwrap(),
            screen: Screen {
                columns: Some(80),
                coloured: true,
                terminal: false,
            },
            words,
        }
    }

    proptest! {
        #[test]
        fn every_word_arrives_as_it_was(
            words in prop::collection::vec(prop::collection::vec(1_u8.., 0..20), 1..6)
        ) {
            let sent = request(words.into_iter().map(OsString::from_vec).collect());
            let word = sent.encode().unwrap();
            prop_assert!(word.bytes().all(|byte| byte.is_ascii_alphanumeric()));
            prop_assert_eq!(Request::decode(OsStr::new(&word)), Ok(sent));
        }
    }

    #[test]
    fn what_is_cut_or_newer_is_not_carried_out() {
        let word = request(vec!["kill".into(), "all".into()]).encode().unwrap();
        let cut = &word[..word.len() - 2];
        assert_eq!(
            Request::decode(OsStr::new(cut)),
            Err(Misunderstood::Malformed)
        );
        let newer = word.replacen("31", "32", 1);
        assert_eq!(
            Request::decode(OsStr::new(&newer)),
            Err(Misunderstood::Protocol)
        );
        let long = request(vec!["x".repeat(60_000).into()]);
        assert!(long.encode().is_err());
    }
}
