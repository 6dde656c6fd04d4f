//! A prompt argument.

use std::io::Read;

use super::report::Report;

/// The prompt; `-` reads it from standard input.
pub(super) fn given(prompt: &str) -> Result<String, Report> {
    if prompt != "-" {
        return Ok(prompt.to_owned());
    }
    let mut text = String::new();
    std::io::stdin()
        .read_to_string(&mut text)
        .map_err(|error| {
            Report::failed(
                "no_prompt",
                format!("the prompt cannot be read: {error}"),
                "give UTF-8 text on standard input",
            )
        })?;
    Ok(text.strip_suffix('\n').unwrap_or(&text).to_owned())
}
