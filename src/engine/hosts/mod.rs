//! Other machines: reached by name, and asked all at once.

pub(crate) mod fleet;
pub(crate) mod reach;
