//! Pull requests, opened and looked at by the forge's own program (`gh`, `glab`), or a page where the user
//! can open one.
//!
//! As with a push, the user's own settings and credentials are used. There is no terminal, so nothing
//! may ask.

mod github;
mod gitlab;
mod news;

use std::path::Path;
use std::time::Duration;

use super::{GitError, Repo};
use crate::process::{Command, Failure};

pub(crate) use news::{ForgeAnswer, News, NewsKind};

const DEADLINE: Duration = Duration::from_secs(120);
/// How long an answer about a pull request may take. A user may wait for it.
const QUESTION_DEADLINE: Duration = Duration::from_secs(20);

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
    /// At this address.
    At(String),
    /// There was one for this branch already.
    Already(String),
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
        let (program, command) = if is_gitlab(&url) {
            let filled = match request.fill {
                true => self.described_by_commits(remote, request)?,
                false => None,
            };
            let (title, body) = match &filled {
                Some((title, body)) => (title.as_str(), body.as_str()),
                None => (request.title, request.body),
            };
            ("glab", glab(request, title, body))
        } else {
            ("gh", gh(request))
        };
        let command = unattended(command, self.root()).deadline(DEADLINE);
        match command.text() {
            Ok(said) => Ok(Opened::At(
                said.lines().last().unwrap_or_default().to_owned(),
            )),
            Err(Failure::NotFound { .. }) => Ok(Opened::ByHand(page)),
            Err(failure) => match already_there(&failure, &url) {
                Some(url) => Ok(Opened::Already(url)),
                None => Err(GitError::Forge {
                    program,
                    source: failure,
                }),
            },
        }
    }
}

impl Repo {
    /// Title and text from the commits that the base does not have: the message of a single one, else the first
    /// subject and a list of all. None where there are none.
    fn described_by_commits(
        &self,
        remote: &str,
        request: &PullRequest<'_>,
    ) -> Result<Option<(String, String)>, GitError> {
        let mut log = self
            .git()
            .args(["log", "--reverse", "--no-merges", "--format=%s%x00%b%x00"])
            .arg(format!("refs/heads/{}", request.branch));
        for place in ["heads".to_owned(), format!("remotes/{remote}")] {
            let base = format!("refs/{place}/{}", request.base);
            let known = self.git().args(["rev-parse", "--verify", "--quiet", &base]);
            if known.output()?.success() {
                log = log.arg(format!("^{base}"));
            }
        }
        let said = log.text()?;
        let mut parts = said.split('\0').map(str::trim);
        let mut commits = Vec::new();
        while let (Some(subject), Some(body)) = (parts.next(), parts.next()) {
            commits.push((subject, body));
        }
        Ok(match commits.as_slice() {
            [] => None,
            [(subject, body)] => Some(((*subject).to_owned(), (*body).to_owned())),
            [(first, _), ..] => {
                let list: Vec<String> = commits.iter().map(|(one, _)| format!("- {one}")).collect();
                Some(((*first).to_owned(), list.join("\n")))
            }
        })
    }
}

/// Asks the forge about a pull request; None where it is gone.
pub(crate) fn ask_forge(directory: &Path, url: &str) -> Result<Option<ForgeAnswer>, GitError> {
    let Some(address) = Address::parse(url) else {
        return Err(GitError::Unexpected {
            call: "the address of a pull request".to_owned(),
            answer: url.to_owned(),
        });
    };
    let (program, command) = match address.forge {
        Forge::GitHub => {
            let (owner, name) = address.path.split_once('/').unwrap_or_default();
            let command = Command::new("gh")
                .args(["api", "graphql", "--hostname", address.host])
                .args(["-f", &format!("query={}", github::QUERY)])
                .args(["-f", &format!("owner={owner}")])
                .args(["-f", &format!("name={name}")])
                .args(["-F", &format!("number={}", address.number)]);
            ("gh", command)
        }
        Forge::GitLab => {
            let repository = format!("https://{}/{}", address.host, address.path);
            let command = Command::new("glab")
                .args(["mr", "view", &address.number.to_string()])
                .args(["--repo", &repository, "--output", "json"]);
            ("glab", command)
        }
    };
    let said = unattended(command, directory)
        .deadline(QUESTION_DEADLINE)
        .text()
        .map_err(|source| GitError::Forge { program, source })?;
    let read = match address.forge {
        Forge::GitHub => github::read(&said),
        Forge::GitLab => gitlab::read(&said).map(Some),
    };
    read.map_err(|error| GitError::Unexpected {
        call: program.to_owned(),
        answer: error.to_string(),
    })
}

/// The number of a pull request by its address.
pub(crate) fn pull_request_number(url: &str) -> Option<u64> {
    Address::parse(url).map(|address| address.number)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Forge {
    GitHub,
    GitLab,
}

/// The parts of the address of a pull request.
#[derive(Debug, PartialEq, Eq)]
struct Address<'a> {
    forge: Forge,
    host: &'a str,
    path: &'a str,
    number: u64,
}

impl<'a> Address<'a> {
    fn parse(url: &'a str) -> Option<Self> {
        let (host, rest) = url.strip_prefix("https://")?.split_once('/')?;
        let (forge, path, number) = match rest.split_once("/-/merge_requests/") {
            Some((path, number)) => (Forge::GitLab, path, number),
            None => {
                let (path, number) = rest.split_once("/pull/")?;
                // `owner/name`, and nothing that is an option.
                path.split_once('/')
                    .filter(|(_, name)| !name.contains('/'))?;
                (Forge::GitHub, path, number)
            }
        };
        let plain = |text: &str| !text.is_empty() && !text.starts_with('-');
        (plain(host) && plain(path)).then_some(Self {
            forge,
            host,
            path,
            number: number.parse().ok()?,
        })
    }
}

/// A call that asks nothing and prints no colours.
fn unattended(command: Command, directory: &Path) -> Command {
    command
        .directory(directory)
        .env("GH_PROMPT_DISABLED", "1")
        .env("GH_NO_UPDATE_NOTIFIER", "1")
        .env("NO_PROMPT", "1")
        .env("NO_COLOR", "1")
}

/// The address of what the program says that it `already exists`: `gh` prints it, `glab` prints its number.
fn already_there(failure: &Failure, remote: &str) -> Option<String> {
    let Failure::Status { message, .. } = failure else {
        return None;
    };
    existing(message, remote)
}

fn existing(message: &str, remote: &str) -> Option<String> {
    let (_, after) = message.split_once("already exists")?;
    let mut words = after.split_whitespace();
    if let Some(address) = words.clone().find(|word| Address::parse(word).is_some()) {
        return Some(address.to_owned());
    }
    let number = words.find_map(|word| {
        let digits = word.strip_prefix('!')?;
        let digits = digits.trim_end_matches(|c: char| !c.is_ascii_digit());
        digits.parse::<u64>().ok()
    })?;
    let (host, path) = host_and_path(remote)?;
    Some(format!("https://{host}/{path}/-/merge_requests/{number}"))
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

/// `glab --fill` pushes what is checked out in the main checkout onto the branch, so that is not used.
fn glab(request: &PullRequest<'_>, title: &str, body: &str) -> Command {
    let command = Command::new("glab")
        .args(["mr", "create", "--yes", "--source-branch", request.branch])
        .args(["--target-branch", request.base])
        .args(["--title", title, "--description", body]);
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
    fn the_address_of_a_pull_request_is_taken_apart() {
        let address =
            |url| Address::parse(url).map(|found| (found.forge, found.path, found.number));
        assert_eq!(
            address("https://github.com/o/r/pull/7"),
            Some((Forge::GitHub, "o/r", 7))
        );
        assert_eq!(
            address("https://gitlab.org/g/s/r/-/merge_requests/12"),
            Some((Forge::GitLab, "g/s/r", 12))
        );
        for url in [
            "http://github.com/o/r/pull/7",
            "https://github.com/o/r/pull/x",
            "https://github.com/o/r/issues/7",
            "https://github.com/a/b/c/pull/7",
            "https://-x/o/r/pull/7",
        ] {
            assert_eq!(address(url), None, "{url}");
        }
    }

    #[test]
    fn one_that_exists_is_found_by_its_address_or_its_number() {
        let gh = "a pull request for branch \"x\" into branch \"main\" already exists:\nhttps://github.com/o/r/pull/7";
        let remote = "git@github.com:o/r.git";
        assert_eq!(
            existing(gh, remote).as_deref(),
            Some("https://github.com/o/r/pull/7")
        );
        let glab = "409 {message: [Another open merge request already exists for this source branch: !12]}";
        let remote = "ssh://git@gitlab.example.org:22/g/s/r.git";
        let address = "https://gitlab.example.org/g/s/r/-/merge_requests/12";
        assert_eq!(existing(glab, remote).as_deref(), Some(address));
        assert_eq!(existing("401 Unauthorized", remote), None);
        assert_eq!(existing("it already exists: 12", remote), None);
    }

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
