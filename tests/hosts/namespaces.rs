//! Ten machines, each in a network namespace of its own with an ssh server and an address that exists inside of
//! this machine only. Links between them and this one are cut for real.

use std::process::Command;

use serde_json::Value;

use crate::server::Server;
use crate::support::root::namespaces_left_out;
use crate::support::{Camp, until};

const HOSTS: usize = 10;
const EACH: usize = 2;

fn ip(arguments: &[&str]) {
    let output = Command::new("ip").args(arguments).output().unwrap();
    assert!(output.status.success(), "ip {arguments:?}: {output:?}");
}

/// A network of its own, and a cable to it.
struct Network {
    name: String,
    cable: String,
    address: String,
}

impl Network {
    fn new(number: usize) -> Self {
        let process = std::process::id();
        let name = format!("biv-{process}-{number}");
        let cable = format!("bv{process}n{number}");
        // Addresses for benchmarks of networks, which are routed nowhere.
        let address = |last: usize| format!("198.18.{}.{}", process % 256, 4 * number + last);
        ip(&["netns", "add", &name]);
        let network = Self {
            name,
            cable,
            address: address(2),
        };
        let (name, cable) = (&network.name, &network.cable);
        ip(&[
            "link", "add", cable, "type", "veth", "peer", "name", "eth0", "netns", name,
        ]);
        ip(&["addr", "add", &format!("{}/30", address(1)), "dev", cable]);
        let there = format!("{}/30", network.address);
        ip(&["-n", name, "addr", "add", &there, "dev", "eth0"]);
        ip(&["-n", name, "link", "set", "eth0", "up"]);
        ip(&["-n", name, "link", "set", "lo", "up"]);
        network.plug(true);
        network
    }

    /// Plugs the cable in, or pulls it out.
    fn plug(&self, in_place: bool) {
        let state = if in_place { "up" } else { "down" };
        ip(&["link", "set", &self.cable, state]);
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        // The cable goes with its other end.
        drop(
            Command::new("ip")
                .args(["netns", "del", &self.name])
                .status(),
        );
    }
}

/// The fields end in this order: the server first, the network last.
struct Machine {
    name: String,
    _server: Server,
    camp: Camp,
    network: Network,
}

impl Machine {
    fn new(number: usize, here: &Camp) -> Self {
        let network = Network::new(number);
        let camp = Camp::new();
        let bin = camp.root().join("bin");
        std::fs::create_dir_all(&bin).unwrap();
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_biv"), bin.join("biv")).unwrap();
        let environment: Vec<String> = camp
            .environment()
            .into_iter()
            .map(|(name, value)| match name.as_str() {
                "PATH" => format!("PATH={}:{value}", bin.display()),
                _ => format!("{name}={value}"),
            })
            .collect();
        let server = Server::start(&camp.root(), Some(&network.name), (&network.address, 22));
        let name = format!("m{number}");
        let connect = server.connect(&environment);
        drop(
            here.biv(["host", "add", &name, "--connect", &connect])
                .run()
                .ok(),
        );
        Self {
            name,
            _server: server,
            camp,
            network,
        }
    }
}

/// Each instance by its title, with the machine that has it.
fn holders(here: &Camp) -> Vec<(String, Option<String>)> {
    let listing = here.biv(["list", "--json"]).run().ok().json();
    let mut held: Vec<(String, Option<String>)> = listing["instances"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|view| view["state"] != "away")
        .map(|view| {
            let host = view["host"].as_str().map(str::to_owned);
            (view["title"].as_str().unwrap().to_owned(), host)
        })
        .collect();
    held.sort();
    held
}

#[test]
fn ten_machines_are_one_list_and_a_link_that_is_cut_in_a_drain_loses_nothing() {
    if namespaces_left_out() {
        return;
    }
    let here = Camp::new();
    let config = here.home().join("config");
    std::fs::create_dir_all(&config).unwrap();
    std::fs::write(config.join("config.toml"), "[hosts]\ndeadline = \"60s\"\n").unwrap();
    let machines: Vec<Machine> = (0..HOSTS)
        .map(|number| Machine::new(number, &here))
        .collect();
    for machine in &machines {
        let repository = machine.camp.repository("app");
        for number in 0..EACH {
            let title = format!("{}-{number}", machine.name);
            drop(
                machine
                    .camp
                    .start_shell(&repository, &title, "exec sleep 600"),
            );
        }
    }
    let all = holders(&here);
    assert_eq!(all.len(), HOSTS * EACH, "{all:?}");
    for (title, host) in &all {
        assert!(title.starts_with(host.as_deref().unwrap()), "{all:?}");
    }

    // In turn to the first two of them; the link to the second is cut when the first instance has left.
    let repository = here.repository("app");
    let titles = ["a", "b", "c", "d"];
    let mut trees = Vec::new();
    for title in titles {
        let instance = here.start_shell(&repository, title, "exec sleep 600");
        std::fs::write(instance.worktree.join("work.txt"), format!("of {title}\n")).unwrap();
        trees.push(instance);
    }
    let drain = ["drain", "--to", "m0", "--to", "m1"];
    let mut draining = here.biv(drain).in_background();
    until("the first one has left", || {
        here.show(&trees[0])["state"] == "away"
    });
    machines[1].network.plug(false);
    let ended = draining.wait().unwrap();
    assert_eq!(ended.code(), Some(1), "two of them could not go");
    let local = here.biv(["list", "--json", "--local"]).run().ok().json();
    let of = |title: &str| -> Value {
        let views = local["instances"].as_array().unwrap();
        views
            .iter()
            .find(|view| view["title"] == title)
            .cloned()
            .unwrap()
    };
    assert_eq!(
        (&of("a")["state"], &of("c")["state"]),
        (&"away".into(), &"away".into())
    );
    assert_eq!(of("d")["state"], "running", "{local:#}");
    // The other machines are there, and the one behind the cut is shown as last known.
    let listing = here.biv(["list", "--json"]).run().ok().json();
    let hosts = listing["hosts"].as_array().unwrap();
    let down: Vec<&Value> = hosts
        .iter()
        .filter(|host| host["reachable"] == false)
        .collect();
    assert_eq!(down.len(), 1, "{hosts:?}");
    assert_eq!(down[0]["name"], "m1");

    machines[1].network.plug(true);
    // The same command ends what was cut off.
    until("all have left", || here.biv(drain).run().status == Some(0));
    // A machine that was down is shown as last known until it was asked again.
    let mut held = Vec::new();
    until("all are listed", || {
        held = holders(&here);
        held.len() == HOSTS * EACH + titles.len()
    });
    for title in titles {
        let holders = held.iter().filter(|(held, _)| held == title);
        let holders: Vec<_> = holders.map(|(_, host)| host.clone().unwrap()).collect();
        assert_eq!(holders.len(), 1, "{title}: {held:?}");
        assert!(["m0", "m1"].contains(&holders[0].as_str()), "{held:?}");
    }
    for host in ["m0", "m1"] {
        drop(here.biv(["drain", host, "--to", "."]).run().ok());
    }
    for (instance, title) in trees.iter().zip(titles) {
        let work = std::fs::read_to_string(instance.worktree.join("work.txt")).unwrap();
        assert_eq!(work, format!("of {title}\n"));
        assert_eq!(here.show(instance)["state"], "running");
    }
}
