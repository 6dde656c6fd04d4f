//! The hashes of git's objects and files, and a fast digest of stat data.

use std::io::Read;

use sha1::Digest;

/// A digest of numbers that differs if one of them does: 128 bits, made for many of them.
#[derive(Debug, Clone, Copy)]
pub(super) struct FastHash {
    one: u64,
    two: u64,
}

impl FastHash {
    pub(super) fn new() -> Self {
        Self {
            one: 0x9e37_79b9_7f4a_7c15,
            two: 0xc2b2_ae3d_27d4_eb4f,
        }
    }

    pub(super) fn add(&mut self, number: u64) {
        self.one = (self.one ^ number)
            .wrapping_mul(0x0100_0000_01b3_f00d)
            .rotate_left(29);
        self.two = (self.two.rotate_left(31) ^ self.one)
            .wrapping_mul(0x9fb2_1c65_1e98_df25)
            .wrapping_add(number);
    }

    pub(super) fn add_all(&mut self, other: Self) {
        self.add(other.one);
        self.add(other.two);
    }

    pub(super) fn text(self) -> String {
        format!("{:016x}{:016x}", self.one, self.two)
    }
}

/// The hash of a repository whose ids have `length` bytes.
pub(super) fn checksum(input: &[u8], length: usize) -> Vec<u8> {
    if length == 32 {
        sha2::Sha256::digest(input).to_vec()
    } else {
        sha1::Sha1::digest(input).to_vec()
    }
}

/// The id that git gives these bytes as a blob, unfiltered; `length` is that of an id in bytes.
pub(super) fn blob_id(mut content: impl Read, size: u64, length: usize) -> std::io::Result<String> {
    fn hashed<H: Digest + std::io::Write>(
        content: &mut impl Read,
        size: u64,
    ) -> std::io::Result<String> {
        let mut hash = H::new();
        hash.update(format!("blob {size}\0"));
        std::io::copy(content, &mut hash)?;
        Ok(crate::git::index::hex(&hash.finalize()))
    }
    if length == 32 {
        hashed::<sha2::Sha256>(&mut content, size)
    } else {
        hashed::<sha1::Sha1>(&mut content, size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::index::hex;

    #[test]
    fn blobs_have_the_ids_that_git_gives_them() {
        for (length, empty) in [
            (20, "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"),
            (
                32,
                "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813",
            ),
        ] {
            assert_eq!(blob_id(&b""[..], 0, length).unwrap(), empty);
        }
        let id = blob_id(&b"hello\n"[..], 6, 20).unwrap();
        assert_eq!(id, "ce013625030ba8dba906f756967f9e9ca394464a");
    }

    #[test]
    fn known_answers() {
        let long = vec![b'a'; 1_000_000];
        for (input, one, two) in [
            (
                &b"abc"[..],
                "a9993e364706816aba3e25717850c26c9cd0d89d",
                "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
            ),
            (
                b"",
                "da39a3ee5e6b4b0d3255bfef95601890afd80709",
                "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
            ),
            (
                &long,
                "34aa973cd4c4daa4f61eeb2bdbad27316534016f",
                "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0",
            ),
        ] {
            assert_eq!(hex(&checksum(input, 20)), one);
            assert_eq!(hex(&checksum(input, 32)), two);
        }
    }
}
