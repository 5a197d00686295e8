//! Fuzz targets of everything that reads a transcript or the text in one.

use std::io::Cursor;

use daybook_testkit::mutation::{TRANSCRIPTS, parse_mutated, parse_mutated_text};

use super::detect::{TranscriptFormat, detect};
use super::item::TranscriptItem;
use super::lines::PieceStep;
use super::pieces::{PieceReader, head};
use super::reader_test_support::no_git;
use super::readers::reader;
use super::stream::TranscriptStream;
use super::when;
use crate::places::folding as place;
use crate::places::git_folder::git_folder;
use crate::projects::{assign, output_evidence};
use daybook_domain::Origin;
use daybook_domain::limits::APPEND_BYTES;
use daybook_text::mentions::mentions;
use daybook_text::prepare_event;
use daybook_text::recalled;
use daybook_text::redact::Redactor;
use daybook_text::tokens::for_each_token;

/// Everything that an import does with the bytes of one file, but for storing events.
fn take_in(bytes: &[u8], redactor: &Redactor) {
    let Ok(beginning) = head(Cursor::new(bytes)) else {
        return;
    };
    let format = detect(&beginning);
    let Some(mut reader_at_once) = reader(&format, "unnamed", &no_git, None).expect("no state")
    else {
        assert!(matches!(format, TranscriptFormat::Unknown(_)), "{format:?}");
        return;
    };
    let Ok(mut pieces) = PieceReader::new(Cursor::new(bytes), &format) else {
        return;
    };
    let mut parsed = Vec::new();
    while let Ok(step) = pieces.step() {
        let (number, line) = match step {
            PieceStep::Piece(line) => (line.number, line.bytes.to_vec()),
            PieceStep::TooLong { number, .. } => (number, Vec::new()),
            PieceStep::Partial { .. } | PieceStep::End => break,
        };
        let _ = reader_at_once.line(number, &line, &mut parsed);
        // Reading can stop behind each line; another reader goes on from the state.
        reader(&format, "unnamed", &no_git, Some(&reader_at_once.state())).expect("its own state");
    }
    for item in parsed {
        if let TranscriptItem::Event(event) = item {
            let (event, _) = prepare_event(redactor, event);
            assert!(event.text.len() <= APPEND_BYTES, "{}", event.text.len());
        }
    }
}

#[test]
fn fuzz_transcript() {
    let redactor = Redactor::standard();
    let seeds = TRANSCRIPTS.map(|(_, bytes)| bytes);
    bolero::check!().for_each(|script: &[u8]| {
        parse_mutated(&seeds, script, |bytes| take_in(bytes, &redactor));
    });
}

#[test]
fn fuzz_claude_code_transcript() {
    let redactor = Redactor::standard();
    let seeds = [TRANSCRIPTS[0].1];
    bolero::check!().for_each(|script: &[u8]| {
        parse_mutated(&seeds, script, |bytes| take_in(bytes, &redactor));
    });
}

#[test]
fn fuzz_codex_transcript() {
    let redactor = Redactor::standard();
    let seeds = [TRANSCRIPTS[1].1, TRANSCRIPTS[2].1];
    bolero::check!().for_each(|script: &[u8]| {
        parse_mutated(&seeds, script, |bytes| take_in(bytes, &redactor));
    });
}

#[test]
fn fuzz_other_agents_transcript() {
    let redactor = Redactor::standard();
    let seeds: Vec<&[u8]> = TRANSCRIPTS[6..].iter().map(|(_, bytes)| *bytes).collect();
    bolero::check!().for_each(|script: &[u8]| {
        parse_mutated(&seeds, script, |bytes| take_in(bytes, &redactor));
    });
}

#[test]
fn fuzz_archived_transcript() {
    let redactor = Redactor::standard();
    // An entry that is stored, with its name and without an end.
    let mut archive =
        b"PK\x03\x04\x14\0\0\0\0\0\0\0\0\0\0\0\0\0\xff\0\0\0\xff\0\0\0\x12\0\0\0".to_vec();
    archive.extend(b"conversations.json[{\"uuid\":\"k\",\"chat_messages\":[]}]");
    bolero::check!().for_each(|script: &[u8]| {
        parse_mutated(&[&archive], script, |bytes| take_in(bytes, &redactor));
    });
}

#[test]
fn fuzz_chat_transcript() {
    let redactor = Redactor::standard();
    let seeds = [TRANSCRIPTS[3].1, TRANSCRIPTS[4].1, TRANSCRIPTS[5].1];
    bolero::check!().for_each(|script: &[u8]| {
        parse_mutated(&seeds, script, |bytes| take_in(bytes, &redactor));
    });
}

#[test]
fn fuzz_compressed_transcript() {
    let level = ruzstd::encoding::CompressionLevel::Fastest;
    let seeds = TRANSCRIPTS.map(|(_, bytes)| ruzstd::encoding::compress_to_vec(bytes, level));
    let seeds: Vec<&[u8]> = seeds.iter().map(Vec::as_slice).collect();
    bolero::check!().for_each(|script: &[u8]| {
        parse_mutated(&seeds, script, |bytes| {
            if let Ok(stream) = TranscriptStream::new(Cursor::new(bytes)) {
                let limited = std::io::Read::take(stream, 4 * 1024 * 1024);
                let _ = head(limited);
            }
        });
    });
}

#[test]
fn fuzz_text_of_an_event() {
    let redactor = Redactor::standard();
    let seeds = [
        "origin\tgit@git.example:ada/tidepool.git (fetch)\nhttps://ada:hunter2@git.example/a.git",
        "export API_KEY=sk-live-0123456789abcdefABCDEF\npassword: \"correct horse\"",
        "<daybook-memory>the cache holds 50 entries [7f78:L3,9-12]</daybook-memory> and [ä4:L1; b:L2]",
        "-----BEGIN PRIVATE KEY-----\nMIIBVQIBADANBgkqhkiG\n-----END PRIVATE KEY-----",
        "2026-03-02T08:15:01.120Z",
        "/home/ada/tidepool/.worktrees/station-pages",
        "(cd '/home/ada/tidepool'; git -C x remote -v) && cat <<EOF\ngit push\nEOF",
    ];
    bolero::check!().for_each(|script: &[u8]| {
        parse_mutated_text(&seeds, script, |text| {
            let hidden = redactor.redact(text).text.into_owned();
            let again = redactor.redact(&hidden);
            assert_eq!(again.text, hidden, "what was hidden is not hidden twice");
            let _ = recalled::strip_event(Origin::Assistant, text);
            let _ = recalled::strip(text);
            for (by, taken_as) in [
                (Origin::Assistant, Origin::Assistant),
                (Origin::Harness, Origin::Recalled),
                (Origin::ToolResult, Origin::Recalled),
            ] {
                let _ = mentions(by, taken_as, text);
            }
            let _ = output_evidence::shown_remote(text);
            let _ = git_folder(text);
            let _ = assign::slug(text);
            let _ = place::normalised_remote(text);
            let _ = place::fold_root(text, Some(text), &no_git);
            let _ = when::read(text);
            for_each_token(text, |_| {});
        });
    });
}
