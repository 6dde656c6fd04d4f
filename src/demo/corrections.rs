//! What the agent does when its work could not be landed: it merges and keeps both sides, or commits.

use super::action::Action;

const COMMIT: &str = "git add -A && git commit -q -m 'Commit my work'";

/// The actions for a request to merge, rebase or commit; None for any other prompt.
pub(super) fn correction(prompt: &str) -> Option<Vec<Action>> {
    let script = if prompt.starts_with("Commit your work.") {
        COMMIT.to_owned()
    } else {
        let branch = named_after(prompt, "`git merge ").or(named_after(prompt, "`git rebase "))?;
        let first = match prompt.starts_with("First commit ") {
            true => format!("{COMMIT}; "),
            false => String::new(),
        };
        first + &merge_script(branch)
    };
    Some(vec![
        Action::Think,
        Action::Run(script),
        Action::Say("Done: it is committed.".to_owned()),
    ])
}

/// The branch after these words. What could mean something to a shell is no branch here.
fn named_after<'a>(prompt: &'a str, words: &str) -> Option<&'a str> {
    let (_, rest) = prompt.split_once(words)?;
    let (branch, _) = rest.split_once('`')?;
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "/-_.".contains(letter);
    (branch.chars().all(plain) && !branch.starts_with('-') && !branch.is_empty()).then_some(branch)
}

/// Where both sides changed something, both are kept, one after the other.
fn merge_script(branch: &str) -> String {
    format!(
        "git merge -q --no-edit {branch} || {{ \
         git diff --name-only --diff-filter=U | while read -r file; do \
         sed -e '/^<<<<<<< /d' -e '/^=======$/d' -e '/^>>>>>>> /d' \"$file\" > .merged && \
         cat .merged > \"$file\" && rm .merged; done; \
         git add -A && git commit -q --no-edit; }}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_plain_branch_reaches_the_shell() {
        let ask = |branch: &str| correction(&format!("Merge it (`git merge {branch}`), please."));
        let actions = ask("feature/a-1").unwrap();
        let merges = |action: &Action| matches!(action, Action::Run(script) if script.starts_with("git merge -q --no-edit feature/a-1 "));
        assert!(actions.iter().any(merges), "{actions:?}");
        for branch in ["a;b", "$(id)", "-x", "", "a b"] {
            assert_eq!(ask(branch), None, "{branch}");
        }
        assert_eq!(correction("use git merge main"), None);
    }
}
