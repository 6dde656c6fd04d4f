//! What reaches the demo agent's loop.

use super::agent::Input;

/// What reaches the loop from its threads.
#[derive(Debug)]
pub(super) enum Message {
    Bytes(Vec<u8>),
    Prompt(String),
    EndOfInput,
    /// The terminal was closed.
    Gone,
    /// A signal has come, or the terminal has another size.
    Woken,
    Command(u64, Input),
}
