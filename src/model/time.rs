//! A moment in UTC, to the millisecond: what records and JSON carry.

use std::time::Duration;

use chrono::{DateTime, Local, NaiveDateTime, SecondsFormat, SubsecRound, TimeZone, Utc};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Timestamp(DateTime<Utc>);

impl Timestamp {
    /// From a moment that the caller read from a clock: this room reads none.
    pub(crate) fn new(moment: DateTime<Utc>) -> Self {
        // Truncated to milliseconds, so that a value equals itself after a round trip.
        Self(moment.trunc_subsecs(3))
    }

    pub(crate) fn parse(text: &str) -> Option<Self> {
        DateTime::parse_from_rfc3339(text)
            .ok()
            .map(|moment| Self::new(moment.with_timezone(&Utc)))
    }

    /// Parses a local time as programs write it: `2026-11-14 18:02:03`, with optional fractions.
    pub(crate) fn parse_local(text: &str) -> Option<Self> {
        let moment = NaiveDateTime::parse_from_str(text, "%Y-%m-%d %H:%M:%S%.f").ok()?;
        // Of the hour that occurs twice at the end of summer time, the first is meant.
        let moment = Local.from_local_datetime(&moment).earliest()?;
        Some(Self::new(moment.with_timezone(&Utc)))
    }

    /// The duration from this to `later`; zero if the clock was set back in between.
    pub(crate) fn until(self, later: Self) -> Duration {
        (later.0 - self.0).to_std().unwrap_or_default()
    }

    pub(crate) fn plus(self, duration: Duration) -> Self {
        Self(self.0 + duration)
    }

    /// In the local time zone, to the minute: `2026-11-14 18:02`.
    pub(crate) fn local_minute(self) -> String {
        self.0
            .with_timezone(&Local)
            .format("%Y-%m-%d %H:%M")
            .to_string()
    }

    /// The same, to the second.
    pub(crate) fn local_second(self) -> String {
        self.0
            .with_timezone(&Local)
            .format("%Y-%m-%d %H:%M:%S")
            .to_string()
    }

    pub(crate) fn from_epoch(seconds: i64) -> Option<Self> {
        DateTime::from_timestamp(seconds, 0).map(Self)
    }

    pub(crate) fn from_epoch_millis(milliseconds: i64) -> Option<Self> {
        DateTime::from_timestamp_millis(milliseconds).map(Self)
    }

    /// For comparing with the times of files.
    pub(crate) fn system(self) -> std::time::SystemTime {
        self.0.into()
    }

    pub(super) fn moment(self) -> DateTime<Utc> {
        self.0
    }

    /// The time of day here; with the date where it is another day than `now`.
    pub(crate) fn local_clock(self, now: Self) -> String {
        let [at, now] = [self, now].map(|moment| moment.0.with_timezone(&Local));
        let format = match at.date_naive() == now.date_naive() {
            true => "%H:%M",
            false => "%Y-%m-%d %H:%M",
        };
        at.format(format).to_string()
    }

    pub(crate) fn seconds_since_epoch(self) -> i64 {
        self.0.timestamp()
    }
}

impl std::fmt::Display for Timestamp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0.to_rfc3339_opts(SecondsFormat::Millis, true))
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text)
            .ok_or_else(|| serde::de::Error::custom(format!("`{text}` is not an RFC 3339 time")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_reads_back_as_it_was_written() {
        let time = Timestamp::parse("2026-11-14T18:02:03.004Z").unwrap();
        assert_eq!(time.to_string(), "2026-11-14T18:02:03.004Z");
        let json = serde_json::to_string(&time).unwrap();
        assert_eq!(serde_json::from_str::<Timestamp>(&json).unwrap(), time);
        let local = Timestamp::parse_local(&time.local_second()).unwrap();
        assert_eq!(local.seconds_since_epoch(), time.seconds_since_epoch());
        assert_eq!(Timestamp::parse_local("yesterday"), None);
    }
}
