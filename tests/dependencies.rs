//! What may come into the build: licences, sources and crates, as data. `scripts/test` fetches the
//! crates of every platform first; this looks at what cargo knows of them.
#![cfg(test)]

use std::process::Command;

use serde_json::Value;

/// Permissive licences only. One that is not here is read before it is added.
const LICENCES: [&str; 4] = ["Apache-2.0", "MIT", "Unicode-3.0", "Zlib"];

/// Crates that stay out, and why.
const BANNED: [(&str, &str); 4] = [
    (
        "git2",
        "one git code path, the git program: libgit2 reads neither reftable nor sha256 repositories",
    ),
    ("openssl-sys", "nothing here speaks to anyone"),
    ("reqwest", "nothing here speaks to anyone"),
    (
        "tokio",
        "threads and poll are enough: ARCHITECTURE.md says why",
    ),
];

const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

fn packages() -> Vec<Value> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--locked", "--offline", "--format-version", "1"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo can be run");
    assert!(
        output.status.success(),
        "`cargo fetch --locked` first: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    metadata["packages"].as_array().unwrap().clone()
}

#[test]
fn every_dependency_may_be_used() {
    let mut wrong = Vec::new();
    let packages = packages();
    assert!(packages.len() > 50, "these are not all");
    for package in &packages {
        let name = package["name"].as_str().unwrap();
        let own = package["source"].is_null();
        assert!(!own || name == "bivouac", "{name} is of this machine alone");
        if !own && package["source"] != REGISTRY {
            wrong.push(format!("{name} comes from {}", package["source"]));
        }
        let licence = package["license"].as_str().unwrap_or("");
        if !allowed(licence) {
            wrong.push(format!("{name} has the licence {licence:?}"));
        }
        if let Some((_, reason)) = BANNED.iter().find(|(banned, _)| *banned == name) {
            wrong.push(format!("{name} is banned: {reason}"));
        }
        if own {
            for dependency in package["dependencies"].as_array().unwrap() {
                if dependency["req"] == "*" {
                    wrong.push(format!("{} may be any version", dependency["name"]));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// Whether an SPDX expression can be met with the licences above.
fn allowed(expression: &str) -> bool {
    let spaced = expression
        .replace('(', " ( ")
        .replace(')', " ) ")
        // As older crates write "or".
        .replace('/', " OR ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut rest = &words[..];
    either(&mut rest) && rest.is_empty()
}

fn either(rest: &mut &[&str]) -> bool {
    let mut met = all(rest);
    while let ["OR", tail @ ..] = rest {
        *rest = tail;
        met |= all(rest);
    }
    met
}

fn all(rest: &mut &[&str]) -> bool {
    let mut met = one(rest);
    while let ["AND", tail @ ..] = rest {
        *rest = tail;
        met &= one(rest);
    }
    met
}

fn one(rest: &mut &[&str]) -> bool {
    match rest {
        ["(", tail @ ..] => {
            *rest = tail;
            let met = either(rest);
            match rest {
                [")", tail @ ..] => {
                    *rest = tail;
                    met
                }
                _ => false,
            }
        }
        // An exception permits more than its licence; it is not counted on.
        [licence, "WITH", _, tail @ ..] | [licence, tail @ ..] => {
            let met = LICENCES.contains(licence);
            *rest = tail;
            met
        }
        [] => false,
    }
}

#[test]
fn expressions_are_understood() {
    for (expression, expected) in [
        ("MIT", true),
        ("MIT OR Apache-2.0", true),
        ("GPL-3.0", false),
        ("GPL-3.0 OR MIT", true),
        ("MIT AND GPL-3.0", false),
        ("(MIT OR GPL-2.0) AND Unicode-3.0", true),
        ("(MIT OR Apache-2.0) AND GPL-2.0", false),
        ("MIT/Apache-2.0", true),
        ("Apache-2.0 WITH LLVM-exception OR GPL-2.0", true),
        ("(MIT", false),
        ("", false),
    ] {
        assert_eq!(allowed(expression), expected, "{expression}");
    }
}
