//! Parses a provider file; a mistake is reported with its key and line.

use std::path::{Path, PathBuf};

use toml::de::{DeTable, DeValue};

use super::file::ProviderFile;
use crate::detect::Fault;

/// A mistake in a provider file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}{}: {}{message}", .file.display(), line_suffix(*.line), key_prefix(.key))]
pub(crate) struct ProviderFileError {
    pub file: PathBuf,
    pub line: Option<usize>,
    /// As `rules[2].any[0]`; empty where the file cannot be parsed.
    pub key: String,
    pub message: String,
}

fn line_suffix(line: Option<usize>) -> String {
    line.map(|line| format!(":{line}")).unwrap_or_default()
}

fn key_prefix(key: &str) -> String {
    if key.is_empty() {
        String::new()
    } else {
        format!("`{key}`: ")
    }
}

/// Parses and checks the file by itself.
pub(super) fn read(file: &Path, text: &str) -> Result<ProviderFile, ProviderFileError> {
    let table = text.parse().map_err(|error| syntax(file, text, &error))?;
    let read = from_table(table).map_err(|error| wrong_value(file, text, &error))?;
    read.check().map_err(|fault| at(file, text, fault))?;
    Ok(read)
}

/// The only way in which provider files become data: the code for each other way would make the program larger
/// by half a megabyte.
pub(super) fn from_table(
    table: toml::Table,
) -> Result<ProviderFile, serde_path_to_error::Error<toml::de::Error>> {
    serde_path_to_error::deserialize(toml::Value::Table(table))
}

/// Adds the line of its key to a fault.
pub(super) fn at(file: &Path, text: &str, fault: Fault) -> ProviderFileError {
    ProviderFileError {
        file: file.to_owned(),
        line: line_of_key(text, &fault.key),
        key: fault.key,
        message: fault.message,
    }
}

fn syntax(file: &Path, text: &str, error: &toml::de::Error) -> ProviderFileError {
    ProviderFileError {
        file: file.to_owned(),
        line: error.span().map(|span| line_at(text, span.start)),
        key: String::new(),
        message: error.message().to_owned(),
    }
}

fn wrong_value(
    file: &Path,
    text: &str,
    error: &serde_path_to_error::Error<toml::de::Error>,
) -> ProviderFileError {
    let inner = error.inner();
    let path = error.path().to_string();
    let path = if path == "." { String::new() } else { path };
    let (key, message) = match unknown_field(inner.message()) {
        Some((field, message)) => (nested(&path, field), message),
        None => (path, inner.message().to_owned()),
    };
    ProviderFileError {
        file: file.to_owned(),
        line: line_of_key(text, &key),
        key,
        message,
    }
}

/// serde says ``unknown field `x`, expected one of `a`, `b` ``; the message names the most similar one.
fn unknown_field(message: &str) -> Option<(&str, String)> {
    let rest = message.strip_prefix("unknown field `")?;
    let (field, expected) = rest.split_once('`')?;
    let known: Vec<&str> = expected.split('`').skip(1).step_by(2).collect();
    let nearest = nearest(field, known.iter().copied());
    let message = match nearest {
        Some(nearest) => format!("unknown key; did you mean `{nearest}`?"),
        None => format!("unknown key; known are {}", known.join(", ")),
    };
    Some((field, message))
}

/// The known word that is most similar to a misspelt one.
pub(super) fn nearest<'k>(word: &str, known: impl Iterator<Item = &'k str>) -> Option<&'k str> {
    known
        .map(|candidate| (strsim::jaro_winkler(word, candidate), candidate))
        .filter(|(likeness, _)| *likeness > 0.8)
        .max_by(|(a, _), (b, _)| a.total_cmp(b))
        .map(|(_, candidate)| candidate)
}

fn nested(path: &str, field: &str) -> String {
    if path.is_empty() || path.ends_with(field) {
        // Some errors have the path of the parent, some of the field itself.
        if path.is_empty() {
            field.to_owned()
        } else {
            path.to_owned()
        }
    } else {
        format!("{path}.{field}")
    }
}

/// The line of `rules[2].any[0]`, or of its longest prefix that exists.
fn line_of_key(text: &str, key: &str) -> Option<usize> {
    let table = DeTable::parse(text).ok()?;
    let mut offset = None;
    let mut value: Option<&DeValue<'_>> = None;
    for step in key.split('.') {
        let (name, indices) = match step.split_once('[') {
            Some((name, rest)) => (name, rest),
            None => (step, ""),
        };
        let parent = match value {
            None => table.get_ref(),
            Some(DeValue::Table(inner)) => inner,
            Some(_) => break,
        };
        let Some((found, inner)) = parent
            .iter()
            .find(|(candidate, _)| candidate.get_ref().as_ref() == name)
        else {
            break;
        };
        offset = Some(found.span().start);
        value = Some(inner.get_ref());
        for index in indices
            .trim_end_matches(']')
            .split("][")
            .filter(|i| !i.is_empty())
        {
            let element = match value {
                Some(DeValue::Array(items)) => index
                    .parse::<usize>()
                    .ok()
                    .and_then(|index| items.get(index)),
                _ => None,
            };
            let Some(element) = element else {
                break;
            };
            offset = Some(element.span().start);
            value = Some(element.get_ref());
        }
    }
    offset.map(|offset| line_at(text, offset))
}

fn line_at(text: &str, offset: usize) -> usize {
    let before = text.get(..offset).unwrap_or(text);
    before.matches('\n').count() + 1
}
