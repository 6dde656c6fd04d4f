//! Which words of a changed line are different.

use std::ops::Range;

/// Lines with more words than this are compared by their beginning and end only.
const MOST: usize = 160;

/// The parts of two versions of a line that differ, in bytes. Nothing where the lines have little in common.
pub(super) fn changed(old: &str, new: &str) -> (Vec<Range<usize>>, Vec<Range<usize>>) {
    let (a, b) = (words(old), words(new));
    let same = if a.len() <= MOST && b.len() <= MOST {
        common(old, new, &a, &b)
    } else {
        edges(old, new, &a, &b)
    };
    let letters = |text: &str| text.chars().filter(|it| !it.is_whitespace()).count();
    let kept: usize = same
        .iter()
        .filter_map(|(at, _)| old.get(a.get(*at)?.clone()))
        .map(letters)
        .sum();
    // Two lines of which most is new are two lines.
    if kept * 3 < letters(old).max(letters(new)) {
        return (Vec::new(), Vec::new());
    }
    let others = |all: &[Range<usize>], same: &dyn Fn(usize) -> bool| {
        let mut ranges: Vec<Range<usize>> = Vec::new();
        for (at, word) in all.iter().enumerate().filter(|(at, _)| !same(*at)) {
            match ranges.last_mut() {
                Some(last) if last.end == word.start => last.end = word.end,
                _ => ranges.push(all[at].clone()),
            }
        }
        ranges
    };
    (
        others(&a, &|at| same.iter().any(|(one, _)| *one == at)),
        others(&b, &|at| same.iter().any(|(_, one)| *one == at)),
    )
}

/// Words, runs of spaces, and single other characters.
fn words(text: &str) -> Vec<Range<usize>> {
    let kind = |letter: char| match letter {
        _ if letter.is_alphanumeric() || letter == '_' => 1,
        _ if letter.is_whitespace() => 2,
        _ => 0,
    };
    let mut words: Vec<Range<usize>> = Vec::new();
    let mut last = 0;
    for (at, letter) in text.char_indices() {
        let now = kind(letter);
        let end = at + letter.len_utf8();
        match words.last_mut() {
            Some(word) if now == last && now != 0 => word.end = end,
            _ => words.push(at..end),
        }
        last = now;
    }
    words
}

type Pairs = Vec<(usize, usize)>;

/// The longest common sequence of words.
fn common(old: &str, new: &str, a: &[Range<usize>], b: &[Range<usize>]) -> Pairs {
    let equal = |one: usize, two: usize| old[a[one].clone()] == new[b[two].clone()];
    let width = b.len() + 1;
    let mut longest = vec![0_u16; (a.len() + 1) * width];
    for one in (0..a.len()).rev() {
        for two in (0..b.len()).rev() {
            longest[one * width + two] = if equal(one, two) {
                longest[(one + 1) * width + two + 1] + 1
            } else {
                longest[(one + 1) * width + two].max(longest[one * width + two + 1])
            };
        }
    }
    let (mut one, mut two) = (0, 0);
    let mut pairs = Vec::new();
    while one < a.len() && two < b.len() {
        if equal(one, two) {
            pairs.push((one, two));
            (one, two) = (one + 1, two + 1);
        } else if longest[(one + 1) * width + two] >= longest[one * width + two + 1] {
            one += 1;
        } else {
            two += 1;
        }
    }
    pairs
}

/// The words at the beginning and at the end that are the same.
fn edges(old: &str, new: &str, a: &[Range<usize>], b: &[Range<usize>]) -> Pairs {
    let equal = |one: usize, two: usize| old[a[one].clone()] == new[b[two].clone()];
    let shorter = a.len().min(b.len());
    let front = (0..shorter).take_while(|at| equal(*at, *at)).count();
    let back = (1..=shorter - front)
        .take_while(|by| equal(a.len() - by, b.len() - by))
        .count();
    (0..front)
        .map(|at| (at, at))
        .chain((0..back).map(|by| (a.len() - back + by, b.len() - back + by)))
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parts(text: &str, ranges: &[Range<usize>]) -> Vec<String> {
        ranges
            .iter()
            .map(|range| text[range.clone()].to_owned())
            .collect()
    }

    #[test]
    fn the_words_that_differ_are_found() {
        let (old, new) = ("check(user);", "check(&user)?;");
        let (a, b) = changed(old, new);
        assert_eq!(parts(old, &a), [""; 0]);
        assert_eq!(parts(new, &b), ["&", "?"]);
        let (old, new) = ("let count = one + two;", "let total = one + two;");
        let (a, b) = changed(old, new);
        assert_eq!(
            (parts(old, &a), parts(new, &b)),
            (vec!["count".to_owned()], vec!["total".to_owned()])
        );
        assert_eq!(changed("alpha beta", "gamma delta"), (vec![], vec![]));
    }

    proptest! {
        #[test]
        fn what_is_left_over_is_the_same_on_both_sides(old in "[a-c ().日]{0,30}", new in "[a-c ().日]{0,30}") {
            let (a, b) = changed(&old, &new);
            if a.is_empty() && b.is_empty() {
                return Ok(());
            }
            let rest = |text: &str, ranges: &[Range<usize>]| -> String {
                text.char_indices()
                    .filter(|(at, _)| !ranges.iter().any(|range| range.contains(at)))
                    .map(|(_, letter)| letter)
                    .collect()
            };
            prop_assert_eq!(rest(&old, &a), rest(&new, &b));
        }
    }
}
