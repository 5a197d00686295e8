//! Texts that the build compressed, so that the program is smaller.

use std::io::Read;

use flate2::read::ZlibDecoder;

/// The text that the build script compressed.
pub(crate) fn compressed_text(compressed: &[u8]) -> String {
    let mut text = String::new();
    ZlibDecoder::new(compressed)
        .read_to_string(&mut text)
        .expect("the build compressed a text");
    text
}
