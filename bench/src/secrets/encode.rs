//! Encodings in which a secret may be written.

/// Percent-encoded, as in a URL.
pub(super) fn percent_encoded(text: &str) -> String {
    let encoded = text.bytes().map(|byte| match byte {
        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
            char::from(byte).to_string()
        }
        byte => format!("%{byte:02X}"),
    });
    encoded.collect()
}

/// What is sure of the Base64 of any text that holds `text` behind `3n + shift` bytes.
pub(super) fn base64_within(text: &str, shift: usize) -> String {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let whole = text.as_bytes().get((3 - shift) % 3..).unwrap_or_default();
    let encoded = whole.chunks_exact(3).flat_map(|three| {
        let bits = three
            .iter()
            .fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte));
        [18, 12, 6, 0].map(|at| char::from(DIGITS[(bits >> at & 63) as usize]))
    });
    encoded.collect()
}
