//! Reads a provider file so that a mistake in it is named with its key and line.

use std::path::{Path, PathBuf};

use toml::de::{DeTable, DeValue};

use super::file::ProviderFile;
use crate::detect::Fault;

/// A mistake in a provider file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}{}: {}{message}", .file.display(), line_suffix(*.line), key_prefix(.key))]
pub(crate) struct Mistake {
    pub file: PathBuf,
    pub line: Option<usize>,
    /// As `rules[2].any[0]`; empty where the file as a whole cannot be read.
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

/// The file as written, checked by itself.
pub(super) fn read(file: &Path, text: &str) -> Result<ProviderFile, Mistake> {
    let deserializer =
        toml::Deserializer::parse(text).map_err(|error| syntax(file, text, &error))?;
    let read: ProviderFile = serde_path_to_error::deserialize(deserializer)
        .map_err(|error| wrong_value(file, text, &error))?;
    read.check().map_err(|fault| at(file, text, fault))?;
    Ok(read)
}

/// A fault that was found by its key, with the line of that key.
pub(super) fn at(file: &Path, text: &str, fault: Fault) -> Mistake {
    Mistake {
        file: file.to_owned(),
        line: line_of_key(text, &fault.key),
        key: fault.key,
        message: fault.message,
    }
}

fn syntax(file: &Path, text: &str, error: &toml::de::Error) -> Mistake {
    Mistake {
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
) -> Mistake {
    let inner = error.inner();
    let path = error.path().to_string();
    let path = if path == "." { String::new() } else { path };
    let (key, message) = match unknown_field(inner.message()) {
        Some((field, message)) => (nested(&path, field), message),
        None => (path, inner.message().to_owned()),
    };
    Mistake {
        file: file.to_owned(),
        line: line_of_key(text, &key)
            .or_else(|| inner.span().map(|span| line_at(text, span.start))),
        key,
        message,
    }
}

/// serde says ``unknown field `x`, expected one of `a`, `b` ``; people want to know which one is meant.
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

/// The known word that a misspelt one most likely stands for.
pub(super) fn nearest<'k>(word: &str, known: impl Iterator<Item = &'k str>) -> Option<&'k str> {
    known
        .map(|candidate| (strsim::jaro_winkler(word, candidate), candidate))
        .filter(|(likeness, _)| *likeness > 0.8)
        .max_by(|(a, _), (b, _)| a.total_cmp(b))
        .map(|(_, candidate)| candidate)
}

fn nested(path: &str, field: &str) -> String {
    if path.is_empty() || path.ends_with(field) {
        // Some errors name the parent, some the field itself.
        if path.is_empty() {
            field.to_owned()
        } else {
            path.to_owned()
        }
    } else {
        format!("{path}.{field}")
    }
}

/// The line on which `rules[2].any[0]`, or as much of it as exists, is written.
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
