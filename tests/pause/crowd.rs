//! Many cases side by side.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Tests wait for other programs more than they compute.
const WORKERS: usize = 4;

/// What each item gave, in order; a panic gives its message.
pub(crate) fn each<T: Sync, R: Send>(
    items: &[T],
    act: impl Fn(&T) -> R + Sync,
) -> Vec<Result<R, String>> {
    let next = AtomicUsize::new(0);
    let results = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..WORKERS.min(items.len()) {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(number) else {
                        return;
                    };
                    let result = catch_unwind(AssertUnwindSafe(|| act(item)))
                        .map_err(|panic| message(panic.as_ref()));
                    results.lock().unwrap().push((number, result));
                }
            });
        }
    });
    let mut results = results.into_inner().unwrap();
    results.sort_by_key(|(number, _)| *number);
    results.into_iter().map(|(_, result)| result).collect()
}

fn message(panic: &(dyn std::any::Any + Send)) -> String {
    panic
        .downcast_ref::<String>()
        .cloned()
        .or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()))
        .unwrap_or_else(|| "panicked".to_owned())
}
