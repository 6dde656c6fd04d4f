//! Pull requests, opened by the forge's own program (`gh`, `glab`), or a page where the user can.
//!
//! As with a push, the user's own settings and credentials are used. There is no terminal, so nothing
//! may ask.

use std::time::Duration;

use super::{GitError, Repo};
use crate::process::{Command, Failure};

const DEADLINE: Duration = Duration::from_secs(120);

/// A pull request to be opened.
#[derive(Debug)]
pub(crate) struct PullRequest<'a> {
    pub branch: &'a str,
    pub base: &'a str,
    pub title: &'a str,
    pub body: &'a str,
    pub draft: bool,
    /// Title and body from the commits.
    pub fill: bool,
}

/// What became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Opened {
    /// What the forge's program has printed: its address.
    At(String),
    /// No such program is installed; the page on which it can be opened, where that is known.
    ByHand(Option<String>),
}

impl Repo {
    /// Opens a pull request for a branch that was pushed to this remote.
    pub(crate) fn open_pull_request(
        &self,
        remote: &str,
        request: &PullRequest<'_>,
    ) -> Result<Opened, GitError> {
        let url = self
            .git()
            .args(["remote", "get-url", "--", remote])
            .text()?;
        let page = page(&url, request);
        let command = if is_gitlab(&url) {
            glab(request)
        } else {
            gh(request)
        };
        let command = command
            .directory(self.root())
            .env("GH_PROMPT_DISABLED", "1")
            .env("NO_PROMPT", "1")
            .env("NO_COLOR", "1")
            .deadline(DEADLINE);
        match command.text() {
            Ok(said) => Ok(Opened::At(
                said.lines().last().unwrap_or_default().to_owned(),
            )),
            Err(Failure::NotFound { .. }) => Ok(Opened::ByHand(page)),
            Err(failure) => Err(GitError::Call(failure)),
        }
    }
}

fn gh(request: &PullRequest<'_>) -> Command {
    let command = Command::new("gh")
        .args(["pr", "create", "--head", request.branch])
        .args(["--base", request.base]);
    let command = if request.fill {
        command.arg("--fill")
    } else {
        command.args(["--title", request.title, "--body", request.body])
    };
    with_draft(command, request)
}

fn glab(request: &PullRequest<'_>) -> Command {
    let command = Command::new("glab")
        .args(["mr", "create", "--yes", "--source-branch", request.branch])
        .args(["--target-branch", request.base]);
    let command = if request.fill {
        command.arg("--fill")
    } else {
        command.args(["--title", request.title, "--description", request.body])
    };
    with_draft(command, request)
}

fn with_draft(command: Command, request: &PullRequest<'_>) -> Command {
    if request.draft {
        command.arg("--draft")
    } else {
        command
    }
}

fn is_gitlab(url: &str) -> bool {
    host_and_path(url).is_some_and(|(host, _)| host.contains("gitlab"))
}

/// The page on which a pull request can be opened, for the forges whose addresses are known.
fn page(url: &str, request: &PullRequest<'_>) -> Option<String> {
    let (host, path) = host_and_path(url)?;
    let (base, branch) = (encoded(request.base), encoded(request.branch));
    if host.contains("gitlab") {
        return Some(format!(
            "https://{host}/{path}/-/merge_requests/new?merge_request%5Bsource_branch%5D={branch}\
             &merge_request%5Btarget_branch%5D={base}"
        ));
    }
    host.contains("github")
        .then(|| format!("https://{host}/{path}/compare/{base}...{branch}?expand=1"))
}

/// `git@host:owner/name.git`, `ssh://git@host:22/owner/name` and `https://host/owner/name.git`.
fn host_and_path(url: &str) -> Option<(&str, &str)> {
    let (authority, path) = match url.split_once("://") {
        Some((_, rest)) => rest.split_once('/')?,
        None => url.split_once(':')?,
    };
    let host = authority.rsplit('@').next()?;
    let host = host.split(':').next()?;
    let path = path.trim_matches('/');
    let path = path.strip_suffix(".git").unwrap_or(path);
    (!host.is_empty() && !path.is_empty()).then_some((host, path))
}

/// Everything that means something in an address, as `%XX`.
fn encoded(text: &str) -> String {
    text.bytes()
        .map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'/' => {
                char::from(byte).to_string()
            }
            _ => format!("%{byte:02X}"),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const REQUEST: PullRequest<'static> = PullRequest {
        branch: "biv/a b",
        base: "main",
        title: "",
        body: "",
        draft: false,
        fill: false,
    };

    #[test]
    fn each_kind_of_address_leads_to_a_page() {
        let github = "https://github.com/o/r/compare/main...biv/a%20b?expand=1";
        for url in [
            "git@github.com:o/r.git",
            "ssh://git@github.com:22/o/r.git",
            "https://github.com/o/r",
            "https://token@github.com/o/r.git/",
        ] {
            assert_eq!(page(url, &REQUEST).as_deref(), Some(github), "{url}");
        }
        let gitlab = page("git@gitlab.example.org:g/s/r.git", &REQUEST).unwrap();
        assert!(
            gitlab.starts_with("https://gitlab.example.org/g/s/r/-/merge_requests/new?"),
            "{gitlab}"
        );
        for url in ["/srv/git/r.git", "https://example.org/o/r.git", "", "x:"] {
            assert_eq!(page(url, &REQUEST), None, "{url}");
        }
    }
}
