//! From the settings, the provider's file and the repository to the plan of a seal.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use crate::agents::Provider;
use crate::engine::base::{Core, Error};
use crate::git::{Repo, admin_dir_of, common_dir_of};
use crate::model::{Branch, InstanceRecord, Seal, SealNetwork};
use crate::seal::{
    AllowedHost, Environment, Grant, KEEPER, Mirror, NamedPath, REPORT_SOCKET, Replacement,
    SealPlan, SealedWorktree, TAKEN, Where, expand, git_rules, own_directory, private_config,
    system_grants,
};
use crate::store::{InstanceDir, ensure_private};

/// Switches layers off in debug builds, so that tests see a machine without them.
const WITHOUT: &str = "BIV_SEAL_WITHOUT";
/// The private temporary directory, among the files of a seal.
const TEMPORARY: &str = "tmp";

/// What is to be sealed.
#[derive(Debug, Clone, Copy)]
pub(in crate::engine) struct Site<'a> {
    /// The worktree, or any directory.
    pub directory: &'a Path,
    /// The directory in it in which the program is started.
    pub start: &'a Path,
    pub branch: Option<&'a str>,
    /// A private directory for the seal's own files.
    pub own: &'a Path,
    pub network: SealNetwork,
    pub provider: Option<&'a Provider>,
    /// Files that the program is told to read.
    pub files: &'a [PathBuf],
    pub argv: &'a [String],
    pub environment: &'a Environment,
}

impl Core {
    /// Whether a new instance is sealed: asked for here, by the user's settings or by the repository.
    pub(in crate::engine) fn wanted_seal(
        &self,
        asked: bool,
        repository: &Path,
    ) -> Result<Option<Seal>, Error> {
        let settings = &self.settings().seal;
        let wanted = asked
            || settings.default
            || crate::config::RepositoryConfig::load(repository)?
                .seal
                .default;
        Ok(wanted.then_some(Seal {
            network: settings.network,
        }))
    }

    /// Refuses a branch beside which others lie: the right to write it is the right to write those.
    pub(in crate::engine) fn require_own_branch(
        &self,
        repository: &Repo,
        branch: Option<&Branch>,
    ) -> Result<(), Error> {
        if repository.common_dir().join("reftable").exists() {
            return Err(Error::SealBranch {
                branch: branch.map(|branch| branch.name.clone()).unwrap_or_default(),
                why: "the repository keeps all its refs in one file (reftable)".to_owned(),
            });
        }
        let Some(branch) = branch else { return Ok(()) };
        let shared = |why: String| {
            Err(Error::SealBranch {
                branch: branch.name.clone(),
                why,
            })
        };
        let Some(directory) = own_directory(&branch.name) else {
            return shared("its ref lies beside those of all other branches".to_owned());
        };
        let others = repository.branches_below(directory)?;
        match others.into_iter().find(|other| *other != branch.name) {
            Some(other) => shared(format!("its ref lies beside that of `{other}`")),
            None => Ok(()),
        }
    }

    /// The plan for this site, and the hosts that its proxy allows. Makes the directories that it needs.
    pub(in crate::engine) fn seal_plan(
        &self,
        site: Site<'_>,
    ) -> Result<(SealPlan, Vec<AllowedHost>), Error> {
        let (root, home, temporary) = prepare(site.own)?;
        let variable = |name: &str| variable_in(site.environment, name);
        let settings = &self.settings().seal;
        let mut grants = system_grants();
        grants.push(Grant::read(&self.host.biv));
        grants.extend(site.files.iter().map(Grant::read));
        grants.extend(programs(site, &variable));
        let named = variable("GIT_CONFIG_GLOBAL").filter(|path| !path.is_empty());
        grants.extend(named.map(Grant::read));
        let spec = site.provider.map(Provider::seal);
        let state = self.host.state.display().to_string();
        let named = |texts: &[String]| -> Result<Vec<NamedPath>, Error> {
            let paths = texts.iter().map(|text| {
                let filled = text.replace("{state}", &state);
                expand(&filled, &variable).ok_or_else(|| Error::SealPath { path: text.clone() })
            });
            paths.collect()
        };
        let read = named(&settings.read)?;
        let mut write = named(&settings.write)?;
        grants.extend(read.iter().map(|named| Grant::read(&named.path)));
        let mut private = Vec::new();
        if let Some(spec) = spec {
            let own = named(&spec.read)?;
            grants.extend(own.iter().map(|named| Grant::read(&named.path)));
            write.extend(named(&spec.write)?);
            private = named(&spec.private)?;
        }
        for named in &write {
            if named.made {
                ensure_directory(&named.path)?;
            }
            grants.push(Grant::write(&named.path));
        }
        let mut replacements = vec![
            replaced(&temporary, "/tmp"),
            replaced(&temporary, "/var/tmp"),
        ];
        if let Some(own) = variable("HOME").map(PathBuf::from)
            && own.is_absolute()
            && own.parent().is_some()
        {
            copy_private(&private, &own, &home)?;
            // With Landlock alone there is no private copy: it may at least be read.
            grants.extend(
                private
                    .iter()
                    .map(|named| Grant::read(&named.path).within(Where::LandlockAlone)),
            );
            replacements.push(Replacement {
                source: home,
                target: own,
            });
        }
        let git = of_git(site, &mut grants)?;
        replacements.extend(git.replacement);
        let hosts = hosts(settings, spec, &variable)?;
        // The same port can be named by the settings and by a variable of the agent.
        let ports: BTreeSet<u16> = hosts
            .iter()
            .filter_map(AllowedHost::loopback_port)
            .collect();
        let namespaces = !(cfg!(debug_assertions)
            && std::env::var_os(WITHOUT).is_some_and(|layer| layer == "namespaces"));
        let plan = SealPlan {
            grants,
            replacements,
            masks: git.masks,
            shields: git.shields,
            mirrors: git.mirrors,
            root,
            temporary,
            network: site.network,
            loopback_ports: ports.into_iter().collect(),
            namespaces,
        };
        Ok((plan, hosts))
    }
}

/// The private directories of a seal. All but the home are emptied by every launch.
fn prepare(own: &Path) -> Result<(PathBuf, PathBuf, PathBuf), Error> {
    let (root, home, temporary) = (own.join("root"), own.join("home"), own.join(TEMPORARY));
    let common = own.join("common");
    for directory in [&temporary, &common] {
        if let Err(error) = std::fs::remove_dir_all(directory)
            && error.kind() != std::io::ErrorKind::NotFound
        {
            return Err(Error::files("empty", directory)(error));
        }
    }
    for directory in [&root, &home, &temporary, &common] {
        ensure_private(directory)?;
    }
    Ok((root, home, temporary))
}

fn replaced(source: &Path, target: &str) -> Replacement {
    Replacement {
        source: source.to_owned(),
        target: target.into(),
    }
}

/// The agent's first look at its own file is that of the user; what it changes stays private.
fn copy_private(private: &[NamedPath], own: &Path, home: &Path) -> Result<(), Error> {
    for named in private {
        let Ok(relative) = named.path.strip_prefix(own) else {
            continue;
        };
        let copy = home.join(relative);
        if copy.symlink_metadata().is_err() && named.path.is_file() {
            if let Some(directory) = copy.parent() {
                ensure_directory(directory)?;
            }
            std::fs::copy(&named.path, &copy).map_err(Error::files("copy", &named.path))?;
        }
    }
    Ok(())
}

/// The directories on PATH below the home, and the program's own package: without them nothing runs.
fn programs(site: Site<'_>, variable: &dyn Fn(&str) -> Option<OsString>) -> Vec<Grant> {
    let home = variable("HOME").map(PathBuf::from).unwrap_or_default();
    let path = variable("PATH").unwrap_or_default();
    // A directory that holds the home would grant all of it.
    let is_narrow = |directory: &Path| directory.is_absolute() && !home.starts_with(directory);
    let mut found: Vec<PathBuf> = std::env::split_paths(&path)
        .filter(|directory| is_narrow(directory))
        .collect();
    let program = site
        .argv
        .first()
        .and_then(|program| which::which_in(program, Some(&path), site.start).ok());
    if let Some(program) = program {
        let real = program.canonicalize().unwrap_or_else(|_| program.clone());
        // A package of npm needs those beside it.
        let package = real
            .ancestors()
            .find(|part| part.file_name().is_some_and(|name| name == "node_modules"))
            .or(real.parent());
        found.extend(
            package
                .filter(|package| is_narrow(package))
                .map(Path::to_owned),
        );
        // The environment of a Python program is the directory above its programs.
        let environment = real
            .parent()
            .and_then(Path::parent)
            .filter(|directory| directory.join("pyvenv.cfg").exists());
        if let Some(environment) = environment {
            found.push(environment.to_owned());
            // Its interpreter, with its library, may be anywhere (pyenv, uv).
            let interpreter = environment.join("bin/python").canonicalize().ok();
            found.extend(
                interpreter
                    .as_deref()
                    .and_then(|python| python.parent()?.parent())
                    .filter(|prefix| is_narrow(prefix))
                    .map(Path::to_owned),
            );
        }
        found.push(program);
        found.push(real);
    }
    found.into_iter().map(Grant::read).collect()
}

/// The parts of a plan that concern the repository.
#[derive(Default)]
struct OfGit {
    replacement: Option<Replacement>,
    masks: Vec<PathBuf>,
    shields: Vec<PathBuf>,
    mirrors: Vec<Mirror>,
}

/// What git needs, or the directory alone where it is no linked worktree.
fn of_git(site: Site<'_>, grants: &mut Vec<Grant>) -> Result<OfGit, Error> {
    let Some(admin) = admin_dir_of(site.directory) else {
        grants.push(Grant::write(site.directory).within(Where::WithNamespaces));
        // Landlock alone cannot take the repository out of the directory that holds it.
        for name in entries(site.directory) {
            let path = site.directory.join(&name);
            grants.push(if name == ".git" {
                Grant::read(path).within(Where::LandlockAlone)
            } else {
                Grant::write(path).within(Where::LandlockAlone)
            });
        }
        return Ok(OfGit {
            shields: vec![site.directory.join(".git")],
            ..OfGit::default()
        });
    };
    let admin = admin.canonicalize().map_err(Error::files("find", &admin))?;
    let common = common_dir_of(&admin).unwrap_or_else(|| admin.clone());
    let private = site.own.join("common");
    let rules = git_rules(
        SealedWorktree {
            worktree: site.directory,
            common: &common,
            admin: &admin,
            branch: site.branch,
            private: &private,
        },
        &entries(&common),
    );
    let mirror = Mirror {
        outside: common.join("packed-refs"),
        copy: private.join("packed-refs"),
        draft: site.own.join("packed-refs"),
    };
    mirror
        .update()
        .map_err(Error::files("copy", &mirror.outside))?;
    for name in TAKEN {
        ensure_directory(&private.join(name))?;
    }
    let config = common.join("config");
    let text = std::fs::read_to_string(&config).map_err(Error::files("read", &config))?;
    let config = private.join("config");
    std::fs::write(&config, private_config(&text)).map_err(Error::files("write", &config))?;
    for directory in &rules.directories {
        ensure_directory(directory)?;
        let keeper = directory.join(KEEPER);
        std::fs::write(&keeper, "").map_err(Error::files("write", &keeper))?;
    }
    grants.extend(rules.grants);
    Ok(OfGit {
        replacement: Some(rules.replacement),
        masks: rules.masks,
        shields: rules.shields,
        mirrors: vec![mirror],
    })
}

/// Removes what only a running seal needs in the repository. What is in use otherwise stays.
pub(in crate::engine) fn release(dir: &InstanceDir, record: &InstanceRecord) {
    if record.seal.is_some() {
        // It is there only if the launcher was killed.
        drop(std::fs::remove_file(
            dir.seal().join(TEMPORARY).join(REPORT_SOCKET),
        ));
    }
    if let (Some(_), Some(branch)) = (&record.seal, &record.branch) {
        release_branch(&record.repository.common_dir, &branch.name);
    }
}

/// The same for a branch of this repository.
pub(in crate::engine) fn release_branch(common: &Path, branch: &str) {
    let Some(directory) = own_directory(branch) else {
        return;
    };
    for kind in ["refs/heads", "logs/refs/heads"] {
        let path = common.join(kind).join(directory);
        drop(std::fs::remove_file(path.join(KEEPER)));
        drop(std::fs::remove_dir(path));
    }
}

fn entries(directory: &Path) -> Vec<String> {
    std::fs::read_dir(directory)
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .collect()
}

fn hosts(
    settings: &crate::config::SealSettings,
    spec: Option<&crate::agents::SealSpec>,
    variable: &dyn Fn(&str) -> Option<OsString>,
) -> Result<Vec<AllowedHost>, Error> {
    let mut names = settings.hosts.clone();
    if let Some(spec) = spec {
        names.extend(spec.hosts.iter().cloned());
        let urls = spec.hosts_from.iter().filter_map(|name| variable(name));
        names.extend(urls.filter_map(|url| host_of(&url.into_string().ok()?)));
    }
    let parsed = names.into_iter().map(|name| {
        AllowedHost::parse(&name).ok_or_else(|| Error::SealHost { host: name.clone() })
    });
    parsed.collect()
}

/// `https://host:port/path` → `host:port`
fn host_of(url: &str) -> Option<String> {
    let (scheme, rest) = url.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next()?;
    let named = authority
        .rsplit_once('@')
        .map_or(authority, |(_, host)| host);
    let has_port = named
        .rsplit_once(':')
        .is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    Some(match scheme {
        "http" if !has_port => format!("{named}:80"),
        _ => named.to_owned(),
    })
}

fn variable_in(environment: &Environment, name: &str) -> Option<OsString> {
    let found = environment
        .iter()
        .find(|(known, _)| known == name.as_bytes());
    found.map(|(_, value)| OsString::from_vec(value.clone()))
}

fn ensure_directory(path: &Path) -> Result<(), Error> {
    std::fs::create_dir_all(path).map_err(Error::files("create", path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_of_a_server_names_its_host() {
        for (url, host) in [
            ("https://api.example.org/v1", Some("api.example.org")),
            (
                "https://u:p@api.example.org:8443/v1",
                Some("api.example.org:8443"),
            ),
            ("http://127.0.0.1:4010", Some("127.0.0.1:4010")),
            ("http://gateway/", Some("gateway:80")),
            ("gateway", None),
        ] {
            assert_eq!(host_of(url).as_deref(), host, "{url}");
        }
    }
}
