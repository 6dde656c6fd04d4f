//! Settings, and where each one came from.
