//! Settings, and whose each one is: the defaults, and the user's file over them; flags win over both.
//!
//! `defaults.toml` is the documentation: it holds every key there is, with its comment, and is what
//! `biv config init` writes. A key that it does not have is a mistake and is refused by name.

mod checkout_file;
mod duration;
mod home;
mod keys;
mod layers;
mod repository;
mod settings;

pub(crate) use checkout_file::{
    Owner, Unreadable, is_writable_by_others, read_in_checkout, read_own,
};
pub(crate) use duration::{brief_duration, parse_duration};
pub(crate) use home::{Home, HomeError};
pub(crate) use keys::{Chord, Key, KeyCode};
pub(crate) use layers::{ConfigError, Loaded, load};
pub(crate) use repository::{RepositoryConfig, RepositoryConfigError};
pub(crate) use settings::{
    IDLE_TIMEOUTS, NotifyBy, ResumePrompt, Settings, ThemeName, WorktreeOnPause,
};

/// Every key with its default and its comment.
pub(crate) const DEFAULTS: &str = include_str!("defaults.toml");
