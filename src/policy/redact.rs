//! Removes secrets from text that is stored.

use std::sync::OnceLock;

use regex::Regex;

const PATTERNS: [&str; 8] = [
    r"\b(gh[pousr]_|github_pat_|glpat-|sk-|xox[abeprs]-|AKIA|ASIA|AIza|npm_|pypi-|hf_|dop_v1_)[A-Za-z0-9_\-]{8,}",
    r"\beyJ[A-Za-z0-9_\-]{8,}\.[A-Za-z0-9_\-]+(\.[A-Za-z0-9_\-]+)?",
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(-----END [A-Z ]*PRIVATE KEY-----|$)",
    r"(?i)\b(authorization\s*:\s*(bearer|basic|token)\s+)[^\s'\x22]+",
    r"(?i)\b([a-z0-9_]*(token|secret|passw(or)?d|api_?key|private_?key|credentials?)[a-z0-9_]*\s*[=:]\s*)[^\s'\x22;&|]+",
    r"(?i)(--?(password|token|secret|api-?key)[= ]+)[^\s'\x22;&|]+",
    r"(://[^/\s:@]*:)[^@/\s]+",
    r"\b[A-Fa-f0-9]{40,}\b",
];

/// The text without anything that looks like a secret.
pub(crate) fn redacted(text: &str) -> String {
    static COMPILED: OnceLock<Vec<Regex>> = OnceLock::new();
    let compiled = COMPILED.get_or_init(|| {
        let patterns = PATTERNS.iter();
        patterns
            .filter_map(|pattern| Regex::new(pattern).ok())
            .collect()
    });
    compiled.iter().fold(text.to_owned(), |text, pattern| {
        pattern
            .replace_all(&text, |found: &regex::Captures<'_>| {
                let whole = found.get(0).map_or("", |whole| whole.as_str());
                let kept = found.get(1).map_or("", |kept| kept.as_str());
                // A prefix that names the secret stays; the first characters of the secret itself do not.
                if kept.ends_with(['=', ':', ' ']) && whole.starts_with(kept) {
                    format!("{kept}[redacted]")
                } else {
                    "[redacted]".to_owned()
                }
            })
            .into_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_go_and_commands_stay() {
        assert_eq!(
            PATTERNS.len(),
            PATTERNS.iter().filter(|p| Regex::new(p).is_ok()).count()
        );
        for (text, expected) in [
            ("cargo test --workspace", "cargo test --workspace"),
            (
                "git commit -m 'fix: the token is gone'",
                "git commit -m 'fix: the token is gone'",
            ),
            (
                "curl -H 'Authorization: Bearer abc.def'",
                "curl -H 'Authorization: Bearer [redacted]'",
            ),
            (
                "GITHUB_TOKEN=ghp_abcdefghijklmnop gh",
                "GITHUB_TOKEN=[redacted] gh",
            ),
            ("x ghp_abcdefghijklmnopqrst y", "x [redacted] y"),
            (
                "git push https://me:hunter2@host/x",
                "git push https://me:[redacted]@host/x",
            ),
            (
                "login --password hunter2 now",
                "login --password [redacted] now",
            ),
            ("sk-ant-REDACTED", "[redacted]"),
        ] {
            assert_eq!(redacted(text), expected, "{text}");
        }
    }
}
