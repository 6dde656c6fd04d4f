//! Chance that falls the same way in every run.

use std::time::Duration;

pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// A number below this one (xorshift).
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }

    pub(crate) fn one_of<'a, T>(&mut self, these: &'a [T]) -> &'a T {
        &these[self.below(these.len() as u64) as usize]
    }

    /// Lets a moment pass: the harm comes when it comes, nothing waits for it.
    pub(crate) fn let_pass(&mut self, longest_ms: u64) {
        std::thread::sleep(Duration::from_millis(self.below(longest_ms)));
    }
}
