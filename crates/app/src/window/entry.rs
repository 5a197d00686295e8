//! Codes by which `daybook open` brings a person in: made by who can read the token, good for a minute, and once.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::Duration;

use anyhow::Result;
use daybook_domain::Timestamp;

use crate::process::random_bytes;

/// How long a code is good.
const GOOD: Duration = Duration::from_secs(60);
/// What the key of codes is made for.
const KEY: &str = "daybook window entry";

/// The signature of a text under a key that is made from a secret for one purpose, in hexadecimal digits.
pub(crate) fn keyed(purpose: &str, secret: &str, text: &str) -> String {
    let key = blake3::derive_key(purpose, secret.as_bytes());
    blake3::keyed_hash(&key, text.as_bytes())
        .to_hex()
        .to_string()
}

/// A code that is genuine and still good.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct EntryCode {
    nonce: String,
    until: Timestamp,
}

impl EntryCode {
    /// A new code.
    pub(crate) fn make(secret: &str, now: Timestamp) -> Result<String> {
        let nonce = blake3::hash(&random_bytes::<16>()?).to_hex();
        let until = now.0.saturating_add(GOOD.as_millis() as i64);
        let signed = format!("{until}.{nonce}");
        let mac = keyed(KEY, secret, &signed);
        Ok(format!("{signed}.{mac}"))
    }

    /// Reads a code; `None` if it was not made with this secret, or is too old.
    pub(crate) fn read(text: &str, secret: &str, now: Timestamp) -> Option<Self> {
        let (signed, mac) = text.rsplit_once('.')?;
        let (until, nonce) = signed.split_once('.')?;
        let made = blake3::Hash::from_hex(keyed(KEY, secret, signed)).ok()?;
        // Hashes are compared in constant time.
        let is_ours = blake3::Hash::from_hex(mac).ok()? == made;
        let until = Timestamp(until.parse().ok()?);
        (is_ours && now <= until).then(|| Self {
            nonce: nonce.to_owned(),
            until,
        })
    }
}

/// The codes that were used, for as long as they would be good.
#[derive(Debug, Default)]
pub(crate) struct UsedCodes(Mutex<BTreeMap<String, Timestamp>>);

impl UsedCodes {
    /// Uses a code. False if it was used before.
    pub(crate) fn take(&self, code: &EntryCode, now: Timestamp) -> bool {
        let mut used = self
            .0
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner());
        used.retain(|_, until| now <= *until);
        used.insert(code.nonce.clone(), code.until).is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_good_once_for_a_minute_and_with_its_secret() {
        let secret = "s".repeat(64);
        let made = EntryCode::make(&secret, Timestamp(1_000)).expect("a code");
        let read = |secret: &str, now: i64| EntryCode::read(&made, secret, Timestamp(now));
        assert_eq!(read(&secret, 61_001), None);
        assert_eq!(read(&"t".repeat(64), 2_000), None);
        assert_eq!(
            EntryCode::read(&made.replace('.', ".0"), &secret, Timestamp(2_000)),
            None
        );
        let code = read(&secret, 61_000).expect("a good code");
        let used = UsedCodes::default();
        assert!(used.take(&code, Timestamp(2_000)));
        assert!(!used.take(&code, Timestamp(2_001)));
    }
}
