//! What this machine is called by the biv that has sent the command, if one has.

use std::sync::OnceLock;

static VIA: OnceLock<String> = OnceLock::new();

/// To be called once, before anything is looked at.
pub(crate) fn set_via(host: &str) {
    // A second call would be a mistake of ours; the first name stays.
    drop(VIA.set(host.to_owned()));
}

/// The name; None where the user is here.
pub(crate) fn via() -> Option<&'static str> {
    VIA.get().map(String::as_str)
}
