//! The command line that starts or resumes an agent.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::file::PLACEHOLDERS;
use super::provider::Provider;

/// The parts of this machine that provider files may refer to.
#[derive(Debug, Clone)]
pub(crate) struct Host {
    /// This program.
    pub biv: PathBuf,
    /// The state directory of Bivouac.
    pub state: PathBuf,
    /// The user's shell.
    pub shell: PathBuf,
    /// The search path for programs.
    pub path: Option<OsString>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct LaunchContext<'a> {
    pub host: &'a Host,
    /// The worktree.
    pub cwd: &'a Path,
    pub kind: LaunchKind<'a>,
    /// The directories that the user has added to the session.
    pub directories: &'a [String],
    /// The arguments that the user gave after `--`.
    pub extra_args: &'a [String],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LaunchKind<'a> {
    /// A new session, with this reference where the agent accepts one.
    Fresh {
        session: Option<&'a str>,
    },
    Resume {
        session: &'a str,
    },
}

/// The command line to execute, without a shell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LaunchPlan {
    pub argv: Vec<String>,
    /// The same for display, without hooks and guard: these are long and not the user's choice.
    pub shown: Vec<String>,
    pub env: Vec<(String, String)>,
    /// Whether the guard is among the arguments.
    pub guarded: bool,
    /// Files that must be written first.
    pub files: Vec<(PathBuf, String)>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum LaunchError {
    #[error("{agent} cannot resume a session")]
    NoResume { agent: String },
    #[error("the path {} is not valid UTF-8 and cannot be passed to {agent}", .path.display())]
    Path { agent: String, path: PathBuf },
    #[error("`{placeholder}` in the file of {agent} has no value here")]
    NoValue { agent: String, placeholder: String },
}

/// The same command, started again for as long as it ends with this status.
fn relaunching(status: u8, argv: Vec<String>) -> Vec<String> {
    let script = format!(r#"while :; do "$@"; s=$?; [ "$s" -eq {status} ] || exit "$s"; done"#);
    let shell = [
        "/bin/sh".to_owned(),
        "-c".to_owned(),
        script,
        "sh".to_owned(),
    ];
    shell.into_iter().chain(argv).collect()
}

impl Provider {
    pub(crate) fn launch(&self, context: &LaunchContext<'_>) -> Result<LaunchPlan, LaunchError> {
        let file = &self.file;
        let mut argv = Vec::new();
        let from_args = file.command_from_args && !context.extra_args.is_empty();
        if !from_args {
            self.fill_all(&file.command, context, &mut argv)?;
        }
        if file.command_from_args {
            argv.extend(context.extra_args.iter().cloned());
        }
        self.fill_all(&file.args, context, &mut argv)?;
        let hooks_at = argv.len();
        match context.kind {
            LaunchKind::Fresh { session: Some(_) } => {
                self.fill_all(&file.session.fresh, context, &mut argv)?;
            }
            LaunchKind::Fresh { session: None } => {}
            LaunchKind::Resume { .. } if file.session.resume.is_empty() => {
                return Err(LaunchError::NoResume {
                    agent: self.display().to_owned(),
                });
            }
            LaunchKind::Resume { .. } => {
                self.fill_all(&file.session.resume, context, &mut argv)?;
                for directory in context.directories {
                    argv.extend(file.session.directory.iter().cloned());
                    argv.push(directory.clone());
                }
            }
        }
        if !file.command_from_args {
            argv.extend(context.extra_args.iter().cloned());
        }
        let env = file
            .env
            .iter()
            .filter(|(_, value)| !value.is_empty())
            .map(|(name, value)| Ok((name.clone(), self.fill(value, context)?)))
            .collect::<Result<_, LaunchError>>()?;
        let shown = argv.clone();
        let mut unseen = self.hook_arguments(context.host, context.extra_args);
        let mut files = Vec::new();
        let guard = self.guard_file(context.host);
        // A comma would separate two paths.
        let guarded = self.supports_guard() && !guard.to_string_lossy().contains(',');
        if guarded {
            self.fill_all(&file.guard.args, context, &mut unseen)?;
            files.push((guard, file.guard.file.clone()));
        }
        argv.splice(hooks_at..hooks_at, unseen);
        if let Some(status) = file.session.relaunch_status {
            argv = relaunching(status, argv);
        }
        Ok(LaunchPlan {
            argv,
            shown,
            env,
            guarded,
            files,
        })
    }

    fn fill_all(
        &self,
        words: &[String],
        context: &LaunchContext<'_>,
        argv: &mut Vec<String>,
    ) -> Result<(), LaunchError> {
        for word in words {
            argv.push(self.fill(word, context)?);
        }
        Ok(())
    }

    /// Replaces the placeholders of a word once: the inserted values are not expanded again.
    fn fill(&self, word: &str, context: &LaunchContext<'_>) -> Result<String, LaunchError> {
        let mut filled = String::new();
        let mut rest = word;
        while let Some(start) = rest.find('{') {
            let (before, after) = rest.split_at(start);
            filled.push_str(before);
            let placeholder = PLACEHOLDERS.iter().find(|known| after.starts_with(**known));
            match placeholder {
                Some(placeholder) => {
                    filled.push_str(&self.value(placeholder, context)?);
                    rest = after.get(placeholder.len()..).unwrap_or_default();
                }
                None => {
                    filled.push('{');
                    rest = after.get(1..).unwrap_or_default();
                }
            }
        }
        filled.push_str(rest);
        Ok(filled)
    }

    fn value(&self, placeholder: &str, context: &LaunchContext<'_>) -> Result<String, LaunchError> {
        let path = |path: &Path| {
            path.to_str().map(str::to_owned).ok_or(LaunchError::Path {
                agent: self.display().to_owned(),
                path: path.to_owned(),
            })
        };
        let session = match context.kind {
            LaunchKind::Fresh { session } => session,
            LaunchKind::Resume { session } => Some(session),
        };
        let given = |text: Option<&str>| {
            text.map(str::to_owned).ok_or(LaunchError::NoValue {
                agent: self.display().to_owned(),
                placeholder: placeholder.to_owned(),
            })
        };
        match placeholder {
            "{biv}" => path(&context.host.biv),
            "{state}" => path(&context.host.state),
            "{shell}" => path(&context.host.shell),
            "{cwd}" => path(context.cwd),
            "{session}" => given(session),
            "{guard}" => path(&self.guard_file(context.host)),
            _ => given(None),
        }
    }
}
