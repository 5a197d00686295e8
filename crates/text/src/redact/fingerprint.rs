//! Marks the same secret with the same letters, so that a reader sees that two places hold one secret.
//!
//! The letters depend on a key that never leaves its data folder. They are few on purpose: they tell the secrets of one
//! memory apart, and confirm next to no guess of a weak one, even with the key.

use std::fmt;

/// Letters and digits that are not taken for each other, 32 of them.
const LETTERS: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";
/// Letters of a fingerprint, of 5 bits each.
const LENGTH: usize = 4;

/// The key of one data folder's fingerprints: 32 bytes drawn at random. It is never shown.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct FingerprintKey(pub [u8; 32]);

impl FingerprintKey {
    /// `k3x9`
    pub(super) fn fingerprint(&self, secret: &[u8]) -> String {
        let bits = self.bits(b"secret", secret);
        let letter = |place: usize| LETTERS[(bits >> (5 * place)) as usize % LETTERS.len()];
        (0..LENGTH).map(|place| char::from(letter(place))).collect()
    }

    /// 32 bits that stand for `text`, different for each `purpose`.
    pub(super) fn bits(&self, purpose: &[u8], text: &[u8]) -> u32 {
        let mut hasher = blake3::Hasher::new_keyed(&self.0);
        hasher.update(purpose).update(&[0]).update(text);
        let [a, b, c, d, ..] = *hasher.finalize().as_bytes();
        u32::from_le_bytes([a, b, c, d])
    }
}

impl fmt::Debug for FingerprintKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FingerprintKey(…)")
    }
}
