//! Stored documents: one JSON object in a file, with the number of its format, replaced whole.
//!
//! | what a reader finds | what follows |
//! |---|---|
//! | a field that it does not know | it reads the rest, and writes that field again as it was |
//! | a value that it does not know, such as a state | [`StoreError::Unknown`]: nothing is written |
//! | a newer format | [`StoreError::Newer`]: nothing is written |
//! | no JSON object | [`StoreError::Corrupt`]: nothing is written; `biv doctor` says what there is instead |

use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{StoreError, replace_file};
use crate::model::{InstanceRecord, Queue, Review, RunRecord};

/// The content of a stored file.
pub(crate) trait Document: Serialize + DeserializeOwned {
    /// The newest format that this version reads, and the one that it writes.
    const FORMAT: u32;

    /// The declared format, where a document cannot be parsed without one. It saves the search for it.
    fn declared_format(&self) -> Option<u32> {
        None
    }
}

impl Document for InstanceRecord {
    const FORMAT: u32 = Self::FORMAT;

    fn declared_format(&self) -> Option<u32> {
        Some(self.format)
    }
}

impl Document for RunRecord {
    const FORMAT: u32 = Self::FORMAT;

    fn declared_format(&self) -> Option<u32> {
        Some(self.format)
    }
}

impl Document for Queue {
    const FORMAT: u32 = Self::FORMAT;
}

impl Document for Review {
    const FORMAT: u32 = Self::FORMAT;
}

#[derive(Deserialize)]
struct Declared {
    format: Option<u64>,
}

/// Reads the file, if this version of biv understands all of its values.
pub(crate) fn read_document<T: Document>(path: &Path) -> Result<T, StoreError> {
    let text = std::fs::read(path).map_err(StoreError::io("read", path))?;
    parse(path, &text)
}

/// The same; None where there is no file.
pub(crate) fn read_if_there<T: Document>(path: &Path) -> Result<Option<T>, StoreError> {
    match read_document(path) {
        Ok(document) => Ok(Some(document)),
        Err(error) if error.is_missing_file() => Ok(None),
        Err(error) => Err(error),
    }
}

/// Replaces the document in the file. An existing file must be readable.
pub(crate) fn write_document<T: Document>(path: &Path, document: &T) -> Result<(), StoreError> {
    let mut fresh = to_object(path, document)?;
    fresh.insert("format".to_owned(), T::FORMAT.into());
    match std::fs::read(path) {
        Ok(text) => {
            let understood = to_object(path, &parse::<T>(path, &text)?)?;
            let stored: Map<String, Value> =
                serde_json::from_slice(&text).map_err(corrupt(path))?;
            keep_unknown(&mut fresh, stored, &understood);
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => return Err(StoreError::io("read", path)(error)),
    }
    let mut text = serde_json::to_vec_pretty(&fresh).map_err(corrupt(path))?;
    text.push(b'\n');
    replace_file(path, &text)
}

/// Gives a damaged file a second, unused name. It is never deleted: it is all that is left of the data.
pub(super) fn keep_aside(path: &Path) -> Result<PathBuf, StoreError> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    for number in 1.. {
        let aside = path.with_file_name(format!("{name}.damaged-{number}"));
        // A link fails where the name is taken; a rename would not.
        match std::fs::hard_link(path, &aside) {
            Ok(()) => return Ok(aside),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(StoreError::io("set aside", path)(error)),
        }
    }
    unreachable!("there is a free number")
}

/// Renames a damaged file; returns its new path.
pub(crate) fn set_aside(path: &Path) -> Result<PathBuf, StoreError> {
    let aside = keep_aside(path)?;
    std::fs::remove_file(path).map_err(StoreError::io("set aside", path))?;
    Ok(aside)
}

/// A text field of the document, even if other fields cannot be read: for the title of a damaged record.
pub(super) fn text_of(path: &Path, key: &str) -> Option<String> {
    let document: Value = serde_json::from_slice(&std::fs::read(path).ok()?).ok()?;
    Some(document.get(key)?.as_str()?.to_owned())
}

fn parse<T: Document>(path: &Path, text: &[u8]) -> Result<T, StoreError> {
    if let Ok(document) = serde_json::from_slice::<T>(text)
        && document
            .declared_format()
            .is_some_and(|format| format <= T::FORMAT)
    {
        return Ok(document);
    }
    let declared: Declared = serde_json::from_slice(text).map_err(corrupt(path))?;
    match declared.format {
        Some(found) if found > u64::from(T::FORMAT) => Err(StoreError::Newer {
            path: path.to_owned(),
            found,
        }),
        Some(_) => serde_json::from_slice(text).map_err(|error| StoreError::Unknown {
            path: path.to_owned(),
            message: error.to_string(),
        }),
        None => Err(StoreError::Unknown {
            path: path.to_owned(),
            message: "no format is declared".to_owned(),
        }),
    }
}

/// Adds the unknown fields of the stored document. A value that this version has not changed is kept as it
/// is stored, with its unknown fields. A value that it has changed is written anew.
fn keep_unknown(
    fresh: &mut Map<String, Value>,
    stored: Map<String, Value>,
    understood: &Map<String, Value>,
) {
    for (key, value) in stored {
        if key == "format" {
            continue;
        }
        let unchanged = match understood.get(&key) {
            None => !fresh.contains_key(&key),
            known => fresh.get(&key) == known,
        };
        if unchanged {
            fresh.insert(key, value);
        }
    }
}

fn to_object(path: &Path, document: &impl Serialize) -> Result<Map<String, Value>, StoreError> {
    match serde_json::to_value(document).map_err(corrupt(path))? {
        Value::Object(object) => Ok(object),
        _ => Err(StoreError::Corrupt {
            path: path.to_owned(),
            message: "a document is an object".to_owned(),
        }),
    }
}

pub(super) fn corrupt(path: &Path) -> impl FnOnce(serde_json::Error) -> StoreError {
    let path = path.to_owned();
    move |error| StoreError::Corrupt {
        path,
        message: error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Tent {
        format: u32,
        state: Pitched,
        pegs: Option<Pegs>,
    }

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Pitched {
        Up,
        Down,
    }

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Pegs {
        count: u32,
    }

    impl Document for Tent {
        const FORMAT: u32 = 2;
    }

    fn stored(value: &Value) -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("tent.json");
        std::fs::write(&path, value.to_string()).unwrap();
        (dir, path)
    }

    fn on_disk(path: &Path) -> Value {
        serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
    }

    #[test]
    fn what_a_newer_writer_added_survives_a_write_at_every_depth() {
        let newer = json!({
            "format": 1, "state": "up", "colour": {"name": "red"},
            "pegs": {"count": 4, "metal": "tin"},
        });
        let (_dir, path) = stored(&newer);
        let mut tent: Tent = read_document(&path).unwrap();
        tent.state = Pitched::Down;
        write_document(&path, &tent).unwrap();
        assert_eq!(
            on_disk(&path),
            json!({
                "format": 2, "state": "down", "colour": {"name": "red"},
                "pegs": {"count": 4, "metal": "tin"},
            })
        );
        // Other pegs are not of that metal.
        tent.pegs = Some(Pegs { count: 6 });
        write_document(&path, &tent).unwrap();
        assert_eq!(on_disk(&path)["pegs"], json!({"count": 6}));
        assert_eq!(on_disk(&path)["colour"], json!({"name": "red"}));
    }

    #[test]
    fn what_is_not_understood_is_neither_read_nor_written_over() {
        let cases = [
            (json!({"format": 3, "state": "up"}), "format 3"),
            (json!({"format": 1, "state": "sideways"}), "sideways"),
            (json!({"format": 1}), "state"),
            (json!({"state": "up"}), "no format"),
            (json!("tent"), "cannot be understood"),
        ];
        for (value, told) in cases {
            let (_dir, path) = stored(&value);
            let refused = read_document::<Tent>(&path).unwrap_err();
            assert!(refused.to_string().contains(told), "{refused}");
            let tent = Tent {
                format: 2,
                state: Pitched::Up,
                pegs: None,
            };
            write_document(&path, &tent).unwrap_err();
            assert_eq!(on_disk(&path), value);
        }
    }

    #[test]
    fn a_document_cut_at_any_byte_is_damaged_and_nothing_else() {
        let whole = json!({"format": 1, "state": "up", "pegs": null}).to_string();
        let (_dir, path) = stored(&json!({}));
        for cut in 0..whole.len() {
            std::fs::write(&path, &whole[..cut]).unwrap();
            let refused = read_document::<Tent>(&path).unwrap_err();
            assert!(matches!(refused, StoreError::Corrupt { .. }), "cut {cut}");
        }
        let first = set_aside(&path).unwrap();
        std::fs::write(&path, "again").unwrap();
        let second = set_aside(&path).unwrap();
        assert_eq!(
            std::fs::read_to_string(first).unwrap(),
            &whole[..whole.len() - 1]
        );
        assert_eq!(std::fs::read_to_string(second).unwrap(), "again");
        assert!(!path.exists());
    }
}
