//! The same request to several instances.

use super::output::Output;
use super::report::Report;
use super::words;
use crate::engine::{Bulk, Engine, Error};
use crate::model::InstanceId;

/// The named instances. All are looked up first, so that a typing mistake in one changes nothing.
pub(super) fn ids(engine: &Engine, given: &[String]) -> Result<Vec<InstanceId>, Error> {
    let found = engine.find_each(given)?;
    Ok(found.into_iter().map(|(id, _)| id).collect())
}

/// The result for several instances: how many, and which of them failed, and why.
pub(super) fn end<T>(bulk: &Bulk<T>, done: &str, output: &Output) -> Result<(), Report> {
    if let Some(report) = Report::of_bulk(bulk, done) {
        return Err(report);
    }
    if bulk.done.len() > 1 {
        output.say(&words::counted(done, bulk.done.len()));
    }
    Ok(())
}
