//! All known agents: the built-in ones and the user's.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use super::file::ProviderFile;
use super::launch::Host;
use super::mistake::{self, ProviderFileError};
use super::provider::Provider;

/// In the order in which the default agent is searched for.
const BUILT_IN: [(&str, &str); 12] = [
    ("claude", include_str!("providers/claude.toml")),
    ("codex", include_str!("providers/codex.toml")),
    ("gemini", include_str!("providers/gemini.toml")),
    ("opencode", include_str!("providers/opencode.toml")),
    ("aider", include_str!("providers/aider.toml")),
    ("copilot", include_str!("providers/copilot.toml")),
    ("qwen", include_str!("providers/qwen.toml")),
    ("kimi", include_str!("providers/kimi.toml")),
    ("vibe", include_str!("providers/vibe.toml")),
    ("kilo", include_str!("providers/kilo.toml")),
    ("shell", include_str!("providers/shell.toml")),
    ("demo", include_str!("providers/demo.toml")),
];
/// The agent that runs any command.
const PLAIN: &str = "shell";
/// Started only on request: one needs a command, and the other only plays an agent.
const NEVER_DEFAULT: [&str; 2] = [PLAIN, "demo"];

#[derive(Debug)]
pub(crate) struct Catalog {
    agents: Vec<Agent>,
}

/// An agent of the catalog. An unchanged built-in file is parsed at first use: most commands need one agent
/// or none.
#[derive(Debug)]
struct Agent {
    name: String,
    text: &'static str,
    provider: OnceLock<Option<Provider>>,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum CatalogError {
    #[error("the agent files in {} cannot be read", .path.display())]
    Unreadable {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error("{}: an agent's file is named after it, in small letters, digits and `-`, as in my-agent.toml", .file.display())]
    Name { file: PathBuf },
    #[error("there is an agent named `{name}` already")]
    Taken { name: String },
    #[error(transparent)]
    ProviderFileError(#[from] ProviderFileError),
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no agent named `{name}`")]
pub(crate) struct UnknownAgent {
    pub name: String,
    /// The most similar known name.
    pub suggestion: Option<String>,
    pub known: Vec<String>,
}

impl Catalog {
    pub(crate) fn built_in() -> Self {
        let agents = BUILT_IN
            .iter()
            .map(|(name, text)| Agent {
                name: (*name).to_owned(),
                text,
                provider: OnceLock::new(),
            })
            .collect();
        Self { agents }
    }

    /// The built-in agents, with the user's files (`<config>/agents/*.toml`) merged over them.
    pub(crate) fn load(user_dir: Option<&Path>) -> Result<Self, CatalogError> {
        let mut catalog = Self::built_in();
        for file in user_dir.map(user_files).transpose()?.unwrap_or_default() {
            catalog.lay_over(&file)?;
        }
        Ok(catalog)
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.agents.iter().map(|agent| agent.name.as_str())
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Provider> {
        self.agents.iter().filter_map(Agent::provider)
    }

    pub(crate) fn find(&self, name: &str) -> Option<&Provider> {
        let agent = self.agents.iter().find(|agent| agent.name == name)?;
        agent.provider()
    }

    pub(crate) fn require(&self, name: &str) -> Result<&Provider, UnknownAgent> {
        self.find(name).ok_or_else(|| UnknownAgent {
            name: name.to_owned(),
            suggestion: mistake::nearest(name, self.names()).map(str::to_owned),
            known: self.names().map(str::to_owned).collect(),
        })
    }

    /// The file of a new agent in this directory. An error if the name does not fit, or is taken.
    pub(crate) fn new_file(&self, directory: &Path, name: &str) -> Result<PathBuf, CatalogError> {
        let file = directory.join(format!("{name}.toml"));
        if agent_name(&file)? != name {
            return Err(CatalogError::Name { file });
        }
        if self.names().any(|known| known == name) || file.symlink_metadata().is_ok() {
            return Err(CatalogError::Taken {
                name: name.to_owned(),
            });
        }
        Ok(file)
    }

    /// The agent that runs any command.
    pub(crate) fn plain(&self) -> Result<&Provider, UnknownAgent> {
        self.require(PLAIN)
    }

    /// The configured agent, else the first built-in one that is installed. The demo agent is never
    /// chosen for a user who has not asked for it.
    pub(crate) fn default_agent(
        &self,
        configured: Option<&str>,
        host: &Host,
    ) -> Result<Option<&Provider>, UnknownAgent> {
        if let Some(name) = configured {
            return self.require(name).map(Some);
        }
        Ok(self
            .agents_to_look_for()
            .find(|provider| provider.installed(host).is_some()))
    }

    /// The built-in agents that can be the default, in the order in which they are looked for.
    pub(crate) fn agents_to_look_for(&self) -> impl Iterator<Item = &Provider> {
        BUILT_IN
            .iter()
            .map(|(name, _)| *name)
            .filter(|name| !NEVER_DEFAULT.contains(name))
            .filter_map(|name| self.find(name))
    }

    fn lay_over(&mut self, path: &Path) -> Result<(), CatalogError> {
        let name = agent_name(path)?;
        let text = std::fs::read_to_string(path).map_err(|source| CatalogError::Unreadable {
            path: path.to_owned(),
            source,
        })?;
        let place = self.agents.iter().position(|agent| agent.name == name);
        let below = place
            .and_then(|at| self.agents.get(at))
            .map_or("", |agent| agent.text);
        let provider = provider_from(&name, path, below, &text)?;
        match place.and_then(|at| self.agents.get_mut(at)) {
            Some(agent) => agent.provider = OnceLock::from(Some(provider)),
            None => self.agents.push(Agent {
                name,
                text: "",
                provider: OnceLock::from(Some(provider)),
            }),
        }
        Ok(())
    }
}

impl Agent {
    fn provider(&self) -> Option<&Provider> {
        self.provider
            .get_or_init(|| {
                // The tests parse every built-in file, so this cannot fail.
                let file = mistake::from_table(self.text.parse().ok()?).ok()?;
                Some(Provider::new(&self.name, file))
            })
            .as_ref()
    }
}

/// The agent of a file, laid over the built-in one of the same name.
pub(super) fn provider_from(
    name: &str,
    path: &Path,
    below: &str,
    text: &str,
) -> Result<Provider, CatalogError> {
    // Parsed by itself first, so that a mistake has a line number.
    mistake::read(path, text)?;
    let file = merged(below, text)
        .and_then(|file| {
            file.check()
                .and_then(|()| file.check_whole())
                .map(|()| file)
        })
        .map_err(|fault| mistake::at(path, text, fault))?;
    Ok(Provider::new(name, file))
}

/// Merges two files: tables key by key; for everything else the upper file wins.
fn merged(below: &str, above: &str) -> Result<ProviderFile, crate::detect::Fault> {
    let fault = |error: toml::de::Error| crate::detect::Fault {
        key: String::new(),
        message: error.message().to_owned(),
    };
    let mut table: toml::Table = below.parse().map_err(fault)?;
    lay(&mut table, above.parse().map_err(fault)?);
    mistake::from_table(table).map_err(|error| fault(error.into_inner()))
}

fn lay(below: &mut toml::Table, above: toml::Table) {
    for (key, value) in above {
        match (below.get_mut(&key), value) {
            (Some(toml::Value::Table(inner)), toml::Value::Table(value)) => lay(inner, value),
            (_, value) => {
                below.insert(key, value);
            }
        }
    }
}

/// Sorted by name. A missing directory has none.
fn user_files(directory: &Path) -> Result<Vec<PathBuf>, CatalogError> {
    let unreadable = |source| CatalogError::Unreadable {
        path: directory.to_owned(),
        source,
    };
    let entries = match std::fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(unreadable(error)),
    };
    let mut files = Vec::new();
    for entry in entries {
        let path = entry.map_err(unreadable)?.path();
        if path
            .extension()
            .is_some_and(|extension| extension == "toml")
        {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

fn agent_name(file: &Path) -> Result<String, CatalogError> {
    let name = file
        .file_stem()
        .and_then(|stem| stem.to_str())
        .unwrap_or_default();
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if name.is_empty() || name.starts_with('-') || !name.chars().all(fits) {
        return Err(CatalogError::Name {
            file: file.to_owned(),
        });
    }
    Ok(name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::super::launch::{LaunchContext, LaunchKind};
    use super::*;

    fn host() -> Host {
        Host {
            biv: std::env::current_exe().unwrap(),
            state: PathBuf::from("/state dir"),
            shell: PathBuf::from("/bin/sh"),
            path: None,
        }
    }

    fn launch(agent: &str, kind: LaunchKind<'_>, extra: &[&str]) -> Vec<String> {
        let catalog = Catalog::built_in();
        let extra: Vec<String> = extra.iter().map(|arg| (*arg).to_owned()).collect();
        let mut host = host();
        host.biv = PathBuf::from("/bin/biv");
        let context = LaunchContext {
            host: &host,
            cwd: Path::new("/work tree"),
            kind,
            directories: &[],
            extra_args: &extra,
        };
        catalog
            .require(agent)
            .unwrap()
            .launch(&context)
            .unwrap()
            .argv
    }

    #[test]
    fn every_built_in_file_is_right() {
        for (name, text) in BUILT_IN {
            let file =
                mistake::read(Path::new(name), text).unwrap_or_else(|error| panic!("{error}"));
            file.check_whole()
                .unwrap_or_else(|fault| panic!("{name}: {fault:?}"));
        }
        assert_eq!(Catalog::built_in().iter().count(), BUILT_IN.len());
    }

    #[test]
    fn a_launch_plan_is_the_file_with_its_placeholders_filled() {
        let id = "7c4d8d0e-0000-4000-8000-000000000000";
        assert_eq!(
            launch("demo", LaunchKind::Fresh { session: Some(id) }, &["--fast"]),
            [
                "/bin/biv",
                "__demo-agent",
                "--sessions",
                "/state dir/demo",
                "--session-id",
                id,
                "--fast"
            ]
        );
        assert_eq!(
            launch("demo", LaunchKind::Resume { session: id }, &[]),
            [
                "/bin/biv",
                "__demo-agent",
                "--sessions",
                "/state dir/demo",
                "--resume",
                id
            ]
        );
        for (agent, expected) in [
            ("claude", "claude --settings HOOKS --resume ID -v"),
            (
                "codex",
                "codex --no-daemon --no-alt-screen resume -C /work tree ID -v",
            ),
            (
                "gemini",
                r#"/bin/sh -c while :; do "$@"; s=$?; [ "$s" -eq 199 ] || exit "$s"; done sh gemini --resume ID -v"#,
            ),
            ("opencode", "opencode --session ID -v"),
            ("kilo", "kilo --session ID -v"),
        ] {
            let argv = launch(agent, LaunchKind::Resume { session: "ID" }, &["-v"]);
            let hooks = |word: &String| match word.starts_with('{') {
                true => "HOOKS".to_owned(),
                false => word.clone(),
            };
            let argv: Vec<String> = argv.iter().map(hooks).collect();
            assert_eq!(argv.join(" "), expected);
        }
        let fresh = LaunchKind::Fresh { session: None };
        assert_eq!(launch("aider", fresh, &["--yes"]), ["aider", "--yes"]);
        assert_eq!(launch("shell", fresh, &[]), ["/bin/sh"]);
        assert_eq!(launch("shell", fresh, &["make", "-j2"]), ["make", "-j2"]);
    }

    #[test]
    fn an_unknown_agent_is_answered_with_the_one_that_was_meant() {
        let error = Catalog::built_in().require("cluade").unwrap_err();
        assert_eq!(error.suggestion.as_deref(), Some("claude"));
        assert_eq!(error.to_string(), "there is no agent named `cluade`");
    }

    #[test]
    fn the_default_is_the_configured_one_else_the_first_installed_else_the_demo() {
        let catalog = Catalog::built_in();
        let bin = tempfile::tempdir().unwrap();
        let mut host = host();
        host.path = Some(bin.path().into());
        let default = |host: &Host| {
            let found = catalog.default_agent(None, host).unwrap();
            found.map(|provider| provider.name().to_owned())
        };
        assert_eq!(default(&host), None);
        for name in ["aider", "codex"] {
            // A link, not a new file: executing a file that was just written may fail with "text file busy".
            std::os::unix::fs::symlink(which::which("git").unwrap(), bin.path().join(name))
                .unwrap();
            assert_eq!(default(&host).as_deref(), Some(name));
        }
        let codex = catalog.require("codex").unwrap();
        let (program, patience) = (bin.path().join("codex"), std::time::Duration::from_secs(60));
        assert!(super::super::version(codex, &program, &host, patience).is_some());
        assert_eq!(
            catalog
                .default_agent(Some("shell"), &host)
                .unwrap()
                .map(Provider::name),
            Some("shell")
        );
        assert!(catalog.default_agent(Some("shall"), &host).is_err());
    }
}
