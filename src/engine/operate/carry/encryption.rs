//! Exports that only the owner of a key can read, by the program `age`.
//!
//! An ssh key will do, which most users have. The program is called instead of a library: the library brings
//! more than a hundred packages, and takes the passphrase of a key itself.

use std::fs::File;
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::engine::base::Error;
use crate::process::{Command, Failure};

const PROGRAM: &str = "age";

/// The first bytes of what age writes.
const MAGIC: &[u8] = b"age-encryption.org/v1";

/// Large exports, and a passphrase that is typed.
const PATIENCE: Duration = Duration::from_secs(3600);

/// The keys of a user, the better one first. The public one has `.pub` behind its name.
const SSH_KEYS: [&str; 2] = ["id_ed25519", "id_rsa"];

/// Who can read an export.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Secrecy {
    /// Everyone who has the file.
    Plain,
    /// The owner of this key: a public ssh key, or a file of age recipients. The user's own ssh key if None.
    Key(Option<PathBuf>),
}

/// Encrypts a file into another.
pub(super) fn encrypt(plain: &mut File, into: &Path, key: Option<&Path>) -> Result<(), Error> {
    let key = match key {
        Some(key) => key.to_owned(),
        None => ssh_key(".pub").ok_or(Error::NoKey)?,
    };
    let command = Command::new(PROGRAM)
        .args(["--encrypt", "--recipients-file"])
        .arg(key)
        .arg("--output")
        .arg(into);
    run(&command, plain, |message| Error::NotEncrypted { message })
}

/// Whether a file is encrypted; it is read from its beginning afterwards.
pub(in crate::engine) fn is_encrypted(file: &mut File) -> std::io::Result<bool> {
    let mut begins = Vec::new();
    file.rewind()?;
    Read::by_ref(file)
        .take(MAGIC.len() as u64)
        .read_to_end(&mut begins)?;
    file.rewind()?;
    Ok(begins == MAGIC)
}

/// An export as it can be read: decrypted where it was encrypted, into a file of this directory that has no
/// name any more.
pub(super) fn opened<'a>(
    mut input: Box<dyn Read + Send + 'a>,
    key: Option<&Path>,
    directory: &Path,
) -> Result<Box<dyn Read + Send + 'a>, Error> {
    let mut begins = Vec::new();
    let reading = |error| Error::files("read", Path::new("the export"))(error);
    input
        .by_ref()
        .take(MAGIC.len() as u64)
        .read_to_end(&mut begins)
        .map_err(reading)?;
    let encrypted = begins == MAGIC;
    let mut whole = std::io::Cursor::new(begins).chain(input);
    if !encrypted {
        return Ok(Box::new(whole));
    }
    let key = match key {
        Some(key) => key.to_owned(),
        None => ssh_key("").ok_or(Error::NoKey)?,
    };
    let plain = tempfile::NamedTempFile::new_in(directory).map_err(reading)?;
    let command = Command::new(PROGRAM)
        .args(["--decrypt", "--identity"])
        .arg(key)
        .arg("--output")
        .arg(plain.path());
    run(&command, &mut whole, |message| Error::NotDecrypted {
        message,
    })?;
    // Written by another process, so it is read from its beginning; the name goes away with `plain`.
    Ok(Box::new(File::open(plain.path()).map_err(reading)?))
}

fn run(
    command: &Command,
    input: &mut (dyn Read + Send),
    failed: impl FnOnce(String) -> Error,
) -> Result<(), Error> {
    let command = command.clone().deadline(PATIENCE);
    let output =
        match command.output_fed(|pipe: &mut dyn Write| std::io::copy(input, pipe).map(|_| ())) {
            Err(Failure::NotFound { .. }) => return Err(Error::NoAge),
            output => output?,
        };
    match output.success() {
        true => Ok(()),
        false => Err(failed(said(&output.stderr_text()))),
    }
}

/// The sentence of age, without its own name and its advertisement.
fn said(text: &str) -> String {
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("age: error: "));
    crate::model::printable_line(line.unwrap_or_else(|| text.trim()))
}

fn ssh_key(suffix: &str) -> Option<PathBuf> {
    let directory = PathBuf::from(std::env::var_os("HOME")?).join(".ssh");
    SSH_KEYS
        .into_iter()
        .map(|name| directory.join(format!("{name}{suffix}")))
        .find(|key| key.is_file())
}
