//! What people's memories came to.

use serde::Serialize;

use crate::dataset::Split;

/// Counts over the memories of one part, or of one person.
#[derive(Debug, Clone, Default, Serialize)]
pub struct PersonScore {
    /// Questions with an answer.
    pub questions: usize,
    /// Of these, those whose answer is shown of the first result.
    pub first: usize,
    /// The same, of one of the first three results.
    pub in_three: usize,
    /// Those of which one of the first ten results holds the answer, shown or not.
    pub in_ten: usize,
    /// Those whose first result is an outdated answer.
    pub outdated: usize,
    /// Questions about what was never discussed.
    pub never: usize,
    /// Of these, those with a likely answer nevertheless.
    pub likely: usize,
    /// Weight of the lines that a memory should have.
    pub wanted: u32,
    /// Weight of those that it has.
    pub found: u32,
    /// Weight of those that were learned, shown or not.
    pub learned: u32,
    /// Lines that memories have.
    pub lines: usize,
    /// Of these, those that should be there.
    pub useful: usize,
    /// Those that mislead.
    pub misleading: usize,
}

impl PersonScore {
    fn add(&mut self, other: &Self) {
        self.questions += other.questions;
        self.first += other.first;
        self.in_three += other.in_three;
        self.in_ten += other.in_ten;
        self.outdated += other.outdated;
        self.never += other.never;
        self.likely += other.likely;
        self.wanted += other.wanted;
        self.found += other.found;
        self.learned += other.learned;
        self.lines += other.lines;
        self.useful += other.useful;
        self.misleading += other.misleading;
    }
}

/// A question whose first result does not answer it.
#[derive(Debug, Clone, Serialize)]
pub struct WrongAnswer {
    /// The question.
    pub question: String,
    /// Its class.
    pub class: String,
    /// The rank of the first result that holds the answer; `None` beyond ten.
    pub rank: Option<usize>,
    /// What is shown of the first result.
    pub shown: String,
    /// What is shown of the result that holds the answer; `None` beyond ten.
    pub right: Option<String>,
}

/// A line that `MEMORY.md` should have and has not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MissingLine {
    /// What it says.
    pub says: String,
    /// Whether it was learned, and is not shown.
    pub is_learned: bool,
}

/// What one person's memory came to.
#[derive(Debug, Clone, Serialize)]
pub struct PersonReport {
    /// Their name.
    pub name: String,
    /// Their part.
    pub split: Split,
    /// The counts.
    pub score: PersonScore,
    /// Questions that the first result does not answer.
    pub wrong: Vec<WrongAnswer>,
    /// Lines that memory should have and has not.
    pub missing: Vec<MissingLine>,
    /// Lines that mislead, with why.
    pub misleading: Vec<(String, String)>,
    /// Lines that the key does not name.
    pub unnamed: Vec<String>,
}

/// What all memories came to.
#[derive(Debug, Clone, Default, Serialize)]
pub struct PeopleReport {
    /// Each person's.
    pub people: Vec<PersonReport>,
}

impl PeopleReport {
    /// The counts of all people.
    #[must_use]
    pub fn total(&self) -> PersonScore {
        let mut total = PersonScore::default();
        self.people
            .iter()
            .for_each(|person| total.add(&person.score));
        total
    }
}
