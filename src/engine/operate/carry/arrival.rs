//! An export that was read and checked, for the step that unpacks it.

use crate::engine::operate::carry::parts::Luggage;
use crate::vault::Incoming;

#[derive(Debug)]
pub(in crate::engine) struct Arrival {
    pub incoming: Incoming,
    pub luggage: Luggage,
}
