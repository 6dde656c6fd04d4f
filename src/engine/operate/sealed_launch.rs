//! A launcher that seals its agent: it stays outside as the process that the seal reports to.
//!
//! It ends with the agent and the agent with it, so that no other process has to keep it alive: the proxy
//! survives restarts of the daemon, and a killed instance leaves no proxy behind.

use std::collections::HashMap;
use std::io::Write;
use std::os::unix::net::UnixStream;
use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::config::Home;
use crate::engine::base::{Core, socket};
use crate::engine::operate::hook_relay;
use crate::model::{EventKind, InstanceId};
use crate::process::adopt_orphans;
use crate::seal::{self, AllowedHost, Denied, REPORT_SOCKET, SealPlan, Sealed};

/// The same refusal is told at most this often.
const AGAIN: Duration = Duration::from_secs(60);

/// The answer of a launcher that has built a seal; its layers follow.
pub(in crate::engine) const SEALED: &str = "sealed ";
/// The answer of one that could not; the reason follows.
pub(in crate::engine) const NO_SEAL: &str = "no seal: ";

/// What is to run inside.
pub(in crate::engine) struct Program {
    pub argv: Vec<String>,
    pub environment: seal::Environment,
    pub directory: std::path::PathBuf,
}

/// The seal to be built, and where its refusals are reported.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(in crate::engine) struct SealOrders {
    pub plan: SealPlan,
    pub hosts: Vec<AllowedHost>,
    pub home: Home,
    pub instance: InstanceId,
    pub biv: std::path::PathBuf,
}

/// Builds the seal before it says ready, and starts the agent on "go".
pub(in crate::engine) fn run(
    program: Program,
    asked: &SealOrders,
    mut stream: &UnixStream,
    await_go: &mut dyn FnMut() -> Result<(), String>,
) -> Result<ExitCode, String> {
    let mut environment = program.environment;
    if let Some(term) = std::env::var_os("TERM") {
        environment.retain(|(name, _)| name != b"TERM");
        environment.push((b"TERM".to_vec(), term.into_encoded_bytes()));
    }
    // Processes of the agent that are left behind are found below this one.
    adopt_orphans();
    let no_seal = |error: &dyn std::fmt::Display| format!("{NO_SEAL}{error}");
    let socket = asked.plan.temporary.join(REPORT_SOCKET);
    let reports = socket::bind(&socket).map_err(|error| no_seal(&error))?;
    let built = seal::build(&Sealed {
        plan: asked.plan.clone(),
        argv: program.argv,
        environment,
        directory: program.directory,
        hosts: asked.hosts.clone(),
        biv: asked.biv.clone(),
        on_denied: denials_of(asked),
    })
    .map_err(|error| no_seal(&error))?;
    let layers = serde_json::to_string(&built.layers).map_err(|error| error.to_string())?;
    stream
        .write_all(format!("{SEALED}{layers}\n").as_bytes())
        .map_err(|error| error.to_string())?;
    await_go()?;
    hook_relay::serve(reports, asked.home.clone(), asked.instance.clone());
    let running = built.start().map_err(|error| error.to_string())?;
    // Closed: the agent runs.
    drop(stream.shutdown(std::net::Shutdown::Both));
    let status = running.wait();
    drop(std::fs::remove_file(&socket));
    Ok(status)
}

/// Writes each refusal into the events, and the audit.
fn denials_of(asked: &SealOrders) -> seal::OnDenied {
    let (home, instance) = (asked.home.clone(), asked.instance.clone());
    let told: Mutex<HashMap<Denied, Instant>> = Mutex::new(HashMap::new());
    Arc::new(move |denied: &Denied| {
        let Ok(mut told) = told.lock() else { return };
        if told.get(denied).is_some_and(|at| at.elapsed() < AGAIN) {
            return;
        }
        told.insert(denied.clone(), Instant::now());
        drop(told);
        if let Ok(core) = Core::open(home.clone()) {
            core.record_denied(&instance, denied);
        }
    })
}

impl Core {
    fn record_denied(&self, instance: &InstanceId, denied: &Denied) {
        let dir = self.store.instance(instance);
        let Ok(record) = dir.record() else { return };
        let entry = crate::engine::autoyes::entries::denied(&record, &denied.host, denied.port);
        if let Err(error) = self.store.audit().append(entry) {
            tracing::warn!(%error, "write a refusal of a seal into the audit");
        }
        if let Err(error) = dir.count_denied() {
            tracing::warn!(%error, "count a refusal of a seal");
        }
        let data = json!({ "host": denied.host, "port": denied.port, "kind": "network" });
        self.emit(EventKind::SealDenied, &record, data);
    }
}
