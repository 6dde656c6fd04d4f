//! Whether everything is as it should be, and what a report about a problem needs.

pub(in crate::engine) mod bundle;
pub(in crate::engine) mod damage;
pub(in crate::engine) mod doctor;
pub(in crate::engine) mod finding;
