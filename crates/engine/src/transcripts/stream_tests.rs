use super::*;

/// `text` as one Zstandard frame of raw blocks.
fn packed(text: &[u8]) -> Vec<u8> {
    let mut frame = MAGIC.to_vec();
    // No checksum, no size, a window of one mebibyte.
    frame.extend([0x00, 0x50]);
    let chunks: Vec<&[u8]> = text.chunks(100_000).collect();
    for (at, chunk) in chunks.iter().enumerate() {
        let last = u32::from(at + 1 == chunks.len());
        let header = (chunk.len() as u32) << 3 | last;
        frame.extend(&header.to_le_bytes()[..3]);
        frame.extend(*chunk);
    }
    frame
}

fn text() -> Vec<u8> {
    (0..50_000_u32)
        .flat_map(|number| format!("line {number}\n").into_bytes())
        .collect()
}

fn read(mut stream: TranscriptStream<impl Read>) -> Vec<u8> {
    let mut read = Vec::new();
    stream.read_to_end(&mut read).unwrap();
    read
}

#[test]
fn plain_text_is_read_as_it_is() {
    for text in [text(), b"ab".to_vec(), Vec::new()] {
        assert_eq!(read(TranscriptStream::new(&*text).unwrap()), text);
    }
}

#[test]
fn compressed_text_is_decoded() {
    assert_eq!(
        read(TranscriptStream::new(&*packed(&text())).unwrap()),
        text()
    );
}

#[test]
fn what_was_appended_to_a_compressed_file_is_read_too() {
    let file = [packed(b"one\n"), packed(b"two\n")].concat();
    assert_eq!(read(TranscriptStream::new(&*file).unwrap()), b"one\ntwo\n");
}

#[test]
fn offsets_count_the_text_itself() {
    let text = text();
    for file in [text.clone(), packed(&text)] {
        for offset in [0, 1, 77_777, text.len()] {
            let stream = TranscriptStream::at(Cursor::new(&file), offset as u64).unwrap();
            assert_eq!(read(stream), text[offset..], "{offset}");
        }
    }
}

#[test]
fn a_damaged_file_is_an_error_and_not_its_end() {
    let mut file = packed(&text());
    file.truncate(file.len() / 2);
    let mut stream = TranscriptStream::new(&*file).unwrap();
    assert!(io::copy(&mut stream, &mut io::sink()).is_err());
}
