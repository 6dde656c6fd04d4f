//! Removes escape sequences from captured text and keeps the style of each character.

use super::row::{CharStyle, Row};

/// Splits a capture into rows. The style continues across line ends, as in the output of
/// `capture-pane -e`.
pub(super) fn rows(text: &str) -> Vec<Row> {
    let mut pen = CharStyle::default();
    let lines = text.split_terminator('\n');
    let mut rows: Vec<Row> = lines
        .map(|line| match line.chars().any(char::is_control) {
            true => styled(line, &mut pen).trimmed(),
            false => Row::plain(line, pen),
        })
        .collect();
    // What follows the last line is no row if it is a sequence alone.
    if !text.ends_with('\n') && rows.last().is_some_and(Row::is_empty) {
        rows.pop();
    }
    rows
}

/// Never reads past the end of a line, so that an unfinished sequence cannot hide the rows below.
fn styled(line: &str, pen: &mut CharStyle) -> Row {
    let mut row = Row::default();
    let mut characters = line.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\t' => row.push(' ', *pen),
            '\u{1b}' => match characters.next() {
                Some('[') => control(&mut characters, pen),
                Some(']' | 'P' | '_' | '^' | 'X') => string(&mut characters),
                Some('(' | ')' | '*' | '+' | '#' | '%') => {
                    characters.next();
                }
                Some(_) | None => {}
            },
            other if other.is_control() => {}
            other => row.push(other, *pen),
        }
    }
    row
}

type Characters<'a> = std::iter::Peekable<std::str::Chars<'a>>;

fn control(characters: &mut Characters<'_>, pen: &mut CharStyle) {
    let mut parameters = String::new();
    for character in characters.by_ref() {
        if ('\u{40}'..='\u{7e}').contains(&character) {
            if character == 'm' {
                draw(&parameters, pen);
            }
            return;
        }
        parameters.push(character);
    }
}

fn string(characters: &mut Characters<'_>) {
    while let Some(character) = characters.next() {
        match character {
            '\u{7}' | '\u{9c}' => return,
            '\u{1b}' => {
                characters.next_if_eq(&'\\');
                return;
            }
            _ => {}
        }
    }
}

fn draw(parameters: &str, pen: &mut CharStyle) {
    let mut numbers = parameters
        .split([';', ':'])
        .map(|number| number.parse::<u32>().unwrap_or(0));
    while let Some(number) = numbers.next() {
        match number {
            0 => *pen = CharStyle::default(),
            2 => pen.dim = true,
            22 => pen.dim = false,
            7 => pen.reverse = true,
            27 => pen.reverse = false,
            38 => {
                colour(&mut numbers);
            }
            40..=47 | 100..=107 => pen.ground = number,
            48 => pen.ground = colour(&mut numbers),
            49 => pen.ground = 0,
            _ => {}
        }
    }
}

/// The rest of `38;…` or `48;…`. Marked so that a palette index cannot equal the number of a basic colour.
fn colour(numbers: &mut impl Iterator<Item = u32>) -> u32 {
    const PALETTE: u32 = 1 << 24;
    const DIRECT: u32 = 1 << 25;
    match numbers.next() {
        Some(5) => PALETTE | (numbers.next().unwrap_or(0) & 0xff),
        Some(2) => numbers.take(3).fold(DIRECT, |packed, part| {
            DIRECT | ((packed << 8) & 0xff_ffff) | (part & 0xff)
        }),
        _ => 0,
    }
}
