//! The tree objects that name a set of files, from the leaves to the root.

/// A file and where it hangs.
#[derive(Debug, Clone)]
pub(super) struct Leaf<'a> {
    /// As git records it.
    pub mode: u32,
    pub path: &'a [u8],
    pub id: Vec<u8>,
}

const DIRECTORY: u32 = 0o40_000;

/// Stores every tree by `store`, which gives its id; gives that of the root.
pub(super) fn tree_of(
    mut leaves: Vec<Leaf<'_>>,
    store: &mut dyn FnMut(&[u8]) -> Vec<u8>,
) -> Vec<u8> {
    leaves.sort_unstable_by(|one, other| one.path.cmp(other.path));
    branch(&leaves, 0, store)
}

/// The tree of leaves that share their first `depth` bytes.
fn branch(leaves: &[Leaf<'_>], depth: usize, store: &mut dyn FnMut(&[u8]) -> Vec<u8>) -> Vec<u8> {
    let mut entries: Vec<(Vec<u8>, u32, Vec<u8>)> = Vec::new();
    let mut rest = leaves;
    while let [first, ..] = rest {
        let name = component(first.path, depth);
        let end = depth + name.len();
        if end == first.path.len() {
            entries.push((name.to_vec(), first.mode, first.id.clone()));
            rest = &rest[1..];
            continue;
        }
        // Neighbours in sorted order: all below this directory begin with its name and a slash.
        let below = &first.path[..=end];
        let count = rest.partition_point(|leaf| leaf.path.starts_with(below));
        let id = branch(&rest[..count], end + 1, store);
        entries.push((name.to_vec(), DIRECTORY, id));
        rest = &rest[count..];
    }
    // Git sorts a directory as if its name ended with a slash.
    entries.sort_by_cached_key(|(name, mode, _)| {
        let mut key = name.clone();
        if *mode == DIRECTORY {
            key.push(b'/');
        }
        key
    });
    let mut content = Vec::new();
    for (name, mode, id) in &entries {
        content.extend_from_slice(format!("{mode:o} ").as_bytes());
        content.extend_from_slice(name);
        content.push(0);
        content.extend_from_slice(id);
    }
    store(&content)
}

fn component(path: &[u8], from: usize) -> &[u8] {
    let rest = &path[from..];
    let end = rest.iter().position(|byte| *byte == b'/');
    &rest[..end.unwrap_or(rest.len())]
}

/// The bytes of an id that is written in hexadecimal.
pub(super) fn unhex(text: &str) -> Vec<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16).unwrap_or(0) as u8;
    text.as_bytes()
        .chunks_exact(2)
        .map(|pair| digit(pair[0]) << 4 | digit(pair[1]))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::call::git;

    /// Names whose order differs between paths and trees, against the trees that git makes.
    #[test]
    fn trees_are_those_that_git_makes() {
        let home = tempfile::tempdir().unwrap();
        let run = |args: &[&str]| {
            let output = git().directory(home.path()).args(args).output().unwrap();
            assert!(output.success(), "{args:?}: {}", output.stderr_text());
            output.stdout_text()
        };
        run(&["init", "-q"]);
        let paths = [
            "a", "a.c", "a-b/x", "a0", "ab/c/d/e", "ab/c.d", "ab/c0", "b/a", "b.a", "b/é", "z y/q",
        ];
        let mut leaves = Vec::new();
        for path in paths {
            let file = home.path().join(path);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(&file, path).unwrap();
            leaves.push(Leaf {
                mode: 0o100_644,
                path: path.as_bytes(),
                id: unhex(&run(&["hash-object", "-w", path])),
            });
        }
        run(&["add", "."]);
        let wanted = run(&["write-tree"]);
        let mut made = Vec::new();
        let mut store = |content: &[u8]| {
            let mut object = format!("tree {}\0", content.len()).into_bytes();
            object.extend_from_slice(content);
            let id = crate::vault::digest::checksum(&object, 20);
            made.push(id.clone());
            id
        };
        leaves.reverse();
        let root = tree_of(leaves, &mut store);
        assert_eq!(crate::git::index::hex(&root), wanted);
        assert_eq!(made.len(), 7);
    }
}
