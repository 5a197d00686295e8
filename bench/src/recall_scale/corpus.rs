//! Generated notes and questions: words by their rank, the n-th about n times rarer than the first.

use daybook_domain::eligibility::Switches;
use daybook_domain::seams::Append;
use daybook_domain::trigger::DueLimits;
use daybook_domain::{
    EventId, NewEvent, Origin, SessionId, SessionKind, SessionMeta, Tenant, Timestamp,
};
use daybook_text::indexed_tokens;
use daybook_text::redact::Redactor;

use crate::transcripts::SeededNumbers;

/// Words that are known.
const VOCABULARY: usize = 10_000;
/// The commonest words, which questions are not looked up by.
const FUNCTION_WORDS: [&str; 40] = [
    "the", "of", "and", "to", "a", "in", "is", "it", "that", "for", "was", "on", "are", "with",
    "as", "be", "at", "this", "have", "from", "or", "by", "but", "not", "what", "were", "we",
    "when", "can", "an", "which", "their", "if", "will", "how", "they", "there", "has", "do",
    "you",
];
/// Sounds that other words are made of.
const CONSONANTS: &[u8] = b"bcdfghjklmnpqrstvwxz";
const VOWELS: &[u8] = b"aeiou";
const ENDINGS: [&str; 4] = ["", "n", "rk", "lto"];
const BEGINNING: Timestamp = Timestamp(1_772_000_000_000);

/// The vocabulary, the commonest first.
pub(crate) struct WordList(Vec<String>);

/// A question, and those of its words that say something.
pub(crate) struct GeneratedQuestion {
    pub(crate) text: String,
    pub(crate) words: Vec<String>,
}

impl WordList {
    pub(crate) fn new() -> Self {
        Self((0..VOCABULARY).map(word).collect())
    }

    /// The rank of a word, common ones often.
    fn rank(numbers: &mut SeededNumbers) -> usize {
        let share = (numbers.next() >> 11) as f64 / (1_u64 << 53) as f64;
        ((VOCABULARY as f64).powf(share) as usize).min(VOCABULARY) - 1
    }

    fn note(&self, numbers: &mut SeededNumbers) -> String {
        let words = 8 + numbers.next() % 33;
        let words: Vec<&str> = (0..words)
            .map(|_| self.0[Self::rank(numbers)].as_str())
            .collect();
        words.join(" ")
    }
}

fn word(rank: usize) -> String {
    if let Some(word) = FUNCTION_WORDS.get(rank) {
        return (*word).to_owned();
    }
    let syllable = |at: usize| {
        let consonant = CONSONANTS[at % CONSONANTS.len()];
        let vowel = VOWELS[at / CONSONANTS.len() % VOWELS.len()];
        [char::from(consonant), char::from(vowel)]
    };
    let sounds = syllable(rank % 100).into_iter().chain(syllable(rank / 100));
    sounds.chain(ENDINGS[rank % 4].chars()).collect()
}

/// Notes in sessions, made one session at a time.
pub(crate) struct NoteCorpus<'a> {
    words: &'a WordList,
    numbers: SeededNumbers,
    session: usize,
    left: usize,
}

impl<'a> NoteCorpus<'a> {
    pub(crate) fn new(words: &'a WordList, memories: usize) -> Self {
        Self {
            words,
            numbers: SeededNumbers(17),
            session: 0,
            left: memories,
        }
    }

    /// The next session's number and notes.
    pub(crate) fn next_session(&mut self) -> Option<(usize, Vec<String>)> {
        let wanted = 20 + self.numbers.next() as usize % 181;
        let notes = wanted.min(self.left);
        self.left -= notes;
        self.session += 1;
        let notes: Vec<String> = (0..notes)
            .map(|_| self.words.note(&mut self.numbers))
            .collect();
        (!notes.is_empty()).then_some((self.session, notes))
    }
}

/// Questions of 3 to 9 words, two of which at least say something.
pub(crate) fn questions(words: &WordList, questions: usize) -> Vec<GeneratedQuestion> {
    let mut numbers = SeededNumbers(71);
    let mut asked = Vec::with_capacity(questions);
    while asked.len() < questions {
        let length = 3 + numbers.next() % 7;
        let ranks: Vec<usize> = (0..length).map(|_| WordList::rank(&mut numbers)).collect();
        let telling = ranks.iter().filter(|rank| **rank >= FUNCTION_WORDS.len());
        let telling: Vec<String> = telling.map(|rank| words.0[*rank].clone()).collect();
        if telling.len() >= 2 {
            let all: Vec<&str> = ranks.iter().map(|rank| words.0[*rank].as_str()).collect();
            asked.push(GeneratedQuestion {
                text: all.join(" "),
                words: telling,
            });
        }
    }
    asked
}

/// An append of notes to a session that has `from` of them.
pub(crate) fn append_of(session: usize, from: usize, notes: &[String]) -> Append {
    let at = Timestamp(BEGINNING.0 + session as i64 * 3_600_000);
    let event = |(n, text): (usize, &String)| {
        let n = from + n;
        let origin = match n % 2 {
            0 => Origin::Human,
            _ => Origin::Assistant,
        };
        NewEvent {
            id: EventId::of(&[&session.to_le_bytes(), &n.to_le_bytes()]),
            line: u32::try_from(n + 1).unwrap_or(u32::MAX),
            origin,
            at: Timestamp(at.0 + n as i64 * 1_000),
            text: text.clone(),
            tokens: indexed_tokens(origin, text),
            tool: None,
            call: None,
            status: None,
            sidechain: false,
            place: None,
            retracts: Vec::new(),
            reports_external: false,
        }
    };
    Append {
        session: SessionMeta {
            venue: daybook_domain::Venue::default(),
            id: SessionId {
                tenant: Tenant::local(),
                agent: "bench".to_owned(),
                host_id: format!("session-{session}"),
            },
            kind: SessionKind::Root,
            memory_off: false,
            forked_from: None,
            user: None,
            surface: None,
        },
        events: notes.iter().enumerate().map(event).collect(),
        remotes: Vec::new(),
        source: None,
        import: None,
        patience: DueLimits::default(),
        urgent: None,
        switches: Switches::default(),
        rules: Redactor::standard().revision(),
        now: at,
    }
}
