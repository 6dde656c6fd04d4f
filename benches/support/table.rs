//! The result: a table for people, and one line for each row that a script can compare.

use std::process::ExitCode;

use super::median;

pub(crate) struct Row {
    key: &'static str,
    what: String,
    measured: String,
    limit: String,
    value: f64,
    holds: bool,
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
            holds: value < limit,
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
            measured: format!(
                "{value:.2} × ({:.0} to {:.0} ms)",
                median(ours),
                median(raw)
            ),
            limit: format!("≤ {limit} ×"),
            value,
            holds: value <= limit,
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
            measured: format!(
                "{value:.1} × faster ({:.0} to {:.0} ms)",
                median(ours),
                median(raw)
            ),
            limit: format!("≥ {limit} ×"),
            value,
            holds: value >= limit,
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
            let mark = if row.holds { "✓" } else { "✗" };
            println!(
                "| {} | {} | {} | {mark} |",
                row.what, row.measured, row.limit
            );
        }
        println!();
        for row in &self.rows {
            let verdict = if row.holds { "ok" } else { "missed" };
            println!("BENCH {} {:.4} {verdict}", row.key, row.value);
        }
        if self.rows.iter().all(|row| row.holds) {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        }
    }
}
