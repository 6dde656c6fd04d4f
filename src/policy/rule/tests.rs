use super::*;

fn rule(text: &str) -> Rule {
    toml::from_str(text).unwrap()
}

fn allows(rule: &Rule, command: &str) -> bool {
    let words: Vec<&str> = command.split(' ').collect();
    rule.allows(&words).is_some()
}

#[test]
fn a_rule_that_accepts_is_strict() {
    let commit = rule(
        "program = ['git']\nsub = ['commit']\nlead = ['--no-pager', '-C=']\nonly_flag = ['-m', '-a']\nvalues = ['-m']",
    );
    for good in [
        "git commit -m x",
        "git commit -am x",
        "git -C d --no-pager commit -m x",
    ] {
        assert!(allows(&commit, good), "{good}");
    }
    for bad in [
        "git commit --amend",
        "git -c a=b commit",
        "/bin/git commit",
        "git",
        "git push",
        "git commit -nm x",
    ] {
        assert!(!allows(&commit, bad), "{bad}");
    }
    let timeout = rule("program = ['timeout']\ncarries = 1\nonly_arg = ['^\\d+$']");
    assert_eq!(
        timeout
            .allows(&["timeout", "5", "ls", "-l"])
            .unwrap()
            .carried
            .unwrap(),
        ["ls", "-l"]
    );
    for bad in ["timeout ls", "timeout 5", "timeout -k 5 ls"] {
        assert!(!allows(&timeout, bad), "{bad}");
    }
}

#[test]
fn a_rule_that_rejects_is_generous() {
    let push = rule("program = ['git']\nsub = ['push']\nany_flag = ['-f', '--force']");
    let hits = |command: &str| {
        push.hits(&Command {
            words: command.split(' ').collect(),
            ..Command::default()
        })
    };
    for bad in [
        "git push -f",
        "/usr/bin/GIT -c x=y push -uf o m",
        "git -C d push o --forc",
    ] {
        assert!(hits(bad), "{bad}");
    }
    assert!(!hits("git push o m") && !hits("git log -f") && !hits("hg push -f"));
}
