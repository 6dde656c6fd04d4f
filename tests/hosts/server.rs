//! Real ssh servers.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::support::until;
use crate::support::wait::until_told;

/// An ssh server with keys of its own. It lets in nobody but the tester.
pub(crate) struct Server {
    directory: PathBuf,
    /// The network namespace that it runs in.
    namespace: Option<String>,
    address: String,
    port: u16,
    process: Child,
}

impl Server {
    /// At a port that is free. Other programs take ports all the time: one may have taken it before the server does.
    pub(crate) fn start_anywhere(above: &Path, address: &str) -> Self {
        let free = || TcpListener::bind((address, 0))?.local_addr();
        until_told(
            || "an ssh server has a port".to_owned(),
            || Self::started(above, None, (address, free().unwrap().port())),
        )
    }

    /// Its files lie below `above`.
    pub(crate) fn start(above: &Path, namespace: Option<&str>, address: (&str, u16)) -> Self {
        Self::started(above, namespace, address).expect("the port is free")
    }

    /// None where the port is taken.
    fn started(
        above: &Path,
        namespace: Option<&str>,
        (address, port): (&str, u16),
    ) -> Option<Self> {
        let directory = above.join("sshd");
        std::fs::create_dir_all(&directory).unwrap();
        for name in ["host", "user"] {
            if directory.join(name).exists() {
                continue;
            }
            let made = Command::new("ssh-keygen")
                .args(["-q", "-t", "ed25519", "-N", "", "-f"])
                .arg(directory.join(name))
                .status();
            assert!(
                made.is_ok_and(|status| status.success()),
                "run scripts/setup"
            );
        }
        std::fs::copy(directory.join("user.pub"), directory.join("authorized")).unwrap();
        // As root it insists on this directory.
        if rustix::process::geteuid().is_root() {
            std::fs::create_dir_all("/run/sshd").unwrap();
        }
        let process = Self::launch(&directory, namespace, (address, port));
        let mut server = Self {
            directory,
            namespace: namespace.map(str::to_owned),
            address: address.to_owned(),
            port,
            process,
        };
        server.listens().then_some(server)
    }

    fn launch(directory: &Path, namespace: Option<&str>, (address, port): (&str, u16)) -> Child {
        let place = directory.display();
        // The login shell must not read what the tester's own shell does at its start.
        let settings = format!(
            "ListenAddress {address}:{port}\nHostKey {place}/host\nPidFile none\n\
             AuthorizedKeysFile {place}/authorized\nStrictModes no\nUsePAM no\n\
             PasswordAuthentication no\nPermitRootLogin prohibit-password\n\
             SetEnv HOME={place}\n"
        );
        std::fs::write(directory.join("config"), settings).unwrap();
        let path = ["/usr/sbin/sshd", "/usr/bin/sshd", "/usr/local/sbin/sshd"];
        let program = path
            .into_iter()
            .find(|path| Path::new(path).exists())
            .expect("sshd is needed for the tests: run scripts/setup");
        let path = std::env::var_os("PATH").unwrap_or_default();
        let mut command = match namespace {
            None => Command::new(program),
            // It becomes the server.
            Some(namespace) => {
                let mut command = Command::new("ip");
                command.args(["netns", "exec", namespace, program]);
                command
            }
        };
        command
            .args(["-D", "-e", "-f"])
            .arg(directory.join("config"))
            .env_clear()
            .env("PATH", path)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(std::fs::File::create(directory.join("log")).unwrap())
            .spawn()
            .expect("sshd runs")
    }

    /// Whether it has begun to listen; not where it has ended instead.
    fn listens(&mut self) -> bool {
        let log = self.directory.join("log");
        until_told(
            || "the ssh server listens or ends".to_owned(),
            || {
                let said = std::fs::read_to_string(&log).unwrap_or_default();
                let ended = self.process.try_wait().unwrap().is_some();
                let listening = said.contains("Server listening on");
                (listening || ended).then_some(listening && !ended)
            },
        )
    }

    /// Ends it with all its connections, which are children of the one that listens.
    pub(crate) fn stop(&mut self) {
        // The pid of one that has ended already may be another program's by now.
        if !matches!(self.process.try_wait(), Ok(None)) {
            return;
        }
        let mut family = vec![i32::try_from(self.process.id()).unwrap()];
        let mut at = 0;
        while let Some(parent) = family.get(at).copied() {
            family.extend(servers_below(parent));
            at += 1;
        }
        for pid in family {
            let pid = rustix::process::Pid::from_raw(pid).unwrap();
            rustix::process::kill_process(pid, rustix::process::Signal::KILL).ok();
        }
        drop(self.process.wait());
    }

    pub(crate) fn start_again(&mut self) {
        until("it listens at its port again", || {
            let address = (self.address.as_str(), self.port);
            self.process = Self::launch(&self.directory, self.namespace.as_deref(), address);
            self.listens()
        });
    }

    /// What connects to it and goes on on the other machine.
    pub(crate) fn connect(&self, environment: &[String]) -> String {
        let place = self.directory.display();
        let environment = environment.join(" ");
        format!(
            "ssh -F /dev/null -p {} -i {place}/user -o IdentitiesOnly=yes -o IdentityAgent=none \
             -o UserKnownHostsFile={place}/known -o StrictHostKeyChecking=accept-new {} \
             env -i {environment}",
            self.port, self.address
        )
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop();
    }
}

/// The sshd processes that this one has started; it writes over its environment.
fn servers_below(parent: i32) -> Vec<i32> {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let pids = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    pids.filter(|pid| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let parent_of = stat
            .rsplit(')')
            .next()
            .and_then(|rest| rest.split(' ').nth(2));
        stat.contains("(sshd") && parent_of == Some(parent.to_string().as_str())
    })
    .collect()
}
