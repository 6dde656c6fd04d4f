//! Checks of everything that Bivouac depends on, and the bundle for a problem report.

pub(in crate::engine) mod bundle;
pub(in crate::engine) mod damage;
pub(in crate::engine) mod doctor;
pub(in crate::engine) mod finding;
