//! What every test of the program stands on: a camp of its own, the program run in it, and proof
//! afterwards that nothing was left behind.

mod answer;
pub(crate) mod busy;
mod camp;
mod instance;
pub(crate) mod mount;
mod processes;
mod repository;
pub(crate) mod root;
pub(crate) mod terminal;
pub(crate) mod wait;

pub(crate) use answer::Answer;
pub(crate) use camp::{Call, Camp};
pub(crate) use instance::Instance;
pub(crate) use processes::{Process, processes_with};
pub(crate) use repository::Repository;
pub(crate) use wait::{eventually, until, until_told};
