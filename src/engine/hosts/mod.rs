//! Other machines: reached by name, and asked all at once.

pub(crate) mod carry;
pub(crate) mod drain;
pub(crate) mod events;
pub(crate) mod exports;
pub(crate) mod fleet;
pub(crate) mod moving;
pub(crate) mod reach;
pub(crate) mod taking_back;
