//! Reads what stands beside a transcript and describes it: a reader gets it first, as pieces of number 0.
//!
//! Some hosts keep a session's folder, or that it is a sub-agent's, outside of what its lines hold.
//!
//! Not here: what becomes of it; that is each format's.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use serde_json::json;

use super::detect::{ChatShape, TranscriptFormat};
use crate::bounded;

/// Most bytes that are read of a file beside a transcript.
const MOST: u64 = 1024 * 1024;
/// Bytes at a document's end in which its last fields are sought.
const TAIL: u64 = 4 * 1024;
/// Folders above a session of Gemini CLI that may name its project's folder.
const ABOVE: usize = 3;

/// The pieces that describe the transcript at `path`. A file that is missing or cannot be read is none.
#[must_use]
pub fn pieces_beside(path: &Path, format: &TranscriptFormat) -> Vec<Vec<u8>> {
    match format {
        TranscriptFormat::Gemini(shape) => gemini(path, *shape),
        _ => Vec::new(),
    }
}

/// The project's folder, which a file above the sessions names, and the kind, which a document states at its end.
fn gemini(path: &Path, shape: ChatShape) -> Vec<Vec<u8>> {
    let folders = path.ancestors().skip(1).take(ABOVE);
    let named = folders
        .filter_map(|folder| read(&folder.join(".project_root")))
        .next();
    let folder = named.and_then(|name| String::from_utf8(name).ok());
    let mut pieces = Vec::new();
    pieces.extend(folder.map(|folder| {
        json!({"projectRoot": folder.trim()})
            .to_string()
            .into_bytes()
    }));
    // No text within JSON holds a line end as it is, so that this is a field of the outermost object.
    const SUB_AGENT: &[u8] = b"\n  \"kind\": \"subagent\"";
    if shape == ChatShape::Document
        && tail(path).is_some_and(|tail| memchr::memmem::find(&tail, SUB_AGENT).is_some())
    {
        pieces.push(json!({"kind": "subagent"}).to_string().into_bytes());
    }
    pieces
}

fn read(path: &Path) -> Option<Vec<u8>> {
    bounded::read(path, MOST).ok()
}

fn tail(path: &Path) -> Option<Vec<u8>> {
    let mut file: File = bounded::open(path).ok()?;
    let size = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(size.saturating_sub(TAIL))).ok()?;
    let mut bytes = Vec::new();
    file.take(TAIL).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_folder_and_the_kind_of_a_gemini_session_are_found_beside_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let chats = folder.path().join("chats");
        fs::create_dir(&chats).expect("a folder");
        fs::write(folder.path().join(".project_root"), "/home/ada/tidepool\n").expect("a file");
        let path = chats.join("session.json");
        let text = "{\n  \"sessionId\": \"s\",\n  \"messages\": [],\n  \"kind\": \"subagent\"\n}";
        fs::write(&path, text).expect("a file");
        let pieces = pieces_beside(&path, &TranscriptFormat::Gemini(ChatShape::Document));
        let texts: Vec<String> = pieces
            .into_iter()
            .map(|piece| String::from_utf8(piece).expect("text"))
            .collect();
        let expected = [
            r#"{"projectRoot":"/home/ada/tidepool"}"#,
            r#"{"kind":"subagent"}"#,
        ];
        assert_eq!(texts, expected);
    }
}
