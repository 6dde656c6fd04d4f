//! Checks everything that Bivouac depends on and owns. Always safe to run.

use std::collections::{BTreeSet, HashSet};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::engine::base::{Core, Error, Scope, now};
use crate::engine::health::finding::{Finding, Health};
use crate::git::{self, Repo};
use crate::model::{InstanceId, RestingState, SealLayer, SealNetwork, missing_layers};
use crate::seal;
use crate::store::ensure_private;
use crate::tmux::{HUB, Server};
use crate::vault::{self, StoredSnapshot};

/// A launch takes a second; a launch socket this old is left over.
const STALE_SOCKET: Duration = Duration::from_secs(60);

impl Core {
    /// Looks at everything; with `fix`, mends what can be mended without risk.
    pub(crate) fn doctor(&self, fix: bool) -> Result<Vec<Finding>, Error> {
        let mut findings = self.programs();
        findings.extend(self.check_agents());
        findings.push(self.check_policy()?);
        findings.push(self.check_seal());
        findings.extend(self.check_directories(fix));
        findings.extend(self.check_operations()?);
        findings.extend(self.check_records(fix)?);
        findings.extend(self.check_sessions()?);
        findings.extend(self.check_worktrees()?);
        findings.extend(self.check_refs(fix)?);
        findings.extend(self.check_sockets(fix));
        Ok(findings)
    }

    /// The two programs that everything needs: git and tmux.
    pub(crate) fn programs(&self) -> Vec<Finding> {
        vec![check_tmux(), check_git()]
    }

    fn check_agents(&self) -> Vec<Finding> {
        let installed: Vec<&str> = self
            .catalog
            .iter()
            .filter(|provider| !matches!(provider.name(), "shell" | "demo"))
            .filter(|provider| provider.installed(&self.host).is_some())
            .map(|provider| provider.name())
            .collect();
        let mut findings = vec![if installed.is_empty() {
            Finding::bad(
                "agents",
                Health::Warning,
                "no coding agent is on PATH".to_owned(),
                "install one (`biv agents` lists them), or try `biv new -a demo`",
            )
        } else {
            Finding::good("agents", format!("on PATH: {}", installed.join(", ")))
        }];
        // Of those that were started here: the others are not asked, which takes seconds.
        let providers = installed.iter().filter_map(|name| self.provider(name).ok());
        findings.extend(providers.filter_map(|provider| {
            let hint = format!(
                "it is used by what still matches, and autoyes leaves its dialogs to you; `measured` in \
                 agents/{}.toml beside your configuration says otherwise",
                provider.name()
            );
            let what = provider.unmeasured()?;
            Some(Finding::bad("agents", Health::Warning, what, hint))
        }));
        findings
    }

    /// The user's rules, and those of every checkout that an agent works in.
    fn check_policy(&self) -> Result<Finding, Error> {
        let (found, _) = self.all(Scope::Living)?;
        let mut checkouts: BTreeSet<PathBuf> = BTreeSet::new();
        for found in found {
            checkouts.insert(found.record.repository.root);
            // A directory at the place of a paused worktree is not ours.
            if found.record.state == RestingState::Running {
                checkouts.insert(found.record.worktree.path);
            }
        }
        checkouts.retain(|checkout| checkout.is_dir());
        let checkouts: Vec<&Path> = checkouts.iter().map(PathBuf::as_path).collect();
        Ok(match self.policy(&checkouts) {
            Ok(policy) => match self.policy_doubt() {
                Some(doubt) => Finding::bad(
                    "policy",
                    Health::Warning,
                    doubt,
                    "`chmod go-w` on the file and its directory",
                ),
                None => {
                    let count = policy.all().count();
                    Finding::good("policy", format!("{count} rules are in force"))
                }
            },
            Err(mistake) => Finding::bad(
                "policy",
                Health::Problem,
                mistake.to_string(),
                "mend it: until then autoyes answers nothing; `biv policy test` tries it",
            ),
        })
    }

    /// The layers of a seal that this machine has.
    fn check_seal(&self) -> Finding {
        let present = seal::layers_of_machine(&self.host.biv);
        let missing = missing_layers(&present, SealNetwork::AllowList);
        let names = |layers: &[SealLayer]| {
            let names: Vec<&str> = layers.iter().map(|layer| layer.name()).collect();
            names.join(", ")
        };
        if missing.is_empty() {
            return Finding::good("seal", format!("complete: {}", names(&present)));
        }
        if !present.contains(&SealLayer::Files) {
            return Finding::bad(
                "seal",
                Health::Warning,
                "agents cannot be sealed: it needs Linux 6.2 or newer with Landlock".to_owned(),
                "boot with `lsm=landlock,…`, or do without `--seal`",
            );
        }
        Finding::bad(
            "seal",
            Health::Warning,
            format!("without {}", names(&missing)),
            "allow unprivileged user namespaces (sysctl kernel.unprivileged_userns_clone=1, kernel.apparmor_restrict_unprivileged_userns=0)",
        )
    }

    fn check_directories(&self, fix: bool) -> Vec<Finding> {
        [&self.home.state, &self.home.run]
            .into_iter()
            .filter(|directory| directory.exists())
            .map(|directory| check_directory(directory, fix))
            .collect()
    }

    fn check_operations(&self) -> Result<Vec<Finding>, Error> {
        let unfinished = self.recover_all()?;
        if unfinished.is_empty() {
            return Ok(vec![Finding::good(
                "operations",
                "none is interrupted".to_owned(),
            )]);
        }
        Ok(unfinished
            .into_iter()
            .map(|unfinished| {
                Finding::bad(
                    "operations",
                    Health::Problem,
                    format!("`{}`: {}", unfinished.title, unfinished.error.told()),
                    "mend the cause; the next command carries the operation on",
                )
            })
            .collect())
    }

    fn check_records(&self, fix: bool) -> Result<Vec<Finding>, Error> {
        let mut findings = self.check_stored(fix)?;
        let (found, _) = self.all(Scope::Living)?;
        for found in found {
            let record = &found.record;
            if record.state == RestingState::Running && !record.worktree.path.is_dir() {
                findings.push(Finding::bad(
                    "records",
                    Health::Problem,
                    format!(
                        "`{}` has lost its worktree {}",
                        record.title,
                        record.worktree.path.display()
                    ),
                    format!("bring the directory back, or `biv kill {}`", record.id),
                ));
            }
        }
        if findings.is_empty() {
            findings.push(Finding::good("records", "all can be read".to_owned()));
        }
        Ok(findings)
    }

    fn check_sessions(&self) -> Result<Vec<Finding>, Error> {
        let known: HashSet<InstanceId> = self.store.ids()?.into_iter().collect();
        let server = self.server();
        let orphans: Vec<Finding> = server
            .panes()
            .unwrap_or_default()
            .into_iter()
            .filter(|pane| !pane.session.starts_with(HUB) && !pane.shell)
            .filter(|pane| pane.instance.as_ref().is_none_or(|id| !known.contains(id)))
            .map(|pane| {
                Finding::bad(
                    "sessions",
                    Health::Warning,
                    format!("the session {} belongs to no instance", pane.session),
                    format!(
                        "look at it with `tmux -S {} attach -t ={}`, then end it there",
                        server.socket_path().display(),
                        pane.session
                    ),
                )
            })
            .collect();
        Ok(or_good(orphans, "sessions", "each belongs to an instance"))
    }

    fn check_worktrees(&self) -> Result<Vec<Finding>, Error> {
        let known: HashSet<PathBuf> = self
            .all(Scope::WithKilled)?
            .0
            .into_iter()
            .map(|found| found.record.worktree.path)
            .collect();
        let orphans: Vec<Finding> = directories(&self.home.worktrees)
            .into_iter()
            .flat_map(|repository| directories(&repository))
            .filter(|directory| !known.contains(directory))
            .map(|directory| {
                Finding::bad(
                    "worktrees",
                    Health::Warning,
                    format!("{} belongs to no instance", directory.display()),
                    format!(
                        "take it over with `biv adopt {}`, or remove it yourself",
                        directory.display()
                    ),
                )
            })
            .collect();
        Ok(or_good(orphans, "worktrees", "each belongs to an instance"))
    }

    fn check_refs(&self, fix: bool) -> Result<Vec<Finding>, Error> {
        let known: HashSet<InstanceId> = self.store.ids()?.into_iter().collect();
        let roots: BTreeSet<PathBuf> = self
            .all(Scope::WithKilled)?
            .0
            .into_iter()
            .map(|found| found.record.repository.root)
            .collect();
        let mut orphans = Vec::new();
        for root in roots {
            let Ok(repository) = Repo::discover(&root) else {
                orphans.push(Finding::bad(
                    "repositories",
                    Health::Problem,
                    format!("{} is not a repository any more", root.display()),
                    "bring it back where it was; its instances wait for it",
                ));
                continue;
            };
            let mut protected = BTreeSet::new();
            for snapshot in vault::list_snapshots(&repository, None)? {
                let known = snapshot.instance().filter(|id| known.contains(id));
                match known {
                    Some(id) if protected.insert(id.clone()) => {
                        orphans.extend(check_protected(&repository, &id, fix)?);
                    }
                    Some(_) => {}
                    None => orphans.extend(self.check_orphan(&repository, &snapshot)),
                }
            }
        }
        Ok(or_good(
            orphans,
            "repositories",
            "all are there, each snapshot belongs to an instance",
        ))
    }

    /// Saved work of this home that belongs to no instance. Work that another home has saved is left alone.
    fn check_orphan(&self, repository: &Repo, snapshot: &StoredSnapshot) -> Option<Finding> {
        let vault = repository.vault_dir();
        let name = &snapshot.reference;
        let (what, more) = match &snapshot.home {
            Some(home) if *home == self.home.state => (
                "belongs to no instance any more".to_owned(),
                format!(
                    "; `git --git-dir={} update-ref -d {name}` lets it go",
                    shown(&vault)
                ),
            ),
            Some(home) if home.exists() => return None,
            Some(home) => (
                format!("was saved by the home {}, which is gone", home.display()),
                String::new(),
            ),
            None => (
                "was saved by an earlier version, and no instance here has it".to_owned(),
                String::new(),
            ),
        };
        Some(Finding::bad(
            "snapshots",
            Health::Warning,
            format!("{name} in {} {what}", vault.display()),
            format!(
                "`git fetch {} {name}` and `git stash apply FETCH_HEAD` bring it back{more}",
                shown(&vault)
            ),
        ))
    }

    fn check_sockets(&self, fix: bool) -> Vec<Finding> {
        let stale: Vec<PathBuf> = std::fs::read_dir(&self.home.run)
            .into_iter()
            .flatten()
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                name.starts_with("launch-") && is_older_than(path, STALE_SOCKET)
            })
            .collect();
        stale
            .into_iter()
            .map(|path| {
                let mended = fix && std::fs::remove_file(&path).is_ok();
                Finding {
                    mended,
                    ..Finding::bad(
                        "sockets",
                        Health::Warning,
                        format!("{} was left by a launch that was cut off", path.display()),
                        "`biv doctor --fix` removes it",
                    )
                }
            })
            .collect()
    }
}

/// Whether the base commits of saved work are safe from `git gc`.
fn check_protected(
    repository: &Repo,
    id: &InstanceId,
    fix: bool,
) -> Result<Option<Finding>, Error> {
    if vault::is_kept(repository, id)? {
        return Ok(None);
    }
    let mended = fix && vault::restore_keep(repository, id, now()).is_ok();
    Ok(Some(Finding {
        mended,
        ..Finding::bad(
            "snapshots",
            Health::Problem,
            format!(
                "refs/bivouac-keep/{id} in {} was deleted or changed: `git gc` may drop commits \
                 that saved work stands on",
                repository.root().display()
            ),
            "`biv doctor --fix` makes it again",
        )
    }))
}

/// A path as a shell reads it.
fn shown(path: &Path) -> String {
    let text = path.display().to_string();
    shlex::try_quote(&text).map_or(text.clone(), std::borrow::Cow::into_owned)
}

fn check_tmux() -> Finding {
    match Server::installed_version() {
        Ok(version) => Finding::good("tmux", format!("{version} is installed")),
        Err(error) => Finding::bad(
            "tmux",
            Health::Problem,
            error.to_string(),
            "install tmux 3.2 or newer (Debian, Ubuntu: apt install tmux; macOS: brew install tmux)",
        ),
    }
}

fn check_git() -> Finding {
    match git::installed_version() {
        Ok(version) => Finding::good("git", format!("{version} is installed")),
        Err(error) => Finding::bad(
            "git",
            Health::Problem,
            error.to_string(),
            "install a newer git (Debian, Ubuntu: apt install git; macOS: brew install git)",
        ),
    }
}

fn check_directory(directory: &Path, fix: bool) -> Finding {
    let open = std::fs::metadata(directory)
        .is_ok_and(|metadata| metadata.permissions().mode() & 0o077 != 0);
    if !open {
        return Finding::good("permissions", format!("{} is private", directory.display()));
    }
    let mended = fix && ensure_private(directory).is_ok();
    Finding {
        mended,
        ..Finding::bad(
            "permissions",
            Health::Problem,
            format!("{} can be read by others", directory.display()),
            format!("chmod 700 {}", directory.display()),
        )
    }
}

fn or_good(findings: Vec<Finding>, check: &'static str, good: &str) -> Vec<Finding> {
    if findings.is_empty() {
        vec![Finding::good(check, good.to_owned())]
    } else {
        findings
    }
}

fn directories(parent: &Path) -> Vec<PathBuf> {
    std::fs::read_dir(parent)
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| {
            path.is_dir()
                && !path
                    .file_name()
                    .unwrap_or_default()
                    .to_string_lossy()
                    .starts_with('.')
        })
        .collect()
}

fn is_older_than(path: &Path, age: Duration) -> bool {
    std::fs::metadata(path)
        .and_then(|metadata| metadata.modified())
        .is_ok_and(|modified| modified.elapsed().is_ok_and(|elapsed| elapsed > age))
}
