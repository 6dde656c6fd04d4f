//! The environment inside a seal.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::messages::ProxyAddress;
use super::plan::{REPORT_SOCKET, SealPlan};
use super::sealed::{Environment, VARIABLE};

/// Sockets and places outside that do not exist inside.
const OUTSIDE: [&str; 12] = [
    "SSH_AUTH_SOCK",
    "SSH_AGENT_PID",
    "GPG_AGENT_INFO",
    "DBUS_SESSION_BUS_ADDRESS",
    "XDG_RUNTIME_DIR",
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "XAUTHORITY",
    "DOCKER_HOST",
    "TMUX",
    "TMUX_PANE",
    "TMUX_TMPDIR",
];
const PROXIES: [&str; 6] = [
    "HTTP_PROXY",
    "http_proxy",
    "HTTPS_PROXY",
    "https_proxy",
    "ALL_PROXY",
    "all_proxy",
];

/// Settings of git that would only fail inside: it may not pack or expire what all worktrees share.
const GIT: [(&str, &str); 2] = [("gc.auto", "0"), ("maintenance.auto", "false")];

pub(super) fn inside(
    outside: &Environment,
    plan: &SealPlan,
    namespaces: bool,
    proxy: Option<&ProxyAddress>,
) -> Environment {
    let mut variables = outside.clone();
    let mut unset = |name: &str| variables.retain(|(known, _)| known != name.as_bytes());
    OUTSIDE.into_iter().chain(PROXIES).for_each(&mut unset);
    let settings = config_count(&variables);
    let mut set = |name: &str, value: &[u8]| {
        variables.retain(|(known, _)| known != name.as_bytes());
        variables.push((name.as_bytes().to_vec(), value.to_vec()));
    };
    let temporary: &[u8] = if namespaces {
        b"/tmp"
    } else {
        plan.temporary.as_os_str().as_bytes()
    };
    for name in ["TMPDIR", "TMP", "TEMP"] {
        set(name, temporary);
    }
    if let Some(proxy) = proxy {
        let credentials = proxy.credentials.as_ref();
        let user = credentials.map_or_else(String::new, |words| format!("{words}@"));
        let url = format!("http://{user}127.0.0.1:{}", proxy.port);
        for name in PROXIES {
            set(name, url.as_bytes());
        }
        for name in ["NO_PROXY", "no_proxy"] {
            set(name, b"localhost,127.0.0.1,::1");
        }
        // Node's own `fetch` looks at the variables above only if it is told to.
        set("NODE_USE_ENV_PROXY", b"1");
    }
    for (at, (key, value)) in GIT.iter().enumerate() {
        set(&format!("GIT_CONFIG_KEY_{}", settings + at), key.as_bytes());
        set(
            &format!("GIT_CONFIG_VALUE_{}", settings + at),
            value.as_bytes(),
        );
    }
    let count = (settings + GIT.len()).to_string();
    set("GIT_CONFIG_COUNT", count.as_bytes());
    let reports = Path::new(OsStr::from_bytes(temporary)).join(REPORT_SOCKET);
    set(VARIABLE, reports.as_os_str().as_bytes());
    variables
}

/// How many settings the user gives to git by the environment.
fn config_count(variables: &Environment) -> usize {
    variables
        .iter()
        .find(|(name, _)| name == b"GIT_CONFIG_COUNT")
        .and_then(|(_, value)| std::str::from_utf8(value).ok()?.parse().ok())
        .unwrap_or(0)
}
