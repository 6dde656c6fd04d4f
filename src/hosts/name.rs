//! The names of hosts.

use std::fmt;

use serde::{Serialize, Serializer};

const LONGEST: usize = 32;

/// A name that can be a file name and a part of `HOST:INSTANCE`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct HostName(String);

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is no name for a host", crate::model::printable_line(.0))]
pub(crate) struct HostNameError(pub String);

impl HostName {
    pub(crate) fn parse(text: &str) -> Result<Self, HostNameError> {
        let fits = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
        let begins_well = text.starts_with(|first: char| first.is_ascii_alphanumeric());
        if begins_well && text.len() <= LONGEST && text.chars().all(fits) {
            Ok(Self(text.to_owned()))
        } else {
            Err(HostNameError(text.to_owned()))
        }
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for HostName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for HostName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_a_file_name_and_never_an_option_or_a_path() {
        for good in ["box", "gpu-1", "A.b_c", "7"] {
            assert!(HostName::parse(good).is_ok(), "{good}");
        }
        let long = "x".repeat(33);
        for bad in ["", "-x", ".x", "a:b", "a/b", "a b", "ä", "a\n", &long] {
            assert!(HostName::parse(bad).is_err(), "{bad}");
        }
    }
}
