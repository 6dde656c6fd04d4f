//! Unit files that run the daemon as a service of the user. The user installs them.

use std::path::Path;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UnitKind {
    Systemd,
    Launchd,
}

/// The text of the unit. Agents run in their tmux server, not in the control group of the service, so that
/// they keep running when the service stops. The environment has what the daemon needs to find its home,
/// tmux, git and the agents, because services start with almost no variables.
pub(crate) fn unit(kind: UnitKind, biv: &Path, environment: &[(&str, String)]) -> String {
    match kind {
        UnitKind::Systemd => systemd(biv, environment),
        UnitKind::Launchd => launchd(biv, environment),
    }
}

fn systemd(biv: &Path, environment: &[(&str, String)]) -> String {
    let environment: String = environment
        .iter()
        .map(|(name, value)| format!("Environment=\"{name}={}\"\n", escape_systemd(value)))
        .collect();
    format!(
        "[Unit]\n\
         Description=Bivouac watches coding agents\n\
         StartLimitIntervalSec=60\n\
         StartLimitBurst=3\n\
         \n\
         [Service]\n\
         ExecStart=\"{}\" daemon run\n\
         {environment}\
         Restart=on-failure\n\
         KillMode=process\n\
         TimeoutStopSec=15\n\
         \n\
         [Install]\n\
         WantedBy=default.target\n",
        // `$` begins a variable only in a command line.
        escape_systemd(&biv.display().to_string()).replace('$', "$$")
    )
}

/// Inside double quotes: backslashes and quotes, and `%`, which begins a specifier.
fn escape_systemd(text: &str) -> String {
    text.replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('%', "%%")
}

fn launchd(biv: &Path, environment: &[(&str, String)]) -> String {
    let environment: String = environment
        .iter()
        .map(|(name, value)| {
            let value = escape_xml(value);
            format!("    <key>{name}</key>\n    <string>{value}</string>\n")
        })
        .collect();
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" \
         \"http://www.apple.com/DTDs/PropertyList-1.0.dtd\">\n\
         <plist version=\"1.0\">\n<dict>\n\
         \x20 <key>Label</key>\n  <string>org.bivouac.daemon</string>\n\
         \x20 <key>ProgramArguments</key>\n  <array>\n    <string>{}</string>\n    \
         <string>daemon</string>\n    <string>run</string>\n  </array>\n\
         \x20 <key>EnvironmentVariables</key>\n  <dict>\n{environment}  </dict>\n\
         \x20 <key>RunAtLoad</key>\n  <true/>\n\
         \x20 <key>KeepAlive</key>\n  <dict>\n    <key>SuccessfulExit</key>\n    <false/>\n  </dict>\n\
         \x20 <key>ThrottleInterval</key>\n  <integer>20</integer>\n\
         \x20 <key>AbandonProcessGroup</key>\n  <true/>\n\
         </dict>\n</plist>\n",
        escape_xml(&biv.display().to_string())
    )
}

fn escape_xml(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_paths_arrive_as_they_are() {
        let biv = Path::new("/opt/a \"b\" 100% $x/biv");
        let environment = [
            ("BIV_HOME", "/home/x y 5% $x".to_owned()),
            ("PATH", "/bin:/a&b".to_owned()),
        ];
        let text = unit(UnitKind::Systemd, biv, &environment);
        assert!(
            text.contains("ExecStart=\"/opt/a \\\"b\\\" 100%% $$x/biv\" daemon run\n"),
            "{text}"
        );
        assert!(
            text.contains("Environment=\"BIV_HOME=/home/x y 5%% $x\"\n"),
            "{text}"
        );
        assert!(text.contains("KillMode=process\n"), "{text}");
        let text = unit(UnitKind::Launchd, Path::new("/a&b/biv"), &environment);
        assert!(text.contains("<string>/a&amp;b/biv</string>"), "{text}");
        assert!(
            text.contains("<key>PATH</key>\n    <string>/bin:/a&amp;b</string>"),
            "{text}"
        );
    }
}
