//! The strict parser: commands that can be read in one way only.
//!
//! Only what it reads can be accepted: words, quotes without expansions, `&&`, `||`, `;`, `|`, line ends,
//! groups, `[ … ]`, and redirections from and to files that are named plainly. It knows a small part of the shell on purpose. A text beyond that is not
//! an error; it is not plain.

use super::simple::{Joined, Plain, PlainRedirect, PlainWord, Simple};

/// A longer text is never accepted: it is also too long to read in a dialog.
const LONGEST: usize = 2_000;

/// Expansions whose value is known to be a number, and the number that stands for it.
pub(super) const KNOWN_EXPANSIONS: [(&str, &str); 2] = [("$?", "0"), ("$(nproc)", "1")];

/// Parses the text; the reason where it is not plain.
pub(crate) fn read(text: &str) -> Result<Plain, &'static str> {
    if text.chars().count() > LONGEST {
        return Err("it is too long to be read at a glance");
    }
    let mut reader = Reader {
        rest: text,
        commands: Vec::new(),
        current: Simple::default(),
        groups: Vec::new(),
        closed: false,
        document: None,
    };
    reader.all()?;
    if reader.commands.is_empty() {
        return Err("there is no command");
    }
    if reader.document.is_some() {
        return Err("a document is not closed");
    }
    if !reader.groups.is_empty() {
        return Err("a group is not closed");
    }
    Ok(Plain {
        commands: reader.commands,
    })
}

struct Reader<'t> {
    rest: &'t str,
    commands: Vec<Simple>,
    current: Simple,
    /// The groups that are open, and whether each is a subshell.
    groups: Vec<bool>,
    /// Whether a group has just been closed: only an operator or a redirection may follow.
    closed: bool,
    /// The mark that ends the document which begins on the next line.
    document: Option<String>,
}

impl Reader<'_> {
    fn all(&mut self) -> Result<(), &'static str> {
        loop {
            self.rest = self.rest.trim_start_matches(' ');
            if self.take("\\\n") {
                continue;
            }
            let Some(next) = self.rest.chars().next() else {
                return self.end(Ending::Text);
            };
            if next == '#' {
                let end = self.rest.find('\n').unwrap_or(self.rest.len());
                self.rest = &self.rest[end..];
            } else if self.rest.starts_with('\n') && self.document.is_some() {
                self.document_body()?;
                self.end(Ending::Line)?;
            } else if self.take("\n") {
                self.end(Ending::Line)?;
            } else if self.take("&&") {
                self.end(Ending::And)?;
            } else if self.take("||") {
                self.end(Ending::Other)?;
            } else if self.rest.starts_with("|&") {
                return Err("it joins errors into a pipe");
            } else if self.take("|") {
                self.end(Ending::Pipe)?;
            } else if self.rest.starts_with(";;") {
                return Err("it has a part that is not plain");
            } else if self.take(";") {
                self.end(Ending::Line)?;
            } else if self.redirection()? {
                // Kept with its command.
            } else if self.group()? {
                // Kept with the commands in it.
            } else if self.closed {
                return Err("something follows a group");
            } else {
                self.word()?;
            }
        }
    }

    fn take(&mut self, token: &str) -> bool {
        match self.rest.strip_prefix(token) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn end(&mut self, ending: Ending) -> Result<(), &'static str> {
        let command = std::mem::take(&mut self.current);
        let after_group = std::mem::take(&mut self.closed);
        let empty = command.words.is_empty();
        if empty && !command.assignments.is_empty() {
            return Err("it sets a variable");
        }
        if empty && !command.redirects.is_empty() && !after_group {
            return Err("it empties a file");
        }
        let open = command.joined != Joined::Always || !command.opens.is_empty();
        if empty && !after_group {
            if matches!(ending, Ending::Line | Ending::Text) && !open {
                return Ok(());
            }
            return Err("an operator has nothing beside it");
        }
        if after_group {
            self.add_to_group(command)?;
        } else {
            self.commands.push(command);
        }
        self.current.joined = match ending {
            Ending::Line | Ending::Text => Joined::Always,
            Ending::And => Joined::And,
            Ending::Pipe => Joined::Pipe,
            Ending::Other => Joined::Or,
        };
        self.current.piped = ending == Ending::Pipe;
        if ending == Ending::Pipe
            && let Some(last) = self.commands.last_mut()
        {
            last.feeds = true;
        }
        if matches!(ending, Ending::And | Ending::Other | Ending::Pipe) {
            // A line end may follow these.
            self.rest = self.rest.trim_start_matches([' ', '\n']);
            if self.rest.is_empty() {
                return Err("an operator has nothing beside it");
            }
        }
        Ok(())
    }

    /// The redirections behind a group are those of its last command as well: all that they name is checked.
    fn add_to_group(&mut self, behind: Simple) -> Result<(), &'static str> {
        let last = self.commands.last_mut().ok_or("a group is empty")?;
        last.redirects.extend(behind.redirects);
        Ok(())
    }

    /// Passes over the lines up to the mark of a document, in which nothing means anything to the shell.
    fn document_body(&mut self) -> Result<(), &'static str> {
        let mark = self.document.take().unwrap_or_default();
        let body = self.rest.get(1..).unwrap_or_default();
        let mut at = 0;
        for line in body.split_inclusive('\n') {
            at += line.len();
            if line.trim_end_matches('\n') == mark {
                checked(&body[..at])?;
                self.rest = &body[at..];
                return Ok(());
            }
        }
        Err("a document is not closed")
    }

    /// `(`, `)`, `{` and `}` as words of their own.
    fn group(&mut self) -> Result<bool, &'static str> {
        let at_start = self.current.words.is_empty()
            && self.current.assignments.is_empty()
            && self.current.redirects.is_empty()
            && !self.closed;
        let brace = |rest: &str, brace: &str| {
            rest.strip_prefix(brace)
                .is_some_and(|rest| rest.starts_with([' ', '\n']))
        };
        if at_start && !self.rest.starts_with("((") && self.take("(") {
            self.current.opens.push(true);
            self.groups.push(true);
            return Ok(true);
        }
        if at_start && brace(self.rest, "{") {
            self.take("{");
            self.current.opens.push(false);
            self.groups.push(false);
            return Ok(true);
        }
        let closing = match self.groups.last() {
            Some(true) => ")",
            Some(false) if at_start || self.closed => "}",
            _ => return Ok(false),
        };
        if !self.rest.starts_with(closing) {
            return Ok(false);
        }
        if self.current.joined != Joined::Always && self.current.words.is_empty() && !self.closed {
            return Err("an operator has nothing beside it");
        }
        self.end(Ending::Text)?;
        self.take(closing);
        self.groups.pop();
        let last = self.commands.last_mut().ok_or("a group is empty")?;
        last.closes += 1;
        self.closed = true;
        Ok(true)
    }

    /// `2>&1`, `> file`, `< file` and the like, as words of their own.
    fn redirection(&mut self) -> Result<bool, &'static str> {
        const JOINING: [(&str, &str); 3] = [("2>&1", "1"), ("1>&2", "2"), (">&2", "2")];
        const OPERATORS: [(&str, bool); 9] = [
            ("&>>", true),
            ("2>>", true),
            ("1>>", true),
            (">>", true),
            ("&>", true),
            ("2>", true),
            ("1>", true),
            (">", true),
            ("<", false),
        ];
        for (form, target) in JOINING {
            if let Some(rest) = self.rest.strip_prefix(form)
                && (rest.is_empty() || rest.starts_with([' ', '\n', ';', '|', '&', ')']))
            {
                self.rest = rest;
                self.current.redirects.push(PlainRedirect {
                    writes: true,
                    target: target.to_owned(),
                });
                return Ok(true);
            }
        }
        if let Some(rest) = self.rest.strip_prefix("<<'") {
            let (mark, rest) = rest.split_once('\'').ok_or("a quote is not closed")?;
            let plain =
                !mark.is_empty() && mark.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
            if !plain || self.document.is_some() || self.current.words.is_empty() {
                return Err("it has a document inside");
            }
            self.document = Some(mark.to_owned());
            self.rest = rest;
            return Ok(true);
        }
        for (form, writes) in OPERATORS {
            let Some(rest) = self.rest.strip_prefix(form) else {
                continue;
            };
            let target = rest.trim_start_matches(' ');
            if target.starts_with(['&', '>', '<', '|', '(', '\n', ';']) || target.is_empty() {
                return Err("it redirects in a way that is not plain");
            }
            self.rest = target;
            let word = self.read_word()?.0;
            if word.glob || word.text.is_empty() {
                return Err("it redirects in a way that is not plain");
            }
            self.current.redirects.push(PlainRedirect {
                writes,
                target: word.text,
            });
            return Ok(true);
        }
        Ok(false)
    }

    fn word(&mut self) -> Result<(), &'static str> {
        if self.current.words.is_empty() {
            for bracket in ["[[", "["] {
                if self
                    .rest
                    .strip_prefix(bracket)
                    .is_some_and(|r| r.starts_with(' '))
                {
                    self.rest = &self.rest[bracket.len()..];
                    self.current.words.push(PlainWord {
                        text: bracket.to_owned(),
                        ..PlainWord::default()
                    });
                    return Ok(());
                }
            }
        }
        let (mut word, name_end) = self.read_word()?;
        if word.text == "]" || word.text == "]]" {
            word.glob = false;
        }
        let is_name = |name: &str| {
            name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
                && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        };
        match name_end {
            Some(end) if self.current.words.is_empty() && is_name(&word.text[..end]) => {
                let value = word.text[end + 1..].to_owned();
                self.current
                    .assignments
                    .push((word.text[..end].to_owned(), value));
            }
            _ => {
                if self.current.words.is_empty() && (word.quoted || word.glob || !ascii(&word)) {
                    return Err("the program is not named plainly");
                }
                self.current.words.push(word);
            }
        }
        Ok(())
    }

    /// One word, and where a name before `=` ends in it.
    fn read_word(&mut self) -> Result<(PlainWord, Option<usize>), &'static str> {
        let mut word = PlainWord::default();
        let mut name_end = None;
        while let Some(next) = self.rest.chars().next() {
            match next {
                ' ' | '\n' | ';' | '|' => break,
                ')' if self.groups.contains(&true) => break,
                '&' if self.rest.starts_with("&&") => break,
                '\'' => {
                    let inner = self.rest.get(1..).unwrap_or_default();
                    let (quoted, rest) = inner.split_once('\'').ok_or("a quote is not closed")?;
                    word.text.push_str(checked(quoted)?);
                    word.quoted = true;
                    self.rest = rest;
                }
                '"' => {
                    word.quoted = true;
                    self.double(&mut word.text)?;
                }
                '\\' if self.rest.starts_with("\\\n") => break,
                '=' if name_end.is_none() && !word.quoted => {
                    name_end = Some(word.text.len());
                    self.push(&mut word, next);
                }
                '*' | '?' | '[' | ']' => {
                    word.glob = true;
                    self.push(&mut word, next);
                }
                // `HEAD@{1}`, never `{a,b}`.
                '{' | '}' if word.text.contains('@') && !self.rest.contains(',') => {
                    self.push(&mut word, next);
                }
                '#' | '_' | '.' | '/' | ':' | ',' | '@' | '%' | '+' | '-' | '^' | '~' | '=' => {
                    self.push(&mut word, next);
                }
                other if other.is_ascii_alphanumeric() => self.push(&mut word, next),
                '$' if self.known_expansion(&mut word.text) => {}
                '$' | '`' => return Err("it has an expansion"),
                '>' | '<' => return Err("it redirects into or from a file"),
                '&' => return Err("it runs something in the background"),
                '(' | ')' | '{' | '}' => return Err("it has a group or a subshell"),
                '\\' => return Err("it has a backslash"),
                _ => return Err("it has a character that is not plain"),
            }
        }
        Ok((word, name_end))
    }

    /// `$?` and `$(nproc)`: numbers, whatever happens.
    fn known_expansion(&mut self, text: &mut String) -> bool {
        for (form, stands_for) in KNOWN_EXPANSIONS {
            if let Some(rest) = self.rest.strip_prefix(form) {
                self.rest = rest;
                text.push_str(stands_for);
                return true;
            }
        }
        false
    }

    fn push(&mut self, word: &mut PlainWord, character: char) {
        word.text.push(character);
        self.rest = &self.rest[character.len_utf8()..];
    }

    /// The text in double quotes. The only expansion that is allowed is a literal document,
    /// `"$(cat <<'EOF' … EOF)"`, as agents write commit messages.
    fn double(&mut self, text: &mut String) -> Result<(), &'static str> {
        self.rest = &self.rest[1..];
        if self.rest.starts_with("$(cat <<'") {
            return self.literal_document(text);
        }
        loop {
            let mut characters = self.rest.chars();
            let next = characters.next().ok_or("a quote is not closed")?;
            let after = characters.next();
            match next {
                '"' => {
                    self.rest = &self.rest[1..];
                    return Ok(());
                }
                '`' => return Err("it has an expansion"),
                '$' if self.known_expansion(text) => {}
                '$' if !matches!(after, Some('"' | ' ' | '/' | '|' | ')')) => {
                    return Err("it has an expansion");
                }
                '\\' if matches!(after, Some('"' | '\\' | '$' | '`')) => {
                    text.extend(after);
                    self.rest = &self.rest[2..];
                }
                '\\' if after == Some('\n') => self.rest = &self.rest[2..],
                other => {
                    checked(other.encode_utf8(&mut [0; 4]))?;
                    text.push(other);
                    self.rest = &self.rest[other.len_utf8()..];
                }
            }
        }
    }

    fn literal_document(&mut self, text: &mut String) -> Result<(), &'static str> {
        const NOT_LITERAL: &str = "it has an expansion";
        let body = self.rest.strip_prefix("$(cat <<'").ok_or(NOT_LITERAL)?;
        let (mark, body) = body.split_once("'\n").ok_or(NOT_LITERAL)?;
        if mark.is_empty() || !mark.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
            return Err(NOT_LITERAL);
        }
        let mut at = 0;
        for line in body.split_inclusive('\n') {
            if line.trim_end_matches('\n') == mark {
                let rest = &body[at + line.len()..];
                let rest = rest.strip_prefix(")\"").ok_or(NOT_LITERAL)?;
                text.push_str(checked(&body[..at])?);
                self.rest = rest;
                return Ok(());
            }
            at += line.len();
        }
        Err(NOT_LITERAL)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    /// `;` or a line end.
    Line,
    And,
    Pipe,
    Other,
    Text,
}

fn ascii(word: &PlainWord) -> bool {
    word.text.is_ascii()
}

/// Quoted text may be in any language, but may have no control or hidden characters.
fn checked(text: &str) -> Result<&str, &'static str> {
    if text
        .chars()
        .all(|c| c == '\n' || !super::super::text::is_hidden(c))
    {
        Ok(text)
    } else {
        Err("it has an invisible character")
    }
}

#[cfg(test)]
mod tests;
