//! Settings and their sources: the defaults, and the user's file over them. Flags override both.
//!
//! `defaults.toml` is the documentation: it has every key with its comment, and `biv config init` writes
//! it. A key that is not in it is refused by name.

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
pub(crate) use layers::{ConfigError, LoadedConfig, load};
pub(crate) use repository::{RepositoryConfig, RepositoryConfigError};
pub(crate) use settings::{
    IDLE_TIMEOUTS, NotifyBy, ResumePrompt, Seal as SealSettings, Settings, ThemeName,
    WorktreeOnPause,
};

/// Every key with its default and its comment.
pub(crate) const DEFAULTS: &str = include_str!("defaults.toml");
