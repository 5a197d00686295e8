//! Plants random secrets, each in one place, and records which.
//!
//! Not here: the places (`transcripts`, `run`).

use super::families::{FAMILIES, Family, Secret, fits_a_name, generate};
use crate::transcripts::SeededNumbers;

/// A secret and where it was planted.
pub(super) struct PlantedSecret {
    /// Such as `codex: branch`.
    pub(super) place: &'static str,
    pub(super) secret: Secret,
}

/// Hands out secrets until there are enough. Each place gets one family after another.
pub(super) struct Planter {
    numbers: SeededNumbers,
    families: Vec<&'static Family>,
    names: Vec<&'static Family>,
    round: usize,
    most: usize,
    pub(super) planted: Vec<PlantedSecret>,
}

impl Planter {
    /// With all families if `families` is empty.
    pub(super) fn new(seed: u64, most: usize, families: &[&'static Family]) -> Self {
        let families = match families {
            [] => FAMILIES.iter().collect(),
            some => some.to_vec(),
        };
        let mut numbers = SeededNumbers(seed);
        Self {
            round: numbers.below(families.len() as u64) as usize,
            numbers,
            names: families
                .iter()
                .copied()
                .filter(|it| fits_a_name(it))
                .collect(),
            families,
            most,
            planted: Vec::new(),
        }
    }

    pub(super) fn is_done(&self) -> bool {
        self.planted.len() >= self.most
    }

    /// Begins the next round: every place gets another family.
    pub(super) fn next_round(&mut self) {
        self.round += 1;
    }

    /// A text with a secret.
    pub(super) fn text(&mut self, place: &'static str) -> String {
        let Some(secret) = self.plant(place, false) else {
            return "the tide is high at nine".to_owned();
        };
        let (before, after) = (self.numbers.sentence(5), self.numbers.sentence(4));
        match self.numbers.below(3) {
            0 => secret,
            1 => format!("{before}\n{secret}\n{after}"),
            _ => format!("{before} {secret} {after}"),
        }
    }

    /// A name that is a secret, or an assignment of one: of a folder, a branch, a tool.
    pub(super) fn name(&mut self, place: &'static str) -> String {
        let plain = || "tidepool".to_owned();
        self.plant(place, true).unwrap_or_else(plain)
    }

    /// An id of no interest.
    pub(super) fn id(&mut self) -> String {
        format!("{:016x}", self.numbers.next())
    }

    fn plant(&mut self, place: &'static str, is_name: bool) -> Option<String> {
        let families = if is_name { &self.names } else { &self.families };
        if self.is_done() || families.is_empty() {
            return None;
        }
        // Places differ in their families, so that few cases show many pairs.
        let shift: usize = place.bytes().map(usize::from).sum();
        let family = families[(self.round + shift) % families.len()];
        let secret = generate(&mut self.numbers, family);
        let text = secret.text.clone();
        self.planted.push(PlantedSecret { place, secret });
        Some(text)
    }
}
