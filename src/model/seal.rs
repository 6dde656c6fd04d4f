//! What is recorded of the seal of an instance.

use serde::{Deserialize, Serialize};

/// Where a sealed agent may connect to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum SealNetwork {
    /// Only to named hosts, through a proxy of ours.
    #[default]
    AllowList,
    /// Everywhere.
    All,
    /// Nowhere.
    None,
}

impl SealNetwork {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::AllowList => "allow-list",
            Self::All => "all",
            Self::None => "none",
        }
    }
}

/// The seal that an instance was created with. Every launch of its agent builds it again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Seal {
    pub network: SealNetwork,
}

/// What the kernel enforces around one process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum SealLayer {
    /// Which files can be read and written.
    #[serde(rename = "landlock-files")]
    Files,
    /// Which TCP ports can be connected to.
    #[serde(rename = "landlock-tcp")]
    Tcp,
    /// No signals to processes outside, no abstract sockets of theirs.
    #[serde(rename = "landlock-scope")]
    Scope,
    /// Files that are not granted do not exist, sockets among them.
    #[serde(rename = "mount-namespace")]
    Mounts,
    /// Processes outside do not exist.
    #[serde(rename = "pid-namespace")]
    Processes,
    /// There is no network but a loopback of its own.
    #[serde(rename = "network-namespace")]
    Network,
}

impl SealLayer {
    pub(crate) const ALL: [Self; 6] = [
        Self::Files,
        Self::Tcp,
        Self::Scope,
        Self::Mounts,
        Self::Processes,
        Self::Network,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Files => "landlock-files",
            Self::Tcp => "landlock-tcp",
            Self::Scope => "landlock-scope",
            Self::Mounts => "mount-namespace",
            Self::Processes => "pid-namespace",
            Self::Network => "network-namespace",
        }
    }

    /// What is possible where this layer is missing.
    pub(crate) fn without(self) -> &'static str {
        match self {
            Self::Files => "files are not restricted",
            Self::Tcp => "TCP connections are not restricted",
            Self::Scope => "processes outside can be signalled",
            Self::Mounts => "Unix sockets outside can be reached by their path",
            Self::Processes => "processes outside can be seen",
            Self::Network => "UDP, and so name look-ups, are not restricted",
        }
    }
}

/// The layers that a machine or a running agent lacks for this kind of network access.
pub(crate) fn missing_layers(present: &[SealLayer], network: SealNetwork) -> Vec<SealLayer> {
    let has = |layer: &SealLayer| present.contains(layer);
    SealLayer::ALL
        .into_iter()
        .filter(|layer| !has(layer))
        .filter(|layer| match layer {
            // A network namespace restricts more than the rule on ports.
            SealLayer::Tcp => network != SealNetwork::All && !has(&SealLayer::Network),
            SealLayer::Network => network != SealNetwork::All,
            // A pid namespace of its own holds no process outside.
            SealLayer::Scope => !has(&SealLayer::Processes),
            SealLayer::Files | SealLayer::Mounts | SealLayer::Processes => true,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stronger_layer_makes_up_for_a_weaker_one() {
        use SealLayer::{Files, Mounts, Network, Processes, Scope, Tcp};
        let namespaces = [Files, Mounts, Processes, Network];
        assert_eq!(missing_layers(&namespaces, SealNetwork::AllowList), []);
        let landlock = [Files, Tcp, Scope];
        assert_eq!(
            missing_layers(&landlock, SealNetwork::AllowList),
            [Mounts, Processes, Network]
        );
        assert_eq!(
            missing_layers(&landlock, SealNetwork::All),
            [Mounts, Processes]
        );
        assert_eq!(missing_layers(&[Files], SealNetwork::None).len(), 5);
    }
}
