//! SHA-1 and SHA-256, as the index file ends with one of them; and a quick digest for evidence.
//!
//! Written out here because nothing else in the program needs them and all are short; none guards
//! against an adversary: git's objects are hashed by git.

/// A digest of numbers that differs if one of them does: 128 bits, made for many of them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Quick {
    one: u64,
    two: u64,
}

impl Quick {
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

struct Sha256 {
    state: [u32; 8],
    block: Block,
}

struct Sha1 {
    state: [u32; 5],
    block: Block,
}

/// Gathers input into blocks of 64 bytes.
struct Block {
    bytes: [u8; 64],
    filled: usize,
    total: u64,
}

impl Block {
    fn new() -> Self {
        Self {
            bytes: [0; 64],
            filled: 0,
            total: 0,
        }
    }

    fn feed(&mut self, mut input: &[u8], mut compress: impl FnMut(&[u8; 64])) {
        self.total += input.len() as u64;
        while !input.is_empty() {
            if self.filled == 0
                && let Some((block, rest)) = input.split_first_chunk::<64>()
            {
                compress(block);
                input = rest;
                continue;
            }
            let taken = input.len().min(64 - self.filled);
            self.bytes[self.filled..self.filled + taken].copy_from_slice(&input[..taken]);
            self.filled += taken;
            input = &input[taken..];
            if self.filled == 64 {
                compress(&self.bytes);
                self.filled = 0;
            }
        }
    }

    fn close(&mut self, mut compress: impl FnMut(&[u8; 64])) {
        let bits = self.total * 8;
        self.feed(&[0x80], &mut compress);
        while self.filled != 56 {
            self.feed(&[0], &mut compress);
        }
        self.feed(&bits.to_be_bytes(), &mut compress);
    }
}

impl Sha256 {
    fn new() -> Self {
        Self {
            state: [
                0x6a09_e667,
                0xbb67_ae85,
                0x3c6e_f372,
                0xa54f_f53a,
                0x510e_527f,
                0x9b05_688c,
                0x1f83_d9ab,
                0x5be0_cd19,
            ],
            block: Block::new(),
        }
    }

    fn update(&mut self, input: &[u8]) {
        let Self { state, block } = self;
        block.feed(input, |bytes| compress_256(state, bytes));
    }

    fn finish(mut self) -> Vec<u8> {
        let Self { state, block } = &mut self;
        block.close(|bytes| compress_256(state, bytes));
        state.iter().flat_map(|word| word.to_be_bytes()).collect()
    }
}

fn sha1(input: &[u8]) -> Vec<u8> {
    let mut sha = Sha1 {
        state: [
            0x6745_2301,
            0xefcd_ab89,
            0x98ba_dcfe,
            0x1032_5476,
            0xc3d2_e1f0,
        ],
        block: Block::new(),
    };
    let Sha1 { state, block } = &mut sha;
    block.feed(input, |bytes| compress_1(state, bytes));
    block.close(|bytes| compress_1(state, bytes));
    state.iter().flat_map(|word| word.to_be_bytes()).collect()
}

/// The hash of a repository whose ids have `length` bytes.
pub(super) fn checksum(input: &[u8], length: usize) -> Vec<u8> {
    if length == 32 {
        let mut sha = Sha256::new();
        sha.update(input);
        sha.finish()
    } else {
        sha1(input)
    }
}

fn words<const N: usize>(bytes: &[u8; 64]) -> [u32; N] {
    let mut words = [0; N];
    for (word, chunk) in words.iter_mut().zip(bytes.chunks_exact(4)) {
        *word = u32::from_be_bytes([chunk[0], chunk[1], chunk[2], chunk[3]]);
    }
    words
}

fn compress_1(state: &mut [u32; 5], bytes: &[u8; 64]) {
    let mut w: [u32; 80] = words(bytes);
    for i in 16..80 {
        w[i] = (w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16]).rotate_left(1);
    }
    let [mut a, mut b, mut c, mut d, mut e] = *state;
    // Four loops, so that no round has to ask which one it is.
    let mut round = |f: fn(u32, u32, u32) -> u32, k: u32, words: &[u32]| {
        for word in words {
            let next = a
                .rotate_left(5)
                .wrapping_add(f(b, c, d))
                .wrapping_add(e)
                .wrapping_add(k)
                .wrapping_add(*word);
            (e, d, c, b, a) = (d, c, b.rotate_left(30), a, next);
        }
    };
    round(|b, c, d| (b & c) | (!b & d), 0x5a82_7999, &w[..20]);
    round(|b, c, d| b ^ c ^ d, 0x6ed9_eba1, &w[20..40]);
    round(
        |b, c, d| (b & c) | (b & d) | (c & d),
        0x8f1b_bcdc,
        &w[40..60],
    );
    round(|b, c, d| b ^ c ^ d, 0xca62_c1d6, &w[60..]);
    for (sum, word) in state.iter_mut().zip([a, b, c, d, e]) {
        *sum = sum.wrapping_add(word);
    }
}

#[rustfmt::skip]
const ROUNDS: [u32; 64] = [
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
];

fn compress_256(state: &mut [u32; 8], bytes: &[u8; 64]) {
    let mut w: [u32; 64] = words(bytes);
    for i in 16..64 {
        let s0 = w[i - 15].rotate_right(7) ^ w[i - 15].rotate_right(18) ^ (w[i - 15] >> 3);
        let s1 = w[i - 2].rotate_right(17) ^ w[i - 2].rotate_right(19) ^ (w[i - 2] >> 10);
        w[i] = w[i - 16]
            .wrapping_add(s0)
            .wrapping_add(w[i - 7])
            .wrapping_add(s1);
    }
    let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = *state;
    for (word, round) in w.iter().zip(ROUNDS) {
        let s1 = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
        let first = h
            .wrapping_add(s1)
            .wrapping_add((e & f) ^ (!e & g))
            .wrapping_add(round)
            .wrapping_add(*word);
        let s0 = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
        let second = s0.wrapping_add((a & b) ^ (a & c) ^ (b & c));
        (h, g, f, e) = (g, f, e, d.wrapping_add(first));
        (d, c, b, a) = (c, b, a, first.wrapping_add(second));
    }
    for (sum, word) in state.iter_mut().zip([a, b, c, d, e, f, g, h]) {
        *sum = sum.wrapping_add(word);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::index::hex;

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
