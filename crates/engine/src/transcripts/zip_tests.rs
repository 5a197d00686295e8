use std::io::Write;

use flate2::Compression;
use flate2::write::DeflateEncoder;

use super::*;
use crate::transcripts::stream::TranscriptStream;

/// An entry of an archive: stored, or deflated with its sizes behind it.
fn entry(name: &str, text: &[u8], deflated: bool) -> Vec<u8> {
    let mut packed = text.to_vec();
    if deflated {
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(text).unwrap();
        packed = encoder.finish().unwrap();
    }
    let (flags, method) = if deflated { (8_u16, 8_u16) } else { (0, 0) };
    let size = if deflated { 0 } else { packed.len() as u32 };
    let mut entry = MAGIC.to_vec();
    entry.extend([20, 0]);
    entry.extend(flags.to_le_bytes());
    entry.extend(method.to_le_bytes());
    entry.extend([0; 8]);
    entry.extend(size.to_le_bytes());
    entry.extend(size.to_le_bytes());
    entry.extend((name.len() as u16).to_le_bytes());
    entry.extend([0, 0]);
    entry.extend(name.as_bytes());
    entry.extend(&packed);
    if deflated {
        entry.extend(SIZES);
        entry.extend([0; 12]);
    }
    entry
}

fn check(entries: &[Vec<u8>], expected: &str) {
    let mut archive = entries.concat();
    archive.extend(b"PK\x01\x02the list of entries");
    let mut text = String::new();
    let mut stream = TranscriptStream::new(&*archive).unwrap();
    stream.read_to_string(&mut text).unwrap();
    assert_eq!(text, expected);
}

#[test]
fn conversations_are_read_one_after_the_other() {
    check(
        &[
            entry("user.json", b"{}", false),
            entry("export/conversations-000.json", b"[1]", true),
            entry("chat.html", b"<html>", true),
            entry("shared_conversations.json", b"[9]", false),
            entry("conversations-001.json", b"[2]", false),
        ],
        "[1][2]",
    );
}

#[test]
fn an_archive_without_conversations_is_no_transcript() {
    let archive = [entry("notes.txt", b"[1]", false), b"PK\x01\x02".to_vec()].concat();
    let mut head = Vec::new();
    let stream = TranscriptStream::new(&*archive).unwrap();
    stream.take(10).read_to_end(&mut head).unwrap();
    assert_eq!(head, b"a zip arch");
}

#[test]
fn a_damaged_archive_is_an_error_and_not_its_end() {
    let mut archive = entry("conversations.json", &b"[1,2,3]".repeat(100), true);
    archive.truncate(60);
    let mut text = Vec::new();
    let mut stream = TranscriptStream::new(&*archive).unwrap();
    assert!(stream.read_to_end(&mut text).is_err());
}
