//! Parses the output of a control client into messages.

/// A longer line or answer is an error.
const LONGEST: usize = 32 * 1024 * 1024;

/// One message of the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ControlMessage {
    /// The answer to the oldest command without an answer.
    Reply {
        ok: bool,
        body: Vec<u8>,
    },
    Notification(Notification),
    /// The connection has ended.
    Exit,
}

/// A notification of the server, as far as it is used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Notification {
    /// Sessions were opened or closed.
    Sessions,
    /// A client attached, detached or switched to another session.
    Clients,
    Other,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the tmux server said something endless")]
pub(crate) struct TooLong;

/// Takes the bytes in pieces of any size.
#[derive(Debug, Default)]
pub(crate) struct Parser {
    /// The start of a line without its end.
    line: Vec<u8>,
    block: Option<Block>,
}

#[derive(Debug)]
struct Block {
    /// The text after `%begin`. It must follow `%end` too: a screen may show `%end` as well.
    tag: Vec<u8>,
    ours: bool,
    body: Vec<u8>,
}

impl Parser {
    pub(crate) fn feed(&mut self, mut bytes: &[u8]) -> Result<Vec<ControlMessage>, TooLong> {
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
            return Err(TooLong);
        }
        self.line.extend_from_slice(bytes);
        Ok(words)
    }

    fn take(&mut self, line: &[u8]) -> Result<Option<ControlMessage>, TooLong> {
        if let Some(block) = &mut self.block {
            for (mark, ok) in [(&b"%end "[..], true), (b"%error ", false)] {
                if line.strip_prefix(mark) == Some(block.tag.as_slice()) {
                    let done = self.block.take();
                    return Ok(done.filter(|block| block.ours).map(|block| {
                        ControlMessage::Reply {
                            ok,
                            body: block.body,
                        }
                    }));
                }
            }
            if block.body.len() + line.len() > LONGEST {
                return Err(TooLong);
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

/// The last field of the tag has its lowest bit set for answers to this client's commands. Attaching and
/// hooks make blocks too.
fn is_ours(tag: &[u8]) -> bool {
    tag.rsplit(|byte| *byte == b' ')
        .next()
        .and_then(|flags| std::str::from_utf8(flags).ok()?.parse::<u32>().ok())
        .is_some_and(|flags| flags & 1 == 1)
}

fn notice(line: &[u8]) -> ControlMessage {
    let name = line.split(|byte| *byte == b' ').next().unwrap_or_default();
    match name {
        b"%exit" => ControlMessage::Exit,
        b"%sessions-changed" | b"%session-window-changed" | b"%unlinked-window-close" => {
            ControlMessage::Notification(Notification::Sessions)
        }
        b"%client-session-changed" | b"%client-detached" => {
            ControlMessage::Notification(Notification::Clients)
        }
        _ => ControlMessage::Notification(Notification::Other),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Recorded from tmux 3.3a: a client that makes its own session and then sends commands.
    const RECORDED: &str = "%begin 1794723345 265 0\n%end 1794723345 265 0\n%window-add @1\n\
        %sessions-changed\n%session-changed $1 hub\n%begin 1794723345 272 1\nx\u{1f}title\n\
        %end 1794723345 272 1\n%begin 1794723345 274 1\na\\\\b\n%end 1 2 3\n\n%end 1794723345 27\n\
        %end 1794723345 274 1\n%begin 1794723345 278 1\nparse error: unknown command: x\n\
        %error 1794723345 278 1\n%client-detached /dev/pts/3\n%exit\n";

    fn reply(ok: bool, body: &str) -> ControlMessage {
        ControlMessage::Reply {
            ok,
            body: body.as_bytes().to_owned(),
        }
    }

    fn recorded() -> Vec<ControlMessage> {
        vec![
            ControlMessage::Notification(Notification::Other),
            ControlMessage::Notification(Notification::Sessions),
            ControlMessage::Notification(Notification::Other),
            reply(true, "x\u{1f}title\n"),
            reply(true, "a\\\\b\n%end 1 2 3\n\n%end 1794723345 27\n"),
            reply(false, "parse error: unknown command: x\n"),
            ControlMessage::Notification(Notification::Clients),
            ControlMessage::Exit,
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
        assert_eq!(parser.feed(&piece), Err(TooLong));
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
            // Only the exact end mark of the block must not occur in it.
            prop_assume!(!body.lines().any(|line| line == "%end 7 8 1" || line == "%error 7 8 1"));
            let text = format!("%begin 7 8 1\n{body}\n%end 7 8 1\n");
            let words = Parser::default().feed(text.as_bytes()).unwrap();
            prop_assert_eq!(words, vec![reply(true, &format!("{body}\n"))]);
        }
    }
}
