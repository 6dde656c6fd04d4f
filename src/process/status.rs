//! Exit statuses as a shell reports them.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

/// A command that cannot be started.
pub(crate) const CANNOT_START: u8 = 127;

/// The exit status, or 128 and the signal that has ended it.
pub(crate) fn shell_status(status: ExitStatus) -> u8 {
    let code = status
        .code()
        .or_else(|| status.signal().map(|signal| 128 + signal));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_counts_from_128() {
        assert_eq!(shell_status(ExitStatus::from_raw(0)), 0);
        assert_eq!(shell_status(ExitStatus::from_raw(7 << 8)), 7);
        assert_eq!(shell_status(ExitStatus::from_raw(15)), 143);
    }
}
