//! Reads a transcript's folder and times before it is imported, from its first and last few kilobytes.

use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use daybook_domain::Timestamp;

use crate::bounded;

/// Bytes that are read at either end.
const GLANCE: u64 = 64 * 1024;

/// A transcript's folder and times, as far as its ends show them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TranscriptPeek {
    /// The folder that work was done in, as the transcript names it first.
    pub folder: Option<String>,
    /// The first time that the transcript names.
    pub first_at: Option<Timestamp>,
    /// The last time that the transcript names.
    pub last_at: Option<Timestamp>,
}

/// Reads the ends of the transcript at `path`.
///
/// # Errors
/// When the file cannot be read.
pub fn peek(path: &Path) -> io::Result<TranscriptPeek> {
    let mut file = bounded::open(path)?;
    let size = file.metadata()?.len();
    let mut head = Vec::new();
    (&mut file).take(GLANCE).read_to_end(&mut head)?;
    let mut tail = Vec::new();
    if size > GLANCE {
        file.seek(SeekFrom::Start(size - GLANCE.min(size)))?;
        (&mut file).take(GLANCE).read_to_end(&mut tail)?;
    }
    let latest = |bytes: &[u8]| {
        texts(bytes, b"\"timestamp\":")
            .filter_map(|text| time(&text))
            .max()
    };
    Ok(TranscriptPeek {
        folder: texts(&head, b"\"cwd\":").next(),
        first_at: texts(&head, b"\"timestamp\":").find_map(|text| time(&text)),
        last_at: latest(&tail).or_else(|| latest(&head)),
    })
}

/// The string values behind each occurrence of a key.
fn texts<'a>(bytes: &'a [u8], key: &'a [u8]) -> impl Iterator<Item = String> + 'a {
    memchr::memmem::find_iter(bytes, key).filter_map(move |at| {
        let rest = bytes[at + key.len()..].trim_ascii_start();
        let mut values = serde_json::Deserializer::from_slice(rest).into_iter::<String>();
        values.next()?.ok()
    })
}

fn time(text: &str) -> Option<Timestamp> {
    let time: jiff::Timestamp = text.parse().ok()?;
    Some(Timestamp(time.as_millisecond()))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn a_glance_shows_folder_and_span_also_where_the_end_is_undated() {
        let mut file = tempfile::NamedTempFile::new().expect("a file");
        let line = r#"{"cwd":"/home/ada/tidepool","timestamp":"2026-03-02T08:00:00Z"}"#;
        writeln!(file, "{line}").expect("a line");
        let undated = format!("{{\"text\":\"{}\"}}\n", "x".repeat(200_000));
        file.write_all(undated.as_bytes()).expect("a line");
        let at = Some(Timestamp(1_772_438_400_000));
        let seen = peek(file.path()).expect("a glance");
        let expected = TranscriptPeek {
            folder: Some("/home/ada/tidepool".to_owned()),
            first_at: at,
            last_at: at,
        };
        assert_eq!(seen, expected);
    }
}
