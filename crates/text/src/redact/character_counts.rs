//! Counts the kinds of characters in a value, which distinguish random strings from written ones.
//!
//! A random string changes its kind of character every second byte, and joins letters that no
//! word joins; words and identifiers do neither. One pass over the bytes, no allocation.
//!
//! Not here: which counts make a secret. `value` decides.

/// Fewest pairs of letters from which spelling can be judged. Of random strings with as many, about nine
/// in ten are oddly spelled; of English words and names of programs, not one in a hundred.
const FEWEST_PAIRS: usize = 7;

/// Counts over the bytes of one value.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct CharacterCounts {
    pub(super) len: usize,
    pub(super) lower: usize,
    pub(super) upper: usize,
    pub(super) digits: usize,
    /// `-`, `_`, `.`, `/` and `:`, which join words in names and paths.
    pub(super) joiners: usize,
    /// White space of any kind.
    pub(super) spaces: usize,
    /// Other ASCII punctuation.
    pub(super) symbols: usize,
    /// Bytes of characters outside ASCII.
    pub(super) wide: usize,
    /// Runs of one kind of character, as a reader would split them: `getToken2` has three.
    pub(super) pieces: usize,
    /// Places at which a letter touches a digit.
    pub(super) seams: usize,
    /// Length of the longest run without joiner, space or symbol.
    pub(super) longest_run: usize,
    /// Neighbours of which the second is a small letter.
    small: LetterPairs,
    /// Neighbours that are both capitals: an abbreviation, if there are small letters too.
    capital: LetterPairs,
}

/// Neighbouring letters, and how many of them words rarely join.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct LetterPairs {
    all: usize,
    odd: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum CharKind {
    Lower,
    Upper,
    Digit,
    Joiner,
    Space,
    Symbol,
    Wide,
}

impl CharacterCounts {
    pub(super) fn of(value: &[u8]) -> Self {
        let mut counts = Self {
            len: value.len(),
            ..Self::default()
        };
        let mut before: Option<(u8, CharKind)> = None;
        let mut run = 0;
        for &byte in value {
            let kind = kind(byte);
            counts.count(kind);
            run = if is_alphanumeric(kind) { run + 1 } else { 0 };
            counts.longest_run = counts.longest_run.max(run);
            counts.join(before, byte, kind);
            before = Some((byte, kind));
        }
        counts
    }

    pub(super) fn letters(&self) -> usize {
        self.lower + self.upper
    }

    /// Whether the letters follow each other as in no word, measured over [`FEWEST_PAIRS`] or more.
    pub(super) fn has_odd_spelling(&self) -> bool {
        let pairs = if self.lower == 0 {
            self.capital
        } else {
            self.small
        };
        pairs.all >= FEWEST_PAIRS && pairs.odd * 7 >= pairs.all * 2
    }

    /// Like [`Self::has_odd_spelling`], with pairs of capitals counted among the others.
    pub(super) fn has_odd_spelling_in_any_case(&self) -> bool {
        let all = self.small.all + self.capital.all;
        let odd = self.small.odd + self.capital.odd;
        all >= FEWEST_PAIRS && odd * 7 >= all * 2
    }

    fn count(&mut self, kind: CharKind) {
        match kind {
            CharKind::Lower => self.lower += 1,
            CharKind::Upper => self.upper += 1,
            CharKind::Digit => self.digits += 1,
            CharKind::Joiner => self.joiners += 1,
            CharKind::Space => self.spaces += 1,
            CharKind::Symbol => self.symbols += 1,
            CharKind::Wide => self.wide += 1,
        }
    }

    fn join(&mut self, before: Option<(u8, CharKind)>, byte: u8, kind: CharKind) {
        if !is_alphanumeric(kind) {
            return;
        }
        let Some((last, last_kind)) = before.filter(|(_, kind)| is_alphanumeric(*kind)) else {
            self.pieces += 1;
            return;
        };
        let touches_digit = (kind == CharKind::Digit) != (last_kind == CharKind::Digit);
        self.seams += usize::from(touches_digit);
        let new_word = last_kind == CharKind::Lower && kind == CharKind::Upper;
        self.pieces += usize::from(touches_digit || new_word);
        let pairs = match (last_kind, kind) {
            (CharKind::Upper, CharKind::Upper) => &mut self.capital,
            (CharKind::Lower | CharKind::Upper, CharKind::Lower) => &mut self.small,
            _ => return,
        };
        pairs.all += 1;
        pairs.odd += usize::from(!is_common_pair(last, byte));
    }
}

/// Shannon entropy in bits per byte; 0 for an empty value, at most 8.
pub(super) fn entropy(value: &[u8]) -> f32 {
    let mut counts = [0_u32; 256];
    for &byte in value {
        counts[usize::from(byte)] += 1;
    }
    let len = value.len() as f32;
    counts
        .iter()
        .filter(|&&count| count > 0)
        .map(|&count| count as f32 / len)
        .map(|share| -share * share.log2())
        .sum()
}

fn kind(byte: u8) -> CharKind {
    match byte {
        b'a'..=b'z' => CharKind::Lower,
        b'A'..=b'Z' => CharKind::Upper,
        b'0'..=b'9' => CharKind::Digit,
        b'-' | b'_' | b'.' | b'/' | b':' => CharKind::Joiner,
        0x80.. => CharKind::Wide,
        _ if byte.is_ascii_punctuation() => CharKind::Symbol,
        _ => CharKind::Space,
    }
}

fn is_alphanumeric(kind: CharKind) -> bool {
    matches!(kind, CharKind::Lower | CharKind::Upper | CharKind::Digit)
}

/// For each letter, the letters that often follow it in words and in names of programs.
const FOLLOWERS: [&[u8]; 26] = [
    b"bcdfgiklmnprstuvwy",
    b"aceilorsu",
    b"acehiklorstuy",
    b"adegilorsu",
    b"abcdefghilmnopqrstuvwxy",
    b"aefilorstuy",
    b"aeghilnorsu",
    b"aeiortu",
    b"abcdefgklmnoprstvxz",
    b"aeous",
    b"eis",
    b"acdeilopstuvy",
    b"abeimopsu",
    b"acdefgiklnostuvy",
    b"abcdfgiklmnoprstuvwx",
    b"aehiloprstuy",
    b"u",
    b"acdefgiklmnoprstuvy",
    b"acehiklmnopstuy",
    b"acdefhilorstuwy",
    b"abcdefgilmnprst",
    b"aeio",
    b"aehinors",
    b"ceipt",
    b"imnps",
    b"aei",
];

fn is_common_pair(first: u8, second: u8) -> bool {
    let row = usize::from(first.to_ascii_lowercase() - b'a');
    FOLLOWERS[row].contains(&second.to_ascii_lowercase())
}
