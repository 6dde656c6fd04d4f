//! The panes of the server.

use super::TmuxError;
use crate::model::InstanceId;

/// One pane.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pane {
    /// Its instance; None for a pane that biv did not create.
    pub instance: Option<InstanceId>,
    pub session: String,
    pub id: String,
    pub pid: i32,
    pub server_pid: i32,
    pub death: Option<Death>,
    pub columns: u16,
    pub rows: u16,
    /// Seconds since the epoch of the last output.
    pub active_at: i64,
    /// Attached clients.
    pub clients: u32,
    /// Its output is also piped to a command.
    pub piped: bool,
    /// The user scrolls (copy mode): keys would go to tmux, not to the agent.
    pub in_mode: bool,
    pub cursor: (u16, u16),
    /// Lines that have scrolled off the screen.
    pub history: usize,
    pub title: String,
    /// The user's own shell in an instance: see `shell`.
    pub shell: bool,
}

/// How the program of a pane ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Death {
    pub status: Option<i32>,
    pub signal: Option<i32>,
}

impl Death {
    /// As in a shell: 128 plus the number of a signal. Old servers do not report the signal.
    pub(crate) fn exit_code(self) -> i32 {
        match (self.signal, self.status) {
            (Some(signal), _) => 128 + signal,
            (None, Some(status)) => status,
            (None, None) => 128,
        }
    }
}

impl Pane {
    /// Dead, and its status is not known: tmux may not have reaped its process yet.
    pub(crate) fn is_unclear(&self) -> bool {
        matches!(
            self.death,
            Some(Death {
                status: None,
                signal: None
            })
        )
    }
}

/// The window option that marks a shell. Its value is the name of the shell's program.
pub(super) const SHELL_MARK: &str = "@biv_shell";

/// Separates fields. No title or name contains it, because tmux escapes control characters in them.
const FIELD: char = '\u{1f}';

/// The format that [`parse_panes`] reads. The free text comes last.
pub(super) fn format() -> String {
    [
        &format!("#{{{SHELL_MARK}}}"),
        "#{@biv_id}",
        "#{session_name}",
        "#{pane_id}",
        "#{pane_pid}",
        "#{pid}",
        "#{pane_dead}",
        "#{pane_dead_status}",
        "#{pane_dead_signal}",
        "#{pane_width}",
        "#{pane_height}",
        "#{window_activity}",
        "#{session_attached}",
        "#{pane_pipe}",
        "#{pane_in_mode}",
        "#{cursor_x}",
        "#{cursor_y}",
        "#{history_size}",
        "#{pane_title}",
    ]
    .join(&FIELD.to_string())
}

pub(super) fn parse_panes(text: &str) -> Result<Vec<Pane>, TmuxError> {
    text.lines().map(parse_pane).collect()
}

fn parse_pane(line: &str) -> Result<Pane, TmuxError> {
    let unreadable = || TmuxError::Answer(line.to_owned());
    let fields: Vec<&str> = line.splitn(19, FIELD).collect();
    let &[
        shell,
        instance,
        session,
        id,
        pid,
        server_pid,
        dead,
        status,
        signal,
        columns,
        rows,
        active_at,
        clients,
        piped,
        in_mode,
        cursor_x,
        cursor_y,
        history,
        title,
    ] = fields.as_slice()
    else {
        return Err(unreadable());
    };
    Ok(Pane {
        instance: InstanceId::parse(instance).filter(|_| shell.is_empty()),
        shell: !shell.is_empty(),
        session: session.to_owned(),
        id: id.to_owned(),
        pid: pid.parse().map_err(|_| unreadable())?,
        server_pid: server_pid.parse().map_err(|_| unreadable())?,
        death: (dead == "1").then(|| Death {
            status: status.parse().ok(),
            signal: signal.parse().ok().filter(|signal| *signal != 0),
        }),
        columns: columns.parse().map_err(|_| unreadable())?,
        rows: rows.parse().map_err(|_| unreadable())?,
        active_at: active_at.parse().unwrap_or(0),
        clients: clients.parse().unwrap_or(0),
        piped: piped == "1",
        // The number of modes: a mode can be opened over another one.
        in_mode: in_mode != "0",
        cursor: (cursor_x.parse().unwrap_or(0), cursor_y.parse().unwrap_or(0)),
        history: history.parse().unwrap_or(0),
        title: title.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_panes_is_read_whatever_its_title_says() {
        let line = "\u{1f}23456789bc\u{1f}biv-23456789bc\u{1f}%3\u{1f}100\u{1f}99\u{1f}1\u{1f}42\u{1f}\u{1f}220\u{1f}60\u{1f}17\u{1f}0\u{1f}1\u{1f}0\u{1f}2\u{1f}3\u{1f}4\u{1f}it's \u{1f} odd";
        let pane = parse_panes(line).unwrap().remove(0);
        assert_eq!(pane.title, "it's \u{1f} odd");
        assert_eq!(pane.death.unwrap().exit_code(), 42);
        assert!(pane.instance.is_some());
        // A shell in its session is not its agent.
        let pane = parse_panes(&format!("bash{line}")).unwrap().remove(0);
        assert!(pane.shell && pane.instance.is_none());
        assert!(parse_panes("nonsense").is_err());
    }

    #[test]
    fn a_signal_counts_as_a_shell_counts_it() {
        let death = Death {
            status: None,
            signal: Some(9),
        };
        assert_eq!(death.exit_code(), 137);
    }
}
