//! Prompts and answers for an agent: sent now, or queued until it can take them.

pub(in crate::engine) mod answer;
pub(in crate::engine) mod asking;
pub(in crate::engine) mod draft;
mod fenced;
pub(in crate::engine) mod land_fix;
pub(in crate::engine) mod limit;
pub(in crate::engine) mod own_words;
pub(in crate::engine) mod pull_request_news;
pub(in crate::engine) mod queue;
pub(in crate::engine) mod review;
pub(in crate::engine) mod review_file;
pub(in crate::engine) mod send;
