//! Typing into an agent: one caller at a time, each prompt whole.

pub(in crate::engine) mod delivery;
pub(in crate::engine) mod dialog;
pub(in crate::engine) mod drafts;
pub(in crate::engine) mod lock;
pub(in crate::engine) mod put_back;
pub(in crate::engine) mod ready;
pub(in crate::engine) mod turn;
