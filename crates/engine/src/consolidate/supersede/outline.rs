//! What decides most pairs of statements without reading them: whether the later one can end the earlier one at all.
//!
//! Each statement is compared with hundreds of others, nearly always in vain. An outline fits in a line of the
//! processor's cache and holds the parts that the rules ask for as bits of their words: a phrase can be named in a
//! statement only if the phrase's bits are among the statement's.
//!
//! Not here: the rules themselves (`compare`). An outline may let a pair pass that no rule applies to, never the reverse;
//! a test compares both.

use daybook_domain::{ObservationKind as Kind, Trust};

use super::compare::Stated;
use crate::consolidate::content::ContentWords;
use crate::consolidate::statement::figures;

/// Most keys of an earlier statement in its outline.
const KEYS: usize = 3;
/// Most denials of an earlier statement in its outline.
const DENIALS: usize = 2;

/// The bit of all measures without a unit.
const WITHOUT_UNIT: u32 = 1;

/// An earlier statement in short. Bits of parts that it does not have are 0.
#[derive(Debug, Clone, Copy)]
pub(super) struct StatementOutline {
    words: u64,
    /// The keys of what it sets; of a value, its subject.
    keys: [u64; KEYS],
    /// The first words of its denials.
    denied: [u64; DENIALS],
    /// What its figures measure.
    measures: u32,
    kind: Kind,
    trust: Trust,
    /// It has more parts than there is room for, so that every comparison is left to the rules.
    is_cut: bool,
}

/// The later of two statements in short, with all its parts.
#[derive(Debug)]
pub(super) struct LaterOutline {
    words: u64,
    keys: Vec<u64>,
    denied: Vec<u64>,
    /// What it renames, replaces or takes back.
    ended: Vec<u64>,
    measures: u32,
    changes: bool,
    turns: bool,
    kind: Kind,
    trust: Trust,
}

impl StatementOutline {
    pub(super) fn of(one: &Stated<'_>) -> Self {
        let (keys, all_keys) = first_bits(keys(one));
        let denials = &one.statement.denials;
        let (denied, all_denied) = first_bits(denials.iter().map(|denial| denial.head.bits()));
        Self {
            words: one.statement.words.bits(),
            keys,
            denied,
            measures: measures(one),
            kind: one.merged.kind,
            trust: one.merged.origin.trust(),
            is_cut: !(all_keys && all_denied),
        }
    }
}

impl LaterOutline {
    pub(super) fn of(one: &Stated<'_>) -> Self {
        let statement = &*one.statement;
        let (renamed, replaced) = (&statement.renamed, &statement.replaced);
        let ended = renamed.iter().chain(replaced).chain(&statement.withdrawn);
        let denied = statement.denials.iter().map(|denial| &denial.head);
        Self {
            words: statement.words.bits(),
            keys: keys(one).collect(),
            denied: denied.map(ContentWords::bits).collect(),
            ended: ended.map(ContentWords::bits).collect(),
            measures: measures(one),
            changes: statement.changes,
            turns: statement.turns,
            kind: one.merged.kind,
            trust: one.merged.origin.trust(),
        }
    }

    /// Whether it can end the validity of any other statement.
    pub(super) fn may_end_any(&self) -> bool {
        !matches!(self.kind, Kind::OpenEnd | Kind::Fix)
    }

    /// Whether it may end the validity of `earlier`.
    pub(super) fn may_end(&self, earlier: &StatementOutline) -> bool {
        // A decision may end what is more trusted: that is left to the rules.
        if self.kind != Kind::Decision && self.trust < earlier.trust {
            return false;
        }
        let ends = |phrase: &u64| is_among(*phrase, earlier.words);
        match (self.kind, earlier.kind) {
            (Kind::OpenEnd | Kind::Fix, _) | (_, Kind::Fix) => false,
            (_, Kind::OpenEnd) => self.ended.iter().any(ends),
            (Kind::Value, Kind::Value) => self.keys == earlier.keys[..1],
            (Kind::Value, _) | (_, Kind::Value) => self.measures & earlier.measures != 0,
            _ => {
                earlier.is_cut
                    || (self.turns && self.words & earlier.words != 0)
                    || self.measures & earlier.measures != 0
                    || self.ended.iter().any(ends)
                    || self.denied.iter().any(ends)
                    || earlier
                        .denied
                        .iter()
                        .any(|head| is_among(*head, self.words))
                    || self.keys.iter().any(|key| self.may_set(*key, earlier))
            }
        }
    }

    /// Whether the earlier statement may set what has this key.
    fn may_set(&self, key: u64, earlier: &StatementOutline) -> bool {
        let mut before = earlier.keys.iter();
        before.any(|before| {
            let is_part = self.changes && (is_among(key, *before) || is_among(*before, key));
            key != 0 && (key == *before || is_part)
        })
    }
}

fn keys<'s>(one: &'s Stated<'_>) -> impl Iterator<Item = u64> + 's {
    // A value is about its subject, and sets nothing else.
    let settings = one.statement.settings().map(|set| set.key.bits());
    let subject = (one.merged.kind == Kind::Value).then(|| one.subject.bits());
    subject.into_iter().chain(settings)
}

/// What a statement's figures measure, as bits. A bare number may measure whatever has no unit.
fn measures(one: &Stated<'_>) -> u32 {
    let keys = one.statement.figures.iter().map(|figure| &figure.key);
    let bits = keys.map(|key| match figures::has_unit(key) {
        true => (key.bits() ^ (key.bits() >> 32)) as u32,
        false => WITHOUT_UNIT,
    });
    bits.fold(0, |all, bits| all | bits)
}

/// The first of some bits, and whether they are all.
fn first_bits<const MOST: usize>(mut bits: impl Iterator<Item = u64>) -> ([u64; MOST], bool) {
    let mut first = [0; MOST];
    for (place, bits) in first.iter_mut().zip(&mut bits) {
        *place = bits;
    }
    (first, bits.next().is_none())
}

/// Whether all of a phrase's bits, and at least one, are among those of other words.
fn is_among(phrase: u64, words: u64) -> bool {
    phrase != 0 && phrase & !words == 0
}
