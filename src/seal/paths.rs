//! Paths as configuration and provider files write them.

use std::ffi::OsString;
use std::path::PathBuf;

/// A path that was written as `~/x`, `/x` or `{NAME:~/x}/y`: the variable's value, else what follows the
/// colon.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NamedPath {
    pub path: PathBuf,
    /// It ends with `/`: a directory that is made if it is missing.
    pub made: bool,
}

/// None for a path that is not absolute, or leads upwards.
pub(crate) fn expand(text: &str, variable: &dyn Fn(&str) -> Option<OsString>) -> Option<NamedPath> {
    let made = text.ends_with('/');
    let path = match text.strip_prefix('{') {
        Some(rest) => {
            let (named, after) = rest.split_once('}')?;
            let (name, usual) = named.split_once(':')?;
            let start = match variable(name).filter(|value| !value.is_empty()) {
                Some(value) => PathBuf::from(value),
                None => from_home(usual, variable)?,
            };
            let after = after.trim_start_matches('/');
            if after.is_empty() {
                start
            } else {
                start.join(after)
            }
        }
        None => from_home(text, variable)?,
    };
    let plain = path.is_absolute()
        && path
            .components()
            .all(|part| part != std::path::Component::ParentDir);
    // Without the slash at the end.
    let path: PathBuf = path.components().collect();
    plain.then_some(NamedPath { path, made })
}

fn from_home(text: &str, variable: &dyn Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    match text.strip_prefix("~/") {
        Some(rest) => {
            let home = variable("HOME").filter(|home| !home.is_empty())?;
            Some(PathBuf::from(home).join(rest))
        }
        None => Some(PathBuf::from(text)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_absolute_or_refused() {
        let variable = |name: &str| match name {
            "HOME" => Some("/home/me".into()),
            "SET" => Some("/set/by user".into()),
            _ => None,
        };
        for (text, expected) in [
            ("~/.x", Some(("/home/me/.x", false))),
            ("~/.x/", Some(("/home/me/.x", true))),
            ("/opt/x", Some(("/opt/x", false))),
            ("{SET:~/.x}/y/", Some(("/set/by user/y", true))),
            ("{UNSET:~/.x}/y", Some(("/home/me/.x/y", false))),
            ("{UNSET:~/.x}", Some(("/home/me/.x", false))),
            ("x", None),
            ("", None),
            ("~x", None),
            ("/a/../b", None),
            ("{SET", None),
            ("{SET}", None),
        ] {
            let found = expand(text, &variable).map(|named| (named.path, named.made));
            let expected = expected.map(|(path, made)| (PathBuf::from(path), made));
            assert_eq!(found, expected, "{text}");
        }
    }
}
