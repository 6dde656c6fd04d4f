//! The result: a table for people, and one line for each row that a script can compare.

use std::process::ExitCode;

use super::median;

pub(crate) struct Row {
    key: &'static str,
    what: String,
    measured: String,
    limit: String,
    value: f64,
    verdict: Verdict,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Holds,
    Missed,
    /// Nothing is asked of it.
    Told,
}

impl Verdict {
    fn of(holds: bool) -> Self {
        if holds { Self::Holds } else { Self::Missed }
    }

    fn mark(self) -> &'static str {
        match self {
            Self::Holds => "✓",
            Self::Missed => "✗",
            Self::Told => "",
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Holds => "ok",
            Self::Missed => "missed",
            Self::Told => "told",
        }
    }
}

impl Row {
    /// A figure that must stay below a limit.
    pub(crate) fn below(key: &'static str, what: &str, value: f64, limit: f64, unit: &str) -> Self {
        Self {
            key,
            what: what.to_owned(),
            measured: format!("{value:.1} {unit}"),
            limit: format!("< {limit} {unit}"),
            value: value / limit,
            verdict: Verdict::of(value < limit),
        }
    }

    /// Ours, as a multiple of the raw work.
    pub(crate) fn ratio_at_most(
        key: &'static str,
        what: &str,
        ours: &[f64],
        raw: &[f64],
        limit: f64,
    ) -> Self {
        let value = median(ours) / median(raw);
        Self {
            key,
            what: what.to_owned(),
            measured: format!("{value:.2} × {}", both(ours, raw)),
            limit: format!("≤ {limit} ×"),
            value,
            verdict: Verdict::of(value <= limit),
        }
    }

    /// How many times faster than the raw work.
    pub(crate) fn times_faster(
        key: &'static str,
        what: &str,
        ours: &[f64],
        raw: &[f64],
        limit: f64,
    ) -> Self {
        let value = median(raw) / median(ours);
        Self {
            key,
            what: what.to_owned(),
            measured: format!("{value:.1} × faster {}", both(ours, raw)),
            limit: format!("≥ {limit} ×"),
            value,
            verdict: Verdict::of(value >= limit),
        }
    }

    /// Ours beside the same work of another tool, as a multiple of it.
    pub(crate) fn beside(
        key: &'static str,
        what: &str,
        ours: &[f64],
        theirs: &[f64],
        name: &str,
    ) -> Self {
        let value = median(ours) / median(theirs);
        Self {
            key,
            what: what.to_owned(),
            measured: format!("{value:.2} × {}", both(ours, theirs)),
            limit: name.to_owned(),
            value,
            verdict: Verdict::Told,
        }
    }
}

pub(crate) struct Bench {
    rows: Vec<Row>,
}

impl Bench {
    pub(crate) fn new() -> Self {
        Self { rows: Vec::new() }
    }

    pub(crate) fn row(&mut self, row: Row) {
        eprintln!("{:<16} {:<60} {}", row.key, row.what, row.measured);
        self.rows.push(row);
    }

    pub(crate) fn finish(self) -> ExitCode {
        println!("\n| what | measured | must hold | |\n|---|---|---|---|");
        for row in &self.rows {
            println!(
                "| {} | {} | {} | {} |",
                row.what,
                row.measured,
                row.limit,
                row.verdict.mark()
            );
        }
        println!();
        for row in &self.rows {
            println!("BENCH {} {:.4} {}", row.key, row.value, row.verdict.word());
        }
        if self.rows.iter().all(|row| row.verdict != Verdict::Missed) {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        }
    }
}

/// The times behind a ratio.
fn both(ours: &[f64], theirs: &[f64]) -> String {
    format!("({:.0} to {:.0} ms)", median(ours), median(theirs))
}
