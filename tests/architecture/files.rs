//! Which file knows which: by its imports, and inside the engine by the methods that it calls.
//!
//! `impl Core` and `impl Work` are spread over the files of the engine, so that an import says little
//! there. A call counts where its receiver is known by name: `self` inside such a block, `core`, or
//! `self.core`.

use std::collections::{BTreeMap, BTreeSet};

use crate::{Source, root, sources};

type Module = Vec<String>;

/// The rooms of the engine, each of which may know those before it.
const ENGINE: &[&str] = &[
    "base",
    "watch",
    "conversation",
    "typing",
    "autoyes",
    "operate",
    "talk",
    "health",
    "hosts",
];

/// Types of the engine whose methods are in many files, and the names that a value of one has.
const SPREAD: &[(&str, &[&str])] = &[("Core", &["core", "self.core"]), ("Work", &["work"])];

#[test]
fn files_know_each_other_in_one_direction_only() {
    let graph = Graph::new();
    let circles = graph.circles();
    assert!(circles.is_empty(), "\n{}\n", circles.join("\n"));
}

#[test]
fn the_rooms_of_the_engine_know_only_those_below() {
    let graph = Graph::new();
    let rank = |module: &Module| {
        let room = (module.len() > 2 && module[0] == "engine").then(|| module[1].as_str())?;
        ENGINE.iter().position(|name| *name == room)
    };
    let mut wrong = Vec::new();
    for (from, targets) in &graph.edges {
        for to in targets {
            if let (Some(above), Some(below)) = (rank(from), rank(to))
                && below > above
            {
                wrong.push(format!("{} knows {}", from.join("::"), to.join("::")));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}

/// What a face asks for is done in a room, and can be found there by its name.
#[test]
fn the_facade_only_passes_on() {
    let facade = |source: &Source| source.name().starts_with("src/engine/facade/");
    let code: Vec<String> = sources()
        .into_iter()
        .filter(facade)
        .map(|source| source.code)
        .collect();
    let methods: Vec<&str> = code
        .iter()
        .flat_map(|code| code.split("\n    pub(crate) fn ").skip(1))
        .collect();
    assert!(methods.len() > 80, "{}", methods.len());
    let mut wrong = Vec::new();
    for body in methods {
        let name = body.split(['(', '<']).next().unwrap_or_default();
        let code = body.split("{\n").skip(1).collect::<Vec<_>>().join("{\n");
        let code = code.split("\n    }\n").next().unwrap_or_default();
        if code.matches(';').count() > 1 || !code.contains("core") && !code.contains("Core") {
            wrong.push(name.to_owned());
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}

struct Graph {
    edges: BTreeMap<Module, BTreeSet<Module>>,
}

impl Graph {
    fn new() -> Self {
        let files: BTreeMap<Module, Source> = sources()
            .into_iter()
            .filter(|source| source.room().is_some() && !source.code.is_empty())
            .map(|source| (module_of(&source), source))
            .collect();
        let reexports: BTreeMap<&Module, BTreeMap<String, Module>> = files
            .iter()
            .map(|(module, source)| (module, reexports(module, &source.code)))
            .collect();
        let owner = |path: Module| owner(&files, &reexports, path);
        let mut edges: BTreeMap<Module, BTreeSet<Module>> = BTreeMap::new();
        for (module, source) in &files {
            let targets = edges.entry(module.clone()).or_default();
            let code = without_reexports(&source.code);
            targets.extend(paths(module, &code).into_iter().filter_map(owner));
        }
        for (kind, names) in SPREAD {
            let methods = methods(&files, kind);
            for (module, source) in &files {
                if module[0] != "engine" || module.get(1).is_some_and(|name| name == "facade") {
                    continue;
                }
                for called in called(&source.code, kind, names) {
                    if let Some(Some(target)) = methods.get(&called) {
                        edges
                            .entry(module.clone())
                            .or_default()
                            .insert(target.clone());
                    }
                }
            }
        }
        for (module, targets) in &mut edges {
            targets.remove(module);
            // A folder is known by what it re-exports; its own file declares its parts.
            targets.retain(|target| !module.starts_with(target));
        }
        Self { edges }
    }

    /// Each circle once, as the files that reach each other.
    fn circles(&self) -> Vec<String> {
        let reach: BTreeMap<&Module, BTreeSet<&Module>> = self
            .edges
            .keys()
            .map(|module| (module, self.reached(module)))
            .collect();
        let mut circles: BTreeSet<Vec<String>> = BTreeSet::new();
        for (module, reached) in &reach {
            if !reached.contains(module) {
                continue;
            }
            let together = reached
                .iter()
                .filter(|other| reach.get(*other).is_some_and(|back| back.contains(module)))
                .map(|other| other.join("::"))
                .collect();
            circles.insert(together);
        }
        circles
            .into_iter()
            .map(|circle| circle.join(" ⇄ "))
            .collect()
    }

    fn reached(&self, from: &Module) -> BTreeSet<&Module> {
        let mut reached = BTreeSet::new();
        let mut open = vec![from];
        while let Some(module) = open.pop() {
            for target in self.edges.get(module).into_iter().flatten() {
                if reached.insert(target) {
                    open.push(target);
                }
            }
        }
        reached
    }
}

/// `src/a/b.rs` → a::b, `src/a/mod.rs` → a
fn module_of(source: &Source) -> Module {
    let path = source.path.strip_prefix(root().join("src")).unwrap();
    let path = path.with_extension("");
    let mut module: Module = path
        .components()
        .map(|part| part.as_os_str().to_string_lossy().into_owned())
        .collect();
    if module.last().is_some_and(|last| last == "mod") {
        module.pop();
    }
    module
}

/// The file that a path leads to, through whatever re-exports it.
fn owner(
    files: &BTreeMap<Module, Source>,
    reexports: &BTreeMap<&Module, BTreeMap<String, Module>>,
    path: Module,
) -> Option<Module> {
    let length = (1..=path.len())
        .rev()
        .find(|n| files.contains_key(&path[..*n]))?;
    let (module, rest) = path.split_at(length);
    let onward = rest
        .first()
        .and_then(|name| reexports[&module.to_vec()].get(name));
    match onward {
        Some(target) if *target != path => owner(files, reexports, target.clone()),
        _ => Some(module.to_vec()),
    }
}

fn reexports(module: &Module, code: &str) -> BTreeMap<String, Module> {
    statements(code)
        .into_iter()
        .filter(|(is_public, _)| *is_public)
        .flat_map(|(_, tree)| expanded(&tree))
        .filter_map(|path| {
            let (path, name) = match path.split_once(" as ") {
                Some((path, name)) => (path.to_owned(), name.to_owned()),
                None => (path.clone(), path.rsplit("::").next()?.to_owned()),
            };
            let below = || {
                module
                    .iter()
                    .cloned()
                    .chain(path.split("::").map(str::to_owned))
            };
            let target = absolute(module, &path).unwrap_or_else(|| below().collect());
            Some((name, target))
        })
        .collect()
}

/// Every path in the code that begins at the crate, here or above.
fn paths(module: &Module, code: &str) -> Vec<Module> {
    let mut found = Vec::new();
    for (_, tree) in statements(code) {
        for path in expanded(&tree) {
            let path = path.split(" as ").next().unwrap_or_default().to_owned();
            let below = || {
                let mut below = module.clone();
                below.extend(path.split("::").map(str::to_owned));
                below
            };
            found.push(absolute(module, &path).unwrap_or_else(below));
        }
    }
    for start in ["crate::", "super::"] {
        for (at, _) in code.match_indices(start) {
            let before = code[..at].chars().next_back();
            if before.is_some_and(|letter| letter.is_alphanumeric() || "_:".contains(letter)) {
                continue;
            }
            let path: String = code[at..]
                .chars()
                .take_while(|letter| letter.is_alphanumeric() || "_:".contains(*letter))
                .collect();
            let path = absolute(module, path.trim_end_matches(':'));
            found.extend(path.filter(|path| !path.is_empty()));
        }
    }
    found
}

fn absolute(module: &Module, path: &str) -> Option<Module> {
    let mut words: Vec<&str> = path.split("::").collect();
    if words.last() == Some(&"self") {
        words.pop();
    }
    let mut base = match *words.first()? {
        "crate" => Vec::new(),
        "self" => module.clone(),
        "super" => module[..module.len() - 1].to_vec(),
        _ => return None,
    };
    for word in words.drain(1..) {
        if word == "super" {
            base.pop();
        } else {
            base.push(word.to_owned());
        }
    }
    Some(base)
}

/// The `use` statements: whether each re-exports, and its tree without spaces.
fn statements(code: &str) -> Vec<(bool, String)> {
    let mut found = Vec::new();
    for statement in code.split(';') {
        let line = statement.rsplit(['}', '{']).next().unwrap_or_default();
        // A tree has braces itself: then the statement begins further up.
        let text = match statement.find("use ") {
            Some(at) if !line.contains("use ") => &statement[at..],
            _ => line,
        };
        let Some(at) = text.find("use ") else {
            continue;
        };
        let before = statement[..statement.len() - text.len() + at].trim_end();
        let is_word = text[..at]
            .chars()
            .next_back()
            .is_none_or(char::is_whitespace);
        let tree: String = text[at + 4..]
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ");
        let plain = tree.chars().all(|letter| {
            letter.is_alphanumeric() || letter.is_whitespace() || "_:{},*".contains(letter)
        });
        if is_word && plain {
            let is_public = before.ends_with(')') || before.ends_with("pub");
            found.push((is_public, tree));
        }
    }
    found
}

fn without_reexports(code: &str) -> String {
    code.split_inclusive(';')
        .filter(|statement| {
            let start = statement.trim_start();
            !(start.starts_with("pub(") && start.contains(") use "))
        })
        .collect()
}

/// `a::{b, c::{d, e}}` → a::b, a::c::d, a::c::e
fn expanded(tree: &str) -> Vec<String> {
    let Some((before, inside)) = tree.split_once('{') else {
        return vec![tree.trim().to_owned()];
    };
    let inside = inside.rsplit_once('}').map_or(inside, |(inside, _)| inside);
    let (mut depth, mut item) = (0, String::new());
    let mut items = Vec::new();
    for letter in inside.chars() {
        match letter {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                items.push(std::mem::take(&mut item));
                continue;
            }
            _ => {}
        }
        item.push(letter);
    }
    items.push(item);
    items
        .iter()
        .map(|item| item.trim())
        .filter(|item| !item.is_empty())
        .flat_map(|item| expanded(&format!("{}{item}", before.trim())))
        .collect()
}

/// The methods of a type, by name: the file that has one, or None where several do.
fn methods(files: &BTreeMap<Module, Source>, kind: &str) -> BTreeMap<String, Option<Module>> {
    let mut methods: BTreeMap<String, Option<Module>> = BTreeMap::new();
    for (module, source) in files {
        for block in blocks(&source.code, kind) {
            for part in block.split("fn ").skip(1) {
                let name: String = part
                    .chars()
                    .take_while(|letter| letter.is_alphanumeric() || *letter == '_')
                    .collect();
                methods
                    .entry(name)
                    .and_modify(|owner| {
                        if owner.as_ref() != Some(module) {
                            *owner = None;
                        }
                    })
                    .or_insert_with(|| Some(module.clone()));
            }
        }
    }
    methods
}

/// The bodies of `impl Kind { … }`.
fn blocks<'a>(code: &'a str, kind: &str) -> Vec<&'a str> {
    let starts = [
        format!("\nimpl {kind} {{"),
        format!("\nimpl {kind}<'_> {{"),
        format!("\nimpl<'a> {kind}<'a> {{"),
        format!("\nimpl World for {kind}<'_> {{"),
    ];
    let mut blocks = Vec::new();
    for start in starts {
        for (at, _) in code.match_indices(&start) {
            let rest = &code[at + start.len()..];
            blocks.push(rest.split("\n}").next().unwrap_or(rest));
        }
    }
    blocks
}

/// The names of the methods that are called on a value of this type.
fn called(code: &str, kind: &str, names: &[&str]) -> BTreeSet<String> {
    let dense = |text: &str| -> String {
        // Calls are often broken before the dot.
        text.lines()
            .map(str::trim)
            .collect::<Vec<_>>()
            .join(" ")
            .replace(" .", ".")
    };
    let mut found = BTreeSet::new();
    let mut add = |text: &str, receiver: &str| {
        for (at, _) in text.match_indices(&format!("{receiver}.")) {
            let before = text[..at].chars().next_back();
            if before.is_some_and(|letter| letter.is_alphanumeric() || "_.".contains(letter)) {
                continue;
            }
            let rest = &text[at + receiver.len() + 1..];
            let name: String = rest
                .chars()
                .take_while(|letter| letter.is_alphanumeric() || *letter == '_')
                .collect();
            if rest[name.len()..].starts_with('(') {
                found.insert(name);
            }
        }
    };
    for block in blocks(code, kind) {
        add(&dense(block), "self");
    }
    for name in names {
        add(&dense(code), name);
    }
    found
}

#[test]
fn paths_are_found_however_they_are_written() {
    let module: Module = ["engine", "talk", "send"].map(str::to_owned).to_vec();
    let found = |code: &str| -> BTreeSet<String> {
        let found = paths(&module, code).into_iter();
        found.map(|path| path.join("::")).collect()
    };
    let set = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    assert_eq!(
        found("use super::queue::{self, Fed};"),
        set(&["engine::talk::queue", "engine::talk::queue::Fed"])
    );
    assert_eq!(
        found("let x = crate::git::Repo::new();"),
        set(&["git::Repo::new"])
    );
    assert_eq!(
        found("use crate::{git::{a, b}, store as s};"),
        set(&["git::a", "git::b", "store"])
    );
    let code = "\nimpl Core {\n    fn a(&self) {\n        self.b();\n        core\n            .c();\n        other.d();\n    }\n}\n";
    assert_eq!(called(code, "Core", &["core"]), set(&["b", "c"]));
}
