//! A title in a command that the user can type.

use crate::model::Title;

/// A title as a shell word.
pub(crate) fn word(title: &Title) -> String {
    let shown = title.to_string();
    shlex::try_quote(&shown).map_or_else(|_| shown.clone(), std::borrow::Cow::into_owned)
}
