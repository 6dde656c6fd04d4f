//! Durations as text.

use std::time::Duration;

/// Parses `90s`, `10m`, `1h 30m`; None where the text is not a duration.
pub(crate) fn parse_duration(text: &str) -> Option<Duration> {
    humantime::parse_duration(text.trim()).ok()
}

/// The largest unit alone: `12m`, `3h`, `5d`. Easy to compare in a list.
pub(crate) fn brief_duration(duration: Duration) -> String {
    let seconds = duration.as_secs();
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3600 => format!("{}m", seconds / 60),
        3600..86_400 => format!("{}h", seconds / 3600),
        _ => format!("{}d", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_and_shown() {
        assert_eq!(parse_duration("1h 30m"), Some(Duration::from_secs(5400)));
        assert_eq!(parse_duration("soon"), None);
        for (seconds, shown) in [
            (0, "0s"),
            (59, "59s"),
            (60, "1m"),
            (7200, "2h"),
            (200_000, "2d"),
        ] {
            assert_eq!(brief_duration(Duration::from_secs(seconds)), shown);
        }
    }
}
