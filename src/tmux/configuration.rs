//! The configuration of Bivouac's own tmux server, loaded instead of the user's.

/// The option of a session that the key for the next instance sets to the terminal of its client.
pub(super) const WISH: &str = "@biv_next";

/// The parts that the user can set.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Configuration {
    pub history: u32,
    pub detach_key: String,
    /// Goes on to the next instance that needs the user.
    pub next_key: String,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not the name of a key such as C-q, M-d or F12")]
pub(crate) struct KeyNameError(String);

/// Checks a key name. The configuration is a program, so no other user text may reach it.
pub(crate) fn validate_key_name(name: &str) -> Result<(), KeyNameError> {
    let base = name.trim_start_matches(['C', 'M', 'S', '-']);
    let modifiers = name.get(..name.len() - base.len()).unwrap_or("");
    let well_formed = modifiers.split_inclusive('-').all(|part| part.len() == 2);
    let function = base
        .strip_prefix('F')
        .is_some_and(|number| (1..=12).contains(&number.parse::<u32>().unwrap_or(0)));
    let single = base.len() == 1
        && base.bytes().all(|byte| {
            byte.is_ascii_alphanumeric() || matches!(byte, b'\\' | b']' | b'_' | b'^' | b'!')
        });
    if well_formed && (function || (single && !modifiers.is_empty())) {
        Ok(())
    } else {
        Err(KeyNameError(name.to_owned()))
    }
}

/// A key as text for the user: `ctrl-q`.
pub(crate) fn key_hint(name: &str) -> String {
    name.replace("C-", "ctrl-").replace("M-", "alt-")
}

impl Configuration {
    /// The text of the file. There is no prefix key: agents use ctrl-b themselves, and an attached user
    /// needs only the keys to leave and to go on. Text that the user selects goes to the clipboard (`external`); a
    /// program cannot set the clipboard. The hook draws the status line anew: that an agent has ended would not show.
    pub(crate) fn text(&self) -> String {
        let Self {
            history,
            detach_key,
            next_key,
        } = self;
        let (detach_hint, next_hint) = (key_hint(detach_key), key_hint(next_key));
        format!(
            r##"# Written by biv; changes are lost.
set -g default-terminal "screen-256color"
set -ga terminal-overrides ",*256col*:Tc"
set -g history-limit {history}
set -g remain-on-exit on
set -gq remain-on-exit-format ""
set -g destroy-unattached off
set -g exit-unattached off
set -g escape-time 10
set -g focus-events on
set -s set-clipboard external
set -gq allow-passthrough off
set -g mouse on
set -g window-size latest
set -g automatic-rename off
set -g allow-rename off
set -g update-environment ""
set -g extended-keys on
set -g prefix None
set -g prefix2 None
set -g status on
set -g status-interval 0
set -g status-style "bg=default,fg=default"
set -g status-left-length 120
set -g status-right-length 60
set -g display-time 2500
set -g status-left "#[bold] #{{@biv_title}} #{{?pane_dead,the agent has ended#{{?#{{!=:#{{pane_dead_status}},}}, with exit status #{{pane_dead_status}},}},#[nobold#,dim]#{{@biv_branch}}}} "
set -g status-right "#[dim]{next_hint} next  {detach_hint} detach "
set-hook -g pane-died 'set -gF @biv_died "#{{hook_pane}}"'
set -g window-status-format ""
set -g window-status-current-format ""
unbind -a -T root
bind -T root '{detach_key}' detach-client
bind -T root '{next_key}' set -F {WISH} '#{{client_tty}}' \; detach-client
bind -T root S-PPage copy-mode -eu
bind -T root WheelUpPane if -F '#{{||:#{{alternate_on}},#{{||:#{{pane_in_mode}},#{{mouse_any_flag}}}}}}' 'send -M' 'copy-mode -e'
bind -T root WheelDownPane send -M
bind -T root MouseDown1Pane select-pane -t = \; send -M
bind -T root MouseDrag1Pane if -F '#{{||:#{{pane_in_mode}},#{{mouse_any_flag}}}}' 'send -M' 'copy-mode -M'
"##
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_keys_are_keys() {
        for name in ["C-q", "M-d", "C-M-x", "F12", "C-\\", "C-]", "M-!"] {
            assert_eq!(validate_key_name(name), Ok(()), "{name}");
        }
        for name in [
            "q",
            "",
            "C-",
            "C-q'; run-shell x",
            "F13",
            "Enter",
            "C-'",
            "CC-q",
            "!",
        ] {
            assert!(validate_key_name(name).is_err(), "{name}");
        }
    }
}
