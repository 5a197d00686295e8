//! A prompt: a file compiled in, with a version.
//!
//! The version is in the file's front matter and grows with every change of the text, so that results name
//! the prompt that they came from.

/// The instructions for a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Prompt {
    /// Grows with every change; 0 if the file has none.
    pub version: u32,
    /// Its text.
    pub text: &'static str,
}

impl Prompt {
    /// The prompt in a file with front matter.
    pub fn of(file: &'static str) -> Self {
        let matter = file
            .strip_prefix("---\n")
            .and_then(|rest| rest.split_once("\n---\n"));
        let (matter, text) = matter.unwrap_or(("", file));
        let version = matter
            .lines()
            .find_map(|line| line.strip_prefix("version:"));
        Self {
            version: version
                .and_then(|number| number.trim().parse().ok())
                .unwrap_or(0),
            text: text.trim(),
        }
    }
}
