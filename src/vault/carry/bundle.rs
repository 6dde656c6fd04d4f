//! The head of a git bundle: which commits the receiver must have, and the commit that is brought.

use std::io::{BufRead, Read};

/// A longer head is not ours.
const LONGEST: u64 = 1 << 20;

/// The ref that a bundle of ours brings.
const NAME: &str = "refs/bivouac-export/instance";

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Head {
    pub format: String,
    /// Commits that the receiver must have.
    pub needed: Vec<String>,
    pub commit: String,
}

impl Head {
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut text = if self.format == "sha1" {
            "# v2 git bundle\n".to_owned()
        } else {
            format!("# v3 git bundle\n@object-format={}\n", self.format)
        };
        for id in &self.needed {
            text.push('-');
            text.push_str(id);
            text.push('\n');
        }
        text.push_str(&self.commit);
        text.push(' ');
        text.push_str(NAME);
        text.push_str("\n\n");
        text.into_bytes()
    }

    /// Reads the head; the pack follows.
    pub(super) fn read(input: &mut dyn BufRead) -> Result<Self, String> {
        let mut input = input.take(LONGEST);
        let mut line = || -> Result<String, String> {
            let mut bytes = Vec::new();
            input
                .read_until(b'\n', &mut bytes)
                .map_err(|error| error.to_string())?;
            if bytes.pop() != Some(b'\n') {
                return Err("it is cut off, or no export".to_owned());
            }
            String::from_utf8(bytes).map_err(|_| "it is no export".to_owned())
        };
        let version = line()?;
        if version != "# v2 git bundle" && version != "# v3 git bundle" {
            return Err("it is no export".to_owned());
        }
        let mut head = Self {
            format: "sha1".to_owned(),
            needed: Vec::new(),
            commit: String::new(),
        };
        loop {
            let text = line()?;
            if text.is_empty() {
                break;
            }
            if let Some(format) = text.strip_prefix("@object-format=") {
                format.clone_into(&mut head.format);
            } else if let Some(rest) = text.strip_prefix('-') {
                let id = rest.split(' ').next().unwrap_or_default();
                head.needed.push(checked(id, &head.format)?);
            } else if let Some(id) = text.strip_suffix(NAME).and_then(|id| id.strip_suffix(' ')) {
                head.commit = checked(id, &head.format)?;
            } else {
                return Err("it is a bundle of something else".to_owned());
            }
        }
        if head.commit.is_empty() {
            return Err("it brings nothing".to_owned());
        }
        Ok(head)
    }
}

fn checked(id: &str, format: &str) -> Result<String, String> {
    let length = match format {
        "sha1" => 40,
        "sha256" => 64,
        other => return Err(format!("its hash `{other}` is unknown")),
    };
    let whole = id.len() == length && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    whole
        .then(|| id.to_ascii_lowercase())
        .ok_or_else(|| "an id in it is malformed".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_reads_back_and_everything_else_is_refused() {
        for format in ["sha1", "sha256"] {
            let id = "ab".repeat(if format == "sha1" { 20 } else { 32 });
            let head = Head {
                format: format.to_owned(),
                needed: vec![id.clone()],
                commit: id,
            };
            let mut bytes = head.to_bytes();
            for end in 0..bytes.len() {
                assert!(Head::read(&mut &bytes[..end]).is_err(), "{end}");
            }
            bytes.extend_from_slice(b"PACK");
            let mut rest = bytes.as_slice();
            assert_eq!(Head::read(&mut rest), Ok(head));
            assert_eq!(rest, b"PACK");
        }
        for text in [
            "",
            "PACK",
            "# v2 git bundle\nzz refs/heads/main\n\n",
            "# v2 git bundle\n\n",
        ] {
            assert!(Head::read(&mut text.as_bytes()).is_err());
        }
    }
}
