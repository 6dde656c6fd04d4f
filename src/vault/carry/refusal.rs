//! The error of an export that is not taken.

use crate::git::GitError;

pub(super) fn refused(problem: &str) -> GitError {
    GitError::ExportRefused {
        problem: problem.to_owned(),
    }
}

pub(super) fn refused_path(path: &[u8], problem: &str) -> GitError {
    refused(&format!("`{}` {problem}", path.escape_ascii()))
}
