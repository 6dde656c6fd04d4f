//! What a control client says, taken apart: bytes in, words out.

/// A longer line or answer is none that we have asked for.
const LONGEST: usize = 32 * 1024 * 1024;

/// One thing that the server has said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Word {
    /// The answer to the next of our commands, in the order in which they were given.
    Reply {
        ok: bool,
        body: Vec<u8>,
    },
    Notice(Notice),
    /// The conversation is over.
    Exit,
}

/// What happened without having been asked for. Only what somebody wants to know has a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Notice {
    /// Sessions came or went.
    Sessions,
    /// A person came, went, or looks at another session.
    Clients,
    Other,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the tmux server said something endless")]
pub(crate) struct Endless;

/// Takes bytes as they come, cut anywhere.
#[derive(Debug, Default)]
pub(crate) struct Parser {
    /// The beginning of a line that has not ended yet.
    line: Vec<u8>,
    block: Option<Block>,
}

#[derive(Debug)]
struct Block {
    /// What stands behind `%begin`, and must stand behind `%end`: a screen may show `%end` too.
    tag: Vec<u8>,
    ours: bool,
    body: Vec<u8>,
}

impl Parser {
    pub(crate) fn feed(&mut self, mut bytes: &[u8]) -> Result<Vec<Word>, Endless> {
        let mut words = Vec::new();
        while let Some(at) = bytes.iter().position(|byte| *byte == b'\n') {
            let (front, rest) = bytes.split_at(at);
            bytes = rest.get(1..).unwrap_or_default();
            if self.line.is_empty() {
                words.extend(self.take(front)?);
            } else {
                let mut line = std::mem::take(&mut self.line);
                line.extend_from_slice(front);
                words.extend(self.take(&line)?);
            }
        }
        if self.line.len() + bytes.len() > LONGEST {
            return Err(Endless);
        }
        self.line.extend_from_slice(bytes);
        Ok(words)
    }

    fn take(&mut self, line: &[u8]) -> Result<Option<Word>, Endless> {
        if let Some(block) = &mut self.block {
            for (mark, ok) in [(&b"%end "[..], true), (b"%error ", false)] {
                if line.strip_prefix(mark) == Some(block.tag.as_slice()) {
                    let done = self.block.take();
                    return Ok(done.filter(|block| block.ours).map(|block| Word::Reply {
                        ok,
                        body: block.body,
                    }));
                }
            }
            if block.body.len() + line.len() > LONGEST {
                return Err(Endless);
            }
            block.body.extend_from_slice(line);
            block.body.push(b'\n');
            return Ok(None);
        }
        if let Some(tag) = line.strip_prefix(b"%begin ") {
            self.block = Some(Block {
                tag: tag.to_owned(),
                ours: is_ours(tag),
                body: Vec::new(),
            });
            return Ok(None);
        }
        Ok(Some(notice(line)))
    }
}

/// The last field of the tag has its lowest bit set for what came from our own input: attaching
/// and hooks make blocks too.
fn is_ours(tag: &[u8]) -> bool {
    tag.rsplit(|byte| *byte == b' ')
        .next()
        .and_then(|flags| std::str::from_utf8(flags).ok()?.parse::<u32>().ok())
        .is_some_and(|flags| flags & 1 == 1)
}

fn notice(line: &[u8]) -> Word {
    let name = line.split(|byte| *byte == b' ').next().unwrap_or_default();
    match name {
        b"%exit" => Word::Exit,
        b"%sessions-changed" | b"%session-window-changed" | b"%unlinked-window-close" => {
            Word::Notice(Notice::Sessions)
        }
        b"%client-session-changed" | b"%client-detached" => Word::Notice(Notice::Clients),
        _ => Word::Notice(Notice::Other),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// As tmux 3.3a says it: a client that makes its own session, then asks.
    const RECORDED: &str = "%begin 1794723345 265 0\n%end 1794723345 265 0\n%window-add @1\n\
        %sessions-changed\n%session-changed $1 hub\n%begin 1794723345 272 1\nx\u{1f}title\n\
        %end 1794723345 272 1\n%begin 1794723345 274 1\na\\\\b\n%end 1 2 3\n\n%end 1794723345 27\n\
        %end 1794723345 274 1\n%begin 1794723345 278 1\nparse error: unknown command: x\n\
        %error 1794723345 278 1\n%client-detached /dev/pts/3\n%exit\n";

    fn reply(ok: bool, body: &str) -> Word {
        Word::Reply {
            ok,
            body: body.as_bytes().to_owned(),
        }
    }

    fn recorded() -> Vec<Word> {
        vec![
            Word::Notice(Notice::Other),
            Word::Notice(Notice::Sessions),
            Word::Notice(Notice::Other),
            reply(true, "x\u{1f}title\n"),
            reply(true, "a\\\\b\n%end 1 2 3\n\n%end 1794723345 27\n"),
            reply(false, "parse error: unknown command: x\n"),
            Word::Notice(Notice::Clients),
            Word::Exit,
        ]
    }

    #[test]
    fn a_recorded_conversation_is_taken_apart_however_it_is_cut() {
        for cut in 0..=RECORDED.len() {
            let mut parser = Parser::default();
            let (front, back) = RECORDED.as_bytes().split_at(cut);
            let mut words = parser.feed(front).unwrap();
            words.extend(parser.feed(back).unwrap());
            assert_eq!(words, recorded(), "cut at {cut}");
        }
    }

    #[test]
    fn an_endless_line_is_no_answer() {
        let mut parser = Parser::default();
        let piece = vec![b'x'; LONGEST / 2 + 1];
        assert_eq!(parser.feed(&piece), Ok(Vec::new()));
        assert_eq!(parser.feed(&piece), Err(Endless));
    }

    proptest! {
        #[test]
        fn any_bytes_in_any_pieces_mean_the_same(
            bytes in prop::collection::vec(
                prop_oneof![
                    any::<u8>().prop_map(|byte| vec![byte]),
                    Just(b"\n".to_vec()),
                    Just(b"%begin 1 2 1\n".to_vec()),
                    Just(b"%end 1 2 1\n".to_vec()),
                    Just(b"%error 1 2 1\n".to_vec()),
                    Just(b"%begin 1 3 0\n".to_vec()),
                    Just(b"%sessions-changed\n".to_vec()),
                ],
                0..60,
            ),
            piece in 1_usize..9,
        ) {
            let bytes = bytes.concat();
            let mut whole = Parser::default();
            let expected = whole.feed(&bytes).unwrap();
            let mut pieces = Parser::default();
            let mut words = Vec::new();
            for piece in bytes.chunks(piece) {
                words.extend(pieces.feed(piece).unwrap());
            }
            prop_assert_eq!(words, expected);
        }

        #[test]
        fn an_answer_comes_back_whatever_a_screen_shows(body in "(\\PC|\n|%end 1 2 [0-9]|%begin 9)*") {
            // What would end the block exactly is the one thing that a screen must not show.
            prop_assume!(!body.lines().any(|line| line == "%end 7 8 1" || line == "%error 7 8 1"));
            let text = format!("%begin 7 8 1\n{body}\n%end 7 8 1\n");
            let words = Parser::default().feed(text.as_bytes()).unwrap();
            prop_assert_eq!(words, vec![reply(true, &format!("{body}\n"))]);
        }
    }
}
