//! A title in a command that the user can type.

use crate::engine::via;
use crate::model::Title;

/// A title as a shell word. For a user at another machine it begins with the name of this one.
pub(crate) fn word(title: &Title) -> String {
    let shown = match via() {
        Some(host) => format!("{host}:{title}"),
        None => title.to_string(),
    };
    shlex::try_quote(&shown).map_or_else(|_| shown.clone(), std::borrow::Cow::into_owned)
}
