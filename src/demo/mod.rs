//! The built-in demo agent.
