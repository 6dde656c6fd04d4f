//! Writes many small files and the trees that name them as one pack, without compression: git's
//! importer takes about 30 µs for each blob, most of it for setting up a compressor, and looks up
//! each name of a tree, which is most of what a pause with thousands of untracked files would cost.
//! Git checks and compresses such packs at its next `gc`.
//!
//! Only for many small files; everything else goes through git.

use std::collections::HashMap;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::digest::checksum;
use super::repository::Vault;
use super::stamp::Stamp;
use super::survey::Found;
use crate::git::call::bytes_to_path;
use crate::git::disk::open_file;
use crate::git::index::hex;
use crate::git::{GitError, Repo};

/// Fewer are not worth a pack of their own.
const FEWEST: usize = 64;
const LARGEST_FILE: u64 = 1 << 20;
/// The pack is put together in memory.
const LARGEST_PACK: u64 = 64 << 20;

/// A pack that is being put together.
#[derive(Debug, Default)]
pub(super) struct Pack {
    /// The ids of the files, by their position in the question.
    pub ids: HashMap<usize, String>,
    /// Files that were not what their stamp said.
    pub unsettled: Vec<PathBuf>,
    entries: Vec<Entry>,
    /// The bytes of an object id.
    hash: usize,
}

/// One object, encoded as in a pack.
#[derive(Debug)]
struct Entry {
    id: Vec<u8>,
    bytes: Vec<u8>,
}

/// The types of objects, by their numbers in a pack.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Tree = 2,
    Blob = 3,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Tree => "tree",
            Self::Blob => "blob",
        }
    }
}

/// Packs those of the files for which that is worth it.
pub(super) fn pack_files(
    repo: &Repo,
    dir: &Path,
    files: &[(usize, &Found)],
) -> Result<Pack, GitError> {
    let mut total = 0;
    let chosen: Vec<(usize, &Found)> = files
        .iter()
        .filter(|(_, found)| {
            let fits = found.stamp.is_file()
                && found.stamp.size <= LARGEST_FILE
                && total + found.stamp.size <= LARGEST_PACK;
            if fits {
                total += found.stamp.size;
            }
            fits
        })
        .copied()
        .collect();
    if chosen.len() < FEWEST {
        return Ok(Pack::default());
    }
    let hash = repo.id_length() / 2;
    let threads = std::thread::available_parallelism()
        .map_or(2, usize::from)
        .min(8);
    let prepared = std::thread::scope(|scope| {
        let workers: Vec<_> = chosen
            .chunks(chosen.len().div_ceil(threads))
            .map(|part| scope.spawn(move || prepare(dir, part, hash)))
            .collect();
        let finished = workers.into_iter().map(|worker| {
            worker.join().map_err(|_| GitError::Unexpected {
                call: "packing".to_owned(),
                answer: "a thread ended early".to_owned(),
            })
        });
        finished.collect::<Result<Vec<_>, GitError>>()
    })?;
    let mut pack = Pack {
        hash,
        ..Pack::default()
    };
    for (part, unsettled) in prepared {
        pack.unsettled.extend(unsettled);
        for (position, entry) in part {
            pack.ids.insert(position, hex(&entry.id));
            pack.entries.push(entry);
        }
    }
    Ok(pack)
}

impl Pack {
    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub(super) fn add_tree(&mut self, content: &[u8]) -> Vec<u8> {
        self.add(Kind::Tree, content)
    }

    /// Bytes that are no file, under the number of a question.
    pub(super) fn add_blob(&mut self, position: usize, content: &[u8]) {
        let id = self.add(Kind::Blob, content);
        self.ids.insert(position, hex(&id));
    }

    fn add(&mut self, kind: Kind, content: &[u8]) -> Vec<u8> {
        let mut object = format!("{} {}\0", kind.name(), content.len()).into_bytes();
        object.extend_from_slice(content);
        let id = checksum(&object, self.hash);
        self.entries.push(Entry {
            id: id.clone(),
            bytes: stored(kind, content),
        });
        id
    }

    /// Writes it where git finds it; gives the ids of the files.
    pub(super) fn write(self, vault: &Vault) -> Result<HashMap<usize, String>, GitError> {
        if !self.entries.is_empty() {
            write(vault, self.entries, self.hash)?;
        }
        Ok(self.ids)
    }
}

type Prepared = (Vec<(usize, Entry)>, Vec<PathBuf>);

fn prepare(dir: &Path, part: &[(usize, &Found)], hash: usize) -> Prepared {
    let mut entries = Vec::with_capacity(part.len());
    let mut unsettled = Vec::new();
    for (position, found) in part {
        let path = bytes_to_path(&found.path);
        match content(&dir.join(&path), &found.stamp) {
            Some((object, start)) => {
                let entry = Entry {
                    id: checksum(&object, hash),
                    bytes: stored(Kind::Blob, &object[start..]),
                };
                entries.push((*position, entry));
            }
            None => unsettled.push(path),
        }
    }
    (entries, unsettled)
}

/// The file as git hashes it, and where in that its content begins; None if it is being changed.
fn content(path: &Path, stamp: &Stamp) -> Option<(Vec<u8>, usize)> {
    let mut file = open_file(path)?;
    let same =
        |file: &std::fs::File| rustix::fs::fstat(file).is_ok_and(|stat| Stamp::of(&stat) == *stamp);
    if !same(&file) {
        return None;
    }
    let mut object = format!("blob {}\0", stamp.size).into_bytes();
    let start = object.len();
    file.read_to_end(&mut object).ok()?;
    let whole = (object.len() - start) as u64 == stamp.size;
    (whole && same(&file)).then_some((object, start))
}

/// An object of a pack: type and size, then a zlib stream of stored blocks.
fn stored(kind: Kind, content: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(content.len() + 32);
    let mut size = content.len();
    let mut byte = (kind as u8) << 4 | (size & 15) as u8;
    size >>= 4;
    while size > 0 {
        bytes.push(byte | 0x80);
        byte = (size & 0x7f) as u8;
        size >>= 7;
    }
    bytes.push(byte);
    bytes.extend_from_slice(&[0x78, 0x01]);
    let mut chunks = content.chunks(0xffff).peekable();
    if chunks.peek().is_none() {
        bytes.extend_from_slice(&[1, 0, 0, 0xff, 0xff]);
    }
    while let Some(chunk) = chunks.next() {
        let length = chunk.len() as u16;
        bytes.push(u8::from(chunks.peek().is_none()));
        bytes.extend_from_slice(&length.to_le_bytes());
        bytes.extend_from_slice(&(!length).to_le_bytes());
        bytes.extend_from_slice(chunk);
    }
    bytes.extend_from_slice(&adler32(content).to_be_bytes());
    bytes
}

/// Pack and index under temporary names that git knows to clean up, then under their own, the index
/// last: only it makes the pack visible.
fn write(vault: &Vault, mut entries: Vec<Entry>, hash: usize) -> Result<(), GitError> {
    entries.sort_unstable_by(|one, other| one.id.cmp(&other.id));
    entries.dedup_by(|one, other| one.id == other.id);
    let mut pack = b"PACK\0\0\0\x02".to_vec();
    pack.extend_from_slice(&(entries.len() as u32).to_be_bytes());
    let mut offsets = Vec::with_capacity(entries.len());
    for entry in &entries {
        offsets.push(pack.len() as u32);
        pack.extend_from_slice(&entry.bytes);
    }
    let pack_sum = checksum(&pack, hash);
    pack.extend_from_slice(&pack_sum);

    let mut index = b"\xfftOc\0\0\0\x02".to_vec();
    let mut below = 0_u32;
    for first in 0..=255_u8 {
        while entries
            .get(below as usize)
            .is_some_and(|entry| entry.id[0] == first)
        {
            below += 1;
        }
        index.extend_from_slice(&below.to_be_bytes());
    }
    for entry in &entries {
        index.extend_from_slice(&entry.id);
    }
    for entry in &entries {
        index.extend_from_slice(&crc32(&entry.bytes).to_be_bytes());
    }
    for offset in offsets {
        index.extend_from_slice(&offset.to_be_bytes());
    }
    index.extend_from_slice(&pack_sum);
    let index_sum = checksum(&index, hash);
    index.extend_from_slice(&index_sum);

    let dir = vault.objects().join("pack");
    for (bytes, ending) in [(pack, "pack"), (index, "idx")] {
        let target = dir.join(format!("pack-{}.{ending}", hex(&pack_sum)));
        let mut file = tempfile::Builder::new()
            .prefix("tmp_pack_")
            .permissions(std::os::unix::fs::PermissionsExt::from_mode(0o444))
            .tempfile_in(&dir)
            .map_err(GitError::writing(&dir))?;
        std::io::Write::write_all(&mut file, &bytes).map_err(GitError::writing(&target))?;
        file.as_file()
            .sync_data()
            .map_err(GitError::writing(&target))?;
        // The same pack from an earlier run has the same content.
        file.persist(&target)
            .map_err(|error| GitError::writing(&target)(error.error))?;
    }
    Ok(())
}

fn adler32(bytes: &[u8]) -> u32 {
    let (mut one, mut two) = (1_u32, 0_u32);
    // As many as cannot overflow.
    for chunk in bytes.chunks(5552) {
        for byte in chunk {
            one += u32::from(*byte);
            two += one;
        }
        one %= 65_521;
        two %= 65_521;
    }
    two << 16 | one
}

const CRC: [[u32; 256]; 8] = crc_tables();

const fn crc_tables() -> [[u32; 256]; 8] {
    let mut tables = [[0; 256]; 8];
    let mut n = 0;
    while n < 256 {
        let mut value = n as u32;
        let mut bit = 0;
        while bit < 8 {
            value = if value & 1 == 1 {
                0xedb8_8320 ^ (value >> 1)
            } else {
                value >> 1
            };
            bit += 1;
        }
        tables[0][n] = value;
        n += 1;
    }
    let mut table = 1;
    while table < 8 {
        let mut n = 0;
        while n < 256 {
            let before = tables[table - 1][n];
            tables[table][n] = (before >> 8) ^ tables[0][(before & 255) as usize];
            n += 1;
        }
        table += 1;
    }
    tables
}

/// Eight bytes at a time.
fn crc32(bytes: &[u8]) -> u32 {
    let mut crc = u32::MAX;
    let mut chunks = bytes.chunks_exact(8);
    for chunk in &mut chunks {
        let low = crc ^ u32::from_le_bytes([chunk[0], chunk[1], chunk[2], chunk[3]]);
        crc = CRC[7][(low & 255) as usize]
            ^ CRC[6][(low >> 8 & 255) as usize]
            ^ CRC[5][(low >> 16 & 255) as usize]
            ^ CRC[4][(low >> 24) as usize]
            ^ CRC[3][usize::from(chunk[4])]
            ^ CRC[2][usize::from(chunk[5])]
            ^ CRC[1][usize::from(chunk[6])]
            ^ CRC[0][usize::from(chunk[7])];
    }
    for byte in chunks.remainder() {
        crc = CRC[0][((crc ^ u32::from(*byte)) & 255) as usize] ^ (crc >> 8);
    }
    !crc
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_answers() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
        assert_eq!(
            crc32(b"The quick brown fox jumps over the lazy dog"),
            0x414f_a339
        );
        assert_eq!(adler32(b"Wikipedia"), 0x11e6_0398);
    }

    /// Git itself judges the pack: every object, every checksum, for both hashes.
    #[test]
    fn git_finds_nothing_wrong_with_a_pack() {
        for format in ["sha1", "sha256"] {
            let home = tempfile::tempdir().unwrap();
            let dir = home.path();
            let git = |args: &[&str]| {
                let output = crate::git::call::git()
                    .directory(dir)
                    .args(args)
                    .output()
                    .unwrap();
                assert!(output.success(), "{args:?}: {}", output.stderr_text());
                output.stdout_text()
            };
            git(&["init", "-q", "--object-format", format]);
            let mut found = Vec::new();
            for n in 0..200_usize {
                // Empty, small, at and over the size of a block, and twice the same.
                let size = [0, 1, 15, 16, 17, 2047, 2048, 65_535, 65_536, 200_000][n % 10];
                let name = format!("f{n}");
                let content: Vec<u8> = (0..size).map(|i| (i * (1 + n / 20)) as u8).collect();
                std::fs::write(dir.join(&name), content).unwrap();
                let stat = rustix::fs::lstat(dir.join(&name)).unwrap();
                found.push(Found {
                    path: name.into_bytes(),
                    stamp: Stamp::of(&stat),
                });
            }
            let repo = Repo::discover(dir).unwrap();
            let files: Vec<(usize, &Found)> = found.iter().enumerate().collect();
            let pack = pack_files(&repo, dir, &files).unwrap();
            assert_eq!(pack.unsettled, Vec::<PathBuf>::new());
            let vault = Vault::open(&repo).unwrap();
            let ids = pack.write(&vault).unwrap();
            let git = |args: &[&str]| {
                let output = vault.git().args(args).output().unwrap();
                assert!(output.success(), "{args:?}: {}", output.stderr_text());
                output.stdout_text()
            };
            for n in 0..200 {
                let id = git(&["hash-object", dir.join(format!("f{n}")).to_str().unwrap()]);
                assert_eq!(ids.get(&n), Some(&id), "f{n}");
                assert_eq!(git(&["cat-file", "-t", &id]), "blob");
            }
            git(&["fsck", "--full", "--strict"]);
            let pack = std::fs::read_dir(vault.objects().join("pack"))
                .unwrap()
                .map(|entry| entry.unwrap().path())
                .find(|path| path.extension().is_some_and(|ending| ending == "idx"))
                .unwrap();
            git(&["verify-pack", pack.to_str().unwrap()]);
        }
    }
}
