//! Targets whose names say that something leaves the machine: releases, deployments, uploads.

use super::file::Policy;

impl Policy {
    /// Whether a word names such a target, alone or as a part: `deploy:prod`, `dockerPush`, `gh-release`.
    pub(super) fn leads_outward(&self, word: &str) -> bool {
        parts(word).iter().any(|part| {
            self.outward
                .iter()
                .any(|name| part == name || (name.len() > 4 && part.starts_with(name.as_str())))
        })
    }
}

/// The words of a name: split where it is not a letter or digit, and before capital letters.
fn parts(word: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut before = ' ';
    for letter in word.chars() {
        let starts = letter.is_uppercase() && !before.is_uppercase();
        if !letter.is_alphanumeric() || starts {
            parts.push(String::new());
        }
        if letter.is_alphanumeric() {
            let lower = letter.to_lowercase();
            if let Some(part) = parts.last_mut() {
                part.extend(lower);
            }
        }
        before = letter;
    }
    parts.retain(|part| !part.is_empty());
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_recognised_in_every_spelling() {
        let policy = Policy {
            outward: vec!["deploy".into(), "push".into()],
            ..Policy::default()
        };
        for word in [
            "deploy",
            "deploy:prod",
            "prodDeploy",
            "docker-push",
            ":app:deployAll",
            "DEPLOY",
        ] {
            assert!(policy.leads_outward(word), "{word}");
        }
        for word in ["test", "redeployment", "pushpin", "build"] {
            assert!(!policy.leads_outward(word), "{word}");
        }
    }
}
