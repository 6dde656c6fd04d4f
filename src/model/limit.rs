//! A usage limit of an agent, and the time at which it resets.

use std::time::Duration;

use chrono::{DateTime, Datelike, Days, Local, NaiveDate, NaiveDateTime, NaiveTime, TimeZone, Utc};

use super::Timestamp;

/// A time of day that was over for less than this when it was read is meant, not that of tomorrow.
const JUST_OVER: Duration = Duration::from_secs(10 * 60);

/// A usage limit that an agent shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct UsageLimit {
    /// When it resets, as the screen says.
    pub resets_at: Timestamp,
    /// When the agent may be prompted again: somewhat later, because clocks differ.
    pub ends_at: Timestamp,
    /// That time has come.
    pub is_over: bool,
    /// The work was taken up again after this reset.
    pub is_continued: bool,
}

/// The moment that an agent means: `3pm (Europe/Berlin)`, `Nov 20, 3:45pm`, `Nov 18th, 2026 3:42 PM`, `15:00`,
/// `in 2 hours 5 minutes`. `seen` is when the text was first on the screen. Agents name the time zone of
/// this machine; of other zones only UTC is known.
pub(crate) fn reset_time(text: &str, seen: Timestamp) -> Option<Timestamp> {
    let text = text.trim().trim_end_matches('.');
    if let Some(exact) = Timestamp::parse(text) {
        return Some(exact);
    }
    if let Some(after) = text.strip_prefix("in ") {
        return humantime::parse_duration(after)
            .ok()
            .map(|after| seen.plus(after));
    }
    let (text, zone) = match text.split_once('(') {
        Some((text, zone)) => (text.trim(), zone.trim_end_matches(')').trim()),
        None => match text.strip_suffix(" UTC") {
            Some(text) => (text, "UTC"),
            None => (text, ""),
        },
    };
    let moment = seen.moment();
    match zone {
        "UTC" | "Etc/UTC" | "GMT" => in_zone(text, moment),
        _ => in_zone(text, moment.with_timezone(&Local)),
    }
}

fn in_zone<Z: TimeZone>(text: &str, seen: DateTime<Z>) -> Option<Timestamp> {
    let zone = seen.timezone();
    let here = seen.naive_local();
    let (date, time) = date_and_time(text, here)?;
    // Of the hour that occurs twice at the end of summer time, the first is meant.
    let on = |date: NaiveDate| {
        let moment = zone.from_local_datetime(&NaiveDateTime::new(date, time));
        Some(Timestamp::new(moment.earliest()?.with_timezone(&Utc)))
    };
    if let Some(date) = date {
        return on(date);
    }
    let today = on(here.date())?;
    let seen = Timestamp::new(seen.with_timezone(&Utc));
    if today.plus(JUST_OVER) >= seen {
        return Some(today);
    }
    on(here.date().checked_add_days(Days::new(1))?)
}

/// The date, where one is named, and the time of day.
fn date_and_time(text: &str, seen: NaiveDateTime) -> Option<(Option<NaiveDate>, NaiveTime)> {
    let text = text.to_lowercase().replace(',', " ").replace(" at ", " ");
    let text = text.replace(" am", "am").replace(" pm", "pm");
    let words: Vec<&str> = text.split_whitespace().collect();
    match words.as_slice() {
        [time] => Some((None, time_of_day(time)?)),
        [month, day, time] => {
            let date = |year| NaiveDate::from_ymd_opt(year, month_named(month)?, day_of(day)?);
            let date = date(seen.year()).filter(|date| *date >= seen.date());
            // A date without a year that is over is one of the next year.
            let date = date.or_else(|| {
                NaiveDate::from_ymd_opt(seen.year() + 1, month_named(month)?, day_of(day)?)
            });
            Some((Some(date?), time_of_day(time)?))
        }
        [month, day, year, time] => {
            let year = year.parse().ok()?;
            let date = NaiveDate::from_ymd_opt(year, month_named(month)?, day_of(day)?)?;
            Some((Some(date), time_of_day(time)?))
        }
        _ => None,
    }
}

/// `3pm`, `3:45pm`, `15:00`.
fn time_of_day(text: &str) -> Option<NaiveTime> {
    let (text, afternoon) = match (text.strip_suffix("am"), text.strip_suffix("pm")) {
        (Some(text), _) => (text, Some(false)),
        (_, Some(text)) => (text, Some(true)),
        (None, None) => (text, None),
    };
    let (hour, minute) = match text.split_once(':') {
        Some((hour, minute)) => (hour, minute.parse().ok()?),
        None if afternoon.is_some() => (text, 0),
        None => return None,
    };
    let hour: u32 = hour.parse().ok()?;
    let hour = match afternoon {
        None => hour,
        Some(_) if !(1..=12).contains(&hour) => return None,
        Some(afternoon) => hour % 12 + if afternoon { 12 } else { 0 },
    };
    NaiveTime::from_hms_opt(hour, minute, 0)
}

fn month_named(name: &str) -> Option<u32> {
    const MONTHS: [&str; 12] = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ];
    let found = MONTHS.iter().position(|month| name.starts_with(month))?;
    u32::try_from(found + 1).ok()
}

/// `18`, `18th`.
fn day_of(text: &str) -> Option<u32> {
    text.trim_end_matches(char::is_alphabetic).parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        Timestamp::parse(text).unwrap()
    }

    #[test]
    fn the_times_that_agents_show_are_read() {
        let seen = at("2026-11-17T13:20:00Z");
        for (text, expected) in [
            ("3pm (UTC)", Some("2026-11-17T15:00:00Z")),
            ("3:45pm (UTC)", Some("2026-11-17T15:45:00Z")),
            ("12am (UTC)", Some("2026-11-18T00:00:00Z")),
            ("12:30pm UTC", Some("2026-11-18T12:30:00Z")),
            ("15:00 UTC.", Some("2026-11-17T15:00:00Z")),
            ("Nov 20, 3pm (UTC)", Some("2026-11-20T15:00:00Z")),
            ("Nov 20 at 3:45 PM (Etc/UTC)", Some("2026-11-20T15:45:00Z")),
            ("Nov 18th, 2026 3:42 PM (UTC)", Some("2026-11-18T15:42:00Z")),
            ("Jan 3, 9am (UTC)", Some("2027-01-03T09:00:00Z")),
            ("in 2 hours 5 minutes", Some("2026-11-17T15:25:00Z")),
            ("in 30s", Some("2026-11-17T13:20:30Z")),
            ("2026-11-17T15:00:01Z", Some("2026-11-17T15:00:01Z")),
            ("soon", None),
            ("13pm (UTC)", None),
            ("25:00 UTC", None),
            ("3 (UTC)", None),
            ("", None),
        ] {
            assert_eq!(reset_time(text, seen), expected.map(at), "{text}");
        }
    }

    #[test]
    fn a_time_that_has_just_passed_is_not_that_of_tomorrow() {
        let soon_after = at("2026-11-17T15:04:00Z");
        assert_eq!(
            reset_time("3pm (UTC)", soon_after),
            Some(at("2026-11-17T15:00:00Z"))
        );
        let later = at("2026-11-17T15:30:00Z");
        assert_eq!(
            reset_time("3pm (UTC)", later),
            Some(at("2026-11-18T15:00:00Z"))
        );
    }

    #[test]
    fn another_zone_is_the_one_of_this_machine() {
        let seen = at("2026-11-17T13:20:00Z");
        let local = reset_time("3:05pm", seen).unwrap();
        assert!(local.local_minute().ends_with("15:05"), "{local}");
        assert_eq!(reset_time("3:05pm (Europe/Berlin)", seen), Some(local));
    }
}
