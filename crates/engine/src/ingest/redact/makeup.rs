//! What a value is made of: the counts that tell drawn-at-random from written-by-a-person.
//!
//! A random string changes its kind of character every second byte, and joins letters that no
//! word joins; words and identifiers do neither. One pass over the bytes, no allocation.
//!
//! Not here: which counts make a secret. `value` decides.

/// Pairs of letters below which spelling tells nothing. Of random strings with as many, about nine
/// in ten are oddly spelled; of English words and names of programs, not one in a hundred.
const FEWEST_PAIRS: usize = 7;

/// Counts over the bytes of one value.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Makeup {
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
    /// Runs that a reader sees as one piece: `getToken2` has three.
    pub(super) pieces: usize,
    /// Places at which a letter touches a digit.
    pub(super) seams: usize,
    /// Length of the longest run without joiner, space or symbol.
    pub(super) longest_run: usize,
    /// Neighbours of which the second is a small letter.
    small: Pairs,
    /// Neighbours that are both capitals: an abbreviation, if there are small letters too.
    capital: Pairs,
}

/// Neighbouring letters, and how many of them words rarely join.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Pairs {
    all: usize,
    odd: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Lower,
    Upper,
    Digit,
    Joiner,
    Space,
    Symbol,
    Wide,
}

impl Makeup {
    pub(super) fn of(value: &[u8]) -> Self {
        let mut makeup = Self {
            len: value.len(),
            ..Self::default()
        };
        let mut before: Option<(u8, Kind)> = None;
        let mut run = 0;
        for &byte in value {
            let kind = kind(byte);
            makeup.count(kind);
            run = if is_alphanumeric(kind) { run + 1 } else { 0 };
            makeup.longest_run = makeup.longest_run.max(run);
            makeup.join(before, byte, kind);
            before = Some((byte, kind));
        }
        makeup
    }

    pub(super) fn letters(&self) -> usize {
        self.lower + self.upper
    }

    /// Whether letters follow each other as they do in no word, measured over [`FEWEST_PAIRS`] or more.
    pub(super) fn has_odd_spelling(&self) -> bool {
        let pairs = if self.lower == 0 {
            self.capital
        } else {
            self.small
        };
        pairs.all >= FEWEST_PAIRS && pairs.odd * 7 >= pairs.all * 2
    }

    fn count(&mut self, kind: Kind) {
        match kind {
            Kind::Lower => self.lower += 1,
            Kind::Upper => self.upper += 1,
            Kind::Digit => self.digits += 1,
            Kind::Joiner => self.joiners += 1,
            Kind::Space => self.spaces += 1,
            Kind::Symbol => self.symbols += 1,
            Kind::Wide => self.wide += 1,
        }
    }

    fn join(&mut self, before: Option<(u8, Kind)>, byte: u8, kind: Kind) {
        if !is_alphanumeric(kind) {
            return;
        }
        let Some((last, last_kind)) = before.filter(|(_, kind)| is_alphanumeric(*kind)) else {
            self.pieces += 1;
            return;
        };
        let touches_digit = (kind == Kind::Digit) != (last_kind == Kind::Digit);
        self.seams += usize::from(touches_digit);
        let new_word = last_kind == Kind::Lower && kind == Kind::Upper;
        self.pieces += usize::from(touches_digit || new_word);
        let pairs = match (last_kind, kind) {
            (Kind::Upper, Kind::Upper) => &mut self.capital,
            (Kind::Lower | Kind::Upper, Kind::Lower) => &mut self.small,
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

fn kind(byte: u8) -> Kind {
    match byte {
        b'a'..=b'z' => Kind::Lower,
        b'A'..=b'Z' => Kind::Upper,
        b'0'..=b'9' => Kind::Digit,
        b'-' | b'_' | b'.' | b'/' | b':' => Kind::Joiner,
        0x80.. => Kind::Wide,
        _ if byte.is_ascii_punctuation() => Kind::Symbol,
        _ => Kind::Space,
    }
}

fn is_alphanumeric(kind: Kind) -> bool {
    matches!(kind, Kind::Lower | Kind::Upper | Kind::Digit)
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
