use std::io::{Cursor, Seek};

use super::*;

/// Hands out a few bytes at a time.
struct Dripping<'b>(&'b [u8], usize);

impl Read for Dripping<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.0.len().min(self.1).min(buffer.len());
        buffer[..length].copy_from_slice(&self.0[..length]);
        self.0 = &self.0[length..];
        Ok(length)
    }
}

/// What comes, one word per step: `1@3:ab` is line 1, which ends at offset 3 and says `ab`.
fn steps<R: Read>(reader: &mut LineReader<R>) -> Vec<String> {
    let mut steps = Vec::new();
    loop {
        let (step, last) = match reader.step().unwrap() {
            PieceStep::Piece(line) => {
                let text = String::from_utf8_lossy(line.bytes).into_owned();
                (format!("{}@{}:{text}", line.number, line.end), false)
            }
            PieceStep::TooLong { number, end, .. } => (format!("{number}@{end} too long"), false),
            PieceStep::Partial {
                number,
                start,
                length,
            } => (format!("{number} from {start}, {length} bytes"), true),
            PieceStep::End => ("end".to_owned(), true),
        };
        steps.push(step);
        if last {
            return steps;
        }
    }
}

fn check(text: &str, expected: &[&str]) {
    for at_once in [1, 2, 5, READ] {
        let mut reader = LineReader::new(Dripping(text.as_bytes(), at_once));
        assert_eq!(
            steps(&mut reader),
            expected,
            "{text:?} {at_once} bytes at once"
        );
    }
}

#[test]
fn lines_have_numbers_and_the_offset_behind_them() {
    check("ab\nc\n", &["1@3:ab", "2@5:c", "end"]);
    check("", &["end"]);
}

#[test]
fn empty_lines_are_lines() {
    check("\n\na\n", &["1@1:", "2@2:", "3@4:a", "end"]);
}

#[test]
fn carriage_returns_and_a_byte_order_mark_are_no_part_of_a_line() {
    check("\u{feff}ab\r\nc\r\n", &["1@7:ab", "2@10:c", "end"]);
}

#[test]
fn a_line_without_an_end_is_not_taken() {
    check("ab\ncd", &["1@3:ab", "2 from 3, 2 bytes"]);
}

#[test]
fn an_input_that_grew_is_read_on() {
    let mut input = Cursor::new(b"ab\ncd".to_vec());
    let mut reader = LineReader::new(&mut input);
    assert_eq!(steps(&mut reader), ["1@3:ab", "2 from 3, 2 bytes"]);
    reader.input.get_mut().extend(b"ef\n");
    assert_eq!(steps(&mut reader), ["2@8:cdef", "end"]);
}

#[test]
fn a_complete_value_at_the_end_may_be_taken() {
    let mut reader = LineReader::new(&b"[1]\n[2]"[..]);
    assert_eq!(steps(&mut reader), ["1@4:[1]", "2 from 4, 3 bytes"]);
    let line = reader
        .finish_partial()
        .map(|line| (line.number, line.end, line.bytes.to_vec()));
    assert_eq!(line, Some((2, 7, b"[2]".to_vec())));
    assert_eq!(steps(&mut reader), ["end"]);
    assert_eq!(reader.finish_partial(), None);
}

#[test]
fn half_a_value_is_not_taken() {
    let mut reader = LineReader::new(&b"[1"[..]);
    steps(&mut reader);
    assert_eq!(reader.finish_partial(), None);
}

fn resumed(text: &str, offset: u64, lines: u32) -> Vec<String> {
    let mut input = Cursor::new(text);
    input.set_position(offset.saturating_sub(1));
    let mut reader = LineReader::resume(input, ReadPosition { offset, lines });
    steps(&mut reader)
}

#[test]
fn reading_goes_on_where_it_stopped() {
    assert_eq!(resumed("ab\n\nc\n", 3, 1), ["2@4:", "3@6:c", "end"]);
    assert_eq!(resumed("\u{feff}ab\n", 0, 0), ["1@6:ab", "end"]);
    assert_eq!(resumed("ab\n", 3, 1), ["end"]);
}

#[test]
fn a_line_that_was_taken_early_is_not_counted_again_when_its_end_arrives() {
    assert_eq!(resumed("[1]\n[2]\n[3]\n", 7, 2), ["3@12:[3]", "end"]);
    assert_eq!(resumed("[2]\r\n[3]\n", 3, 1), ["2@9:[3]", "end"]);
    assert_eq!(resumed("[2]", 3, 1), ["end"]);
}

#[test]
fn a_file_may_be_opened_at_its_offset() {
    let mut file = Cursor::new("ab\nc\n");
    file.seek(io::SeekFrom::End(0)).unwrap();
    let start = ReadPosition {
        offset: 3,
        lines: 1,
    };
    let mut pieces = crate::transcripts::PieceReader::at(
        file,
        &crate::transcripts::TranscriptFormat::Codex,
        start,
    )
    .unwrap();
    let PieceStep::Piece(line) = pieces.step().unwrap() else {
        panic!("no line")
    };
    assert_eq!((line.number, line.end, line.bytes), (2, 5, &b"c"[..]));
}

/// `before`, then `fill` for `bytes` bytes, then `after`.
fn long(before: &'static [u8], fill: u8, bytes: u64, after: &'static [u8]) -> impl Read {
    before.chain(io::repeat(fill).take(bytes)).chain(after)
}

const MIB: u64 = 1024 * 1024;

#[test]
fn a_line_of_64_mib_is_read_in_less_than_3_mib() {
    let input = long(b"{\"data\":\"", b'x', 64 * MIB, b"\",\"a\":1}\n{}\n");
    let mut reader = LineReader::new(input);
    let PieceStep::Piece(line) = reader.step().unwrap() else {
        panic!("no line")
    };
    let value: serde_json::Value = serde_json::from_slice(line.bytes).unwrap();
    assert_eq!(value["a"], 1);
    let kept = value["data"].as_str().unwrap().len();
    assert!(kept < daybook_domain::limits::EVENT_TEXT, "{kept}");
    assert!(reader.held() < 3 * MIB as usize, "{}", reader.held());
    assert_eq!(steps(&mut reader).len(), 2);
}

#[test]
fn a_line_that_cannot_be_squeezed_is_passed_over() {
    let mut reader = LineReader::new(long(b"", b'x', 40 * MIB, b"\nnext\n"));
    let end = 40 * MIB + 1;
    assert_eq!(
        reader.step().unwrap(),
        PieceStep::TooLong {
            number: 1,
            end,
            length: 40 * MIB
        }
    );
    assert!(reader.held() < 18 * MIB as usize, "{}", reader.held());
    assert_eq!(
        steps(&mut reader),
        [format!("2@{}:next", end + 5), "end".to_owned()]
    );
    assert!(reader.held() < 3 * MIB as usize, "{}", reader.held());
}

#[test]
fn a_line_of_a_mebibyte_is_left_as_it_is() {
    let bytes = MIB - 2;
    let mut reader = LineReader::new(long(b"\"", b'x', bytes, b"\"\n"));
    let PieceStep::Piece(line) = reader.step().unwrap() else {
        panic!("no line")
    };
    assert_eq!(line.bytes.len() as u64, MIB);
    assert!(
        line.bytes[1..=bytes as usize]
            .iter()
            .all(|byte| *byte == b'x')
    );
}

proptest::proptest! {
    #[test]
    fn any_text_is_cut_as_its_lines_say(text in "[ab\r\n]{0,60}", at_once in 1_usize..9, offset in 0_usize..60) {
        let mut reader = LineReader::new(Dripping(text.as_bytes(), at_once));
        let read = steps(&mut reader);
        let whole = text.matches('\n').count();
        let expected: Vec<&str> = text.split('\n').take(whole).map(|line| line.strip_suffix('\r').unwrap_or(line)).collect();
        let lines: Vec<&str> = read[..whole].iter().map(|step| step.split_once(':').unwrap().1).collect();
        proptest::prop_assert_eq!(lines, expected);

        // Going on behind any line gives the rest.
        let starts: Vec<usize> = text.match_indices('\n').map(|(at, _)| at + 1).collect();
        if let Some((taken, start)) = starts.iter().enumerate().find(|(_, start)| **start >= offset) {
            let rest = resumed(&text, *start as u64, taken as u32 + 1);
            proptest::prop_assert_eq!(rest, &read[taken + 1..]);
        }
    }
}
