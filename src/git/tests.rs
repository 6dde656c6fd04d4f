//! The vault against real repositories.

mod basics;
