//! Records, journals and locks on disk.
