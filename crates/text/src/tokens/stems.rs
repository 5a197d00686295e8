//! Stems English words, with a cache.
//!
//! Most words of a text are among a few thousand, so a small direct-mapped cache answers nearly
//! all of them. It never changes an answer: a slot is used only for the very word that filled it.
//!
//! Not here: which tokens are stemmed; `tokens` decides that.

use rust_stemmers::{Algorithm, Stemmer};

/// Slots of the cache, 24 bytes each. More hold a larger vocabulary (a long conversation has some
/// 7,000 words) and leave less of the processor's own cache.
const SLOTS: usize = 16384;
/// Longest word that is stemmed, in bytes. Longer words are names in code, which hardly ever recur, and stemming
/// them costs more than all other words together.
const WORD_BYTES: usize = 16;
/// A stem is the beginning of its word and at most this much of its own (`happy` → `happi`).
const TAIL_BYTES: usize = 4;

/// Stems lower-case ASCII words (Porter 2).
pub(super) struct Stems {
    stemmer: Stemmer,
    slots: Box<[Slot]>,
    assembled: String,
}

/// A word, eight bytes to a number.
type Key = [u64; WORD_BYTES / 8];

#[derive(Clone, Copy, Default)]
struct Slot {
    /// Zero in an empty slot.
    word: Key,
    kept: u8,
    tail_len: u8,
    tail: [u8; TAIL_BYTES],
}

impl Stems {
    pub(super) fn new() -> Self {
        Self {
            stemmer: Stemmer::create(Algorithm::English),
            slots: vec![Slot::default(); SLOTS].into_boxed_slice(),
            assembled: String::new(),
        }
    }

    /// The stem of `word`, which must be ASCII letters in lower case.
    pub(super) fn stem<'a>(&'a mut self, word: &'a str) -> &'a str {
        let Some(key) = pack(word) else {
            return word;
        };
        let at = slot_of(key);
        if self.slots[at].word != key {
            let stem = self.stemmer.stem(word);
            let Some(slot) = Slot::of_word(key, word, &stem) else {
                self.assembled.clear();
                self.assembled.push_str(&stem);
                return &self.assembled;
            };
            self.slots[at] = slot;
        }
        let slot = self.slots[at];
        let kept = &word[..usize::from(slot.kept)];
        if slot.tail_len == 0 {
            return kept;
        }
        self.assembled.clear();
        self.assembled.push_str(kept);
        let tail = &slot.tail[..usize::from(slot.tail_len)];
        self.assembled
            .extend(tail.iter().map(|byte| char::from(*byte)));
        &self.assembled
    }
}

impl Slot {
    fn of_word(key: Key, word: &str, stem: &str) -> Option<Self> {
        let same = word
            .bytes()
            .zip(stem.bytes())
            .take_while(|(a, b)| a == b)
            .count();
        let own = stem.as_bytes().get(same..)?;
        let mut tail = [0; TAIL_BYTES];
        tail.get_mut(..own.len())?.copy_from_slice(own);
        Some(Self {
            word: key,
            kept: u8::try_from(same).ok()?,
            tail_len: u8::try_from(own.len()).ok()?,
            tail,
        })
    }
}

fn pack(word: &str) -> Option<Key> {
    let mut key = Key::default();
    for (at, chunk) in word.as_bytes().chunks(8).enumerate() {
        // Shifting the bytes together is faster than copying them: most words have five or six.
        *key.get_mut(at)? = chunk
            .iter()
            .fold(0, |packed, byte| packed << 8 | u64::from(*byte));
    }
    Some(key)
}

fn slot_of([first, second]: Key) -> usize {
    let mixed = (first ^ second).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed >> 32) as usize % SLOTS
}
