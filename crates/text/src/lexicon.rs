//! The cue words of each language, as data.
//!
//! A cue is a pattern with a weight, in a section named for its meaning. The files beside this
//! one hold them; a language is added by adding a file. Text in a language without a file gets no
//! lexicon, so that it yields no observations.
//!
//! Not here: the rules that use cues (`speech_acts` and its neighbours).

use std::collections::{HashMap, HashSet};
use std::sync::{LazyLock, OnceLock};

use foldhash::fast::RandomState;
use miniz_oxide::inflate::decompress_to_vec_zlib;

use crate::han::is_chinese;
use crate::lazy_pattern::{LATIN, with_word_letters};
use crate::pattern_set::PatternSet;

/// The languages of the extractive extractor, best first. Sessions in other languages get
/// a digest, but no observations.
pub const LANGUAGES: [&str; 5] = ["en", "de", "fr", "es", "zh"];

/// The compressed file of each of [`LANGUAGES`].
const FILES: [&[u8]; 5] = [
    include_bytes!(concat!(env!("OUT_DIR"), "/en.txt.zlib")),
    include_bytes!(concat!(env!("OUT_DIR"), "/de.txt.zlib")),
    include_bytes!(concat!(env!("OUT_DIR"), "/fr.txt.zlib")),
    include_bytes!(concat!(env!("OUT_DIR"), "/es.txt.zlib")),
    include_bytes!(concat!(env!("OUT_DIR"), "/zh.txt.zlib")),
];

/// Letters and marks that tell each of [`LANGUAGES`] from the others; they count as one common word.
const LETTERS: [&str; 5] = ["", "äöüß", "çèêëîïôûœ", "ñ¿¡áíóú", ""];

/// Fewest words of a text whose language is determined by their share of common words.
const WORDS_TO_JUDGE: usize = 4;
/// Share of common words, in percent, below which a longer text is in no supported language.
const USUAL_SHARE: usize = 12;

/// Weight that each further cue adds to the strongest, for at most two.
const FURTHER: i32 = 10;

/// The meaning of a cue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cue {
    /// Corrects, forbids or insists.
    Correction,
    /// States a standing wish.
    Preference,
    /// The wish holds everywhere.
    General,
    /// Only looks like a standing wish.
    NotStanding,
    /// Decides how something is to be.
    Decision,
    /// Only looks like a decision.
    NotDecision,
    /// States a standing fact.
    Fact,
    /// How a statement of how things are goes on after its subject: "lives in …", "goes through …".
    States,
    /// Words that are no subject that stands alone.
    NoSubject,
    /// Only looks like a standing fact.
    NotFact,
    /// Leaves something for later.
    Later,
    /// Only looks as if left for later.
    NotLater,
    /// About the moment alone.
    Momentary,
    /// Asks for a piece of work.
    Request,
    /// Begins an order: a piece of work that is done once.
    Order,
    /// Makes an order one that holds from now on: "whenever", "before every …".
    Lasting,
    /// Begins a question, or what only a question goes on from.
    Asks,
    /// Asks whether or not a mark says so: "how would I have known this".
    AsksPlainly,
    /// Asks for a thing, a time, a place, a person or a number, or which of two: what answers it needs it to be understood.
    AsksOpenly,
    /// Agrees.
    Assent,
    /// States that it worked.
    Praise,
    /// States that it did not work.
    Trouble,
    /// Reports misbehaviour of what is being built.
    Complaint,
    /// Asks to look into what it reports.
    Report,
    /// The agent admits that the person is right.
    Concession,
    /// The agent explains a failure.
    Cause,
    /// The agent proposes how something should be.
    Proposal,
    /// The agent offers a next step that decides nothing.
    Offer,
    /// An option that only says which step comes next, or who takes it.
    Errand,
    /// Words that only the conversation around them explains.
    Pointer,
    /// Whole message that asks for nothing new: thanks, assent, "commit this".
    Closing,
    /// Fillers before a statement.
    Filler,
    /// Asks whether something habitual was done.
    Reminder,
    /// Something habitual that people insist on.
    Practice,
    /// An error that only shows a slip of the pen.
    Slip,
    /// Asks for what people ask for out of habit; a cue's weight is its number among [`HABITS`], from 1.
    Habit,
}

/// What people ask for out of habit. A name is stored with each request, so that none may change.
pub const HABITS: [&str; 12] = [
    "tests",
    "documentation",
    "review",
    "no duplication",
    "plan first",
    "draft",
    "double-check",
    "sub-agents",
    "filed issue",
    "own commits",
    "simplicity",
    "compatibility",
];

const SECTIONS: [(Cue, &str); 36] = [
    (Cue::Correction, "correction"),
    (Cue::Preference, "preference"),
    (Cue::General, "general"),
    (Cue::NotStanding, "not_standing"),
    (Cue::Decision, "decision"),
    (Cue::NotDecision, "not_decision"),
    (Cue::Fact, "fact"),
    (Cue::States, "states"),
    (Cue::NoSubject, "no_subject"),
    (Cue::NotFact, "not_fact"),
    (Cue::Later, "later"),
    (Cue::NotLater, "not_later"),
    (Cue::Momentary, "momentary"),
    (Cue::Request, "request"),
    (Cue::Order, "order"),
    (Cue::Lasting, "lasting"),
    (Cue::Asks, "asks"),
    (Cue::AsksPlainly, "asks_plainly"),
    (Cue::AsksOpenly, "asks_openly"),
    (Cue::Assent, "assent"),
    (Cue::Praise, "praise"),
    (Cue::Trouble, "trouble"),
    (Cue::Complaint, "complaint"),
    (Cue::Report, "report"),
    (Cue::Concession, "concession"),
    (Cue::Cause, "cause"),
    (Cue::Proposal, "proposal"),
    (Cue::Offer, "offer"),
    (Cue::Errand, "errand"),
    (Cue::Pointer, "pointer"),
    (Cue::Closing, "closing"),
    (Cue::Filler, "filler"),
    (Cue::Reminder, "reminder"),
    (Cue::Practice, "practice"),
    (Cue::Slip, "slip"),
    (Cue::Habit, "habit"),
];

/// Words that people also type without their apostrophe. "its" and "were" are other words.
const APOSTROPHES: [&str; 7] = [
    "n't", "that's", "what's", "let's", "i'm", "you're", "they're",
];

/// What `{amount}` stands for in a pattern: a number with its unit.
const AMOUNT: &str = r"\d+(?:[.,]\d+)? ?(?:ms|s|secs?|seconds?|mins?|minutes?|h|hrs?|hours?|days?|weeks?|months?|[kmgt]i?b|%|percent|threads?|workers?|replicas?|retries|users|rows|words|pages|seats|bpm|fps|px|km|kg|euros?|dollars?)";

/// A pattern that matches such words with and without their apostrophe.
fn without_apostrophe(pattern: &str) -> String {
    APOSTROPHES
        .iter()
        .fold(pattern.to_owned(), |pattern, word| {
            pattern.replace(word, &word.replace('\'', "'?"))
        })
}

/// The cues of one section. Patterns are built when first needed: most windows need few of them.
#[derive(Debug)]
struct CueSet {
    /// What each pattern begins with.
    beginning: &'static str,
    lines: Vec<(i32, &'static str)>,
    set: OnceLock<PatternSet>,
}

impl CueSet {
    /// Lines of weights and patterns. What all patterns of a section begin with has `=` for a weight, which is 0 here.
    fn of(mut lines: Vec<(i32, &'static str)>) -> Self {
        let beginning = lines.iter().find(|(weight, _)| *weight == 0);
        let beginning = beginning.map_or("", |(_, beginning)| beginning);
        lines.retain(|(weight, _)| *weight != 0);
        Self {
            beginning,
            lines,
            set: OnceLock::new(),
        }
    }

    fn set(&self) -> &PatternSet {
        let patterns = || {
            self.lines
                .iter()
                .map(|(_, pattern)| {
                    format!("{}{pattern}", self.beginning).replace("{amount}", AMOUNT)
                })
                .map(|pattern| without_apostrophe(&with_word_letters(&pattern, LATIN)))
        };
        self.set.get_or_init(|| PatternSet::new(patterns()))
    }

    fn hits(&self, low: &str) -> impl Iterator<Item = usize> {
        self.set().hits(low)
    }

    /// The byte range of pattern `i` in `low`.
    fn place(&self, i: usize, low: &str) -> Option<(usize, usize)> {
        let found = self.set().pattern(i).find(low)?;
        Some((found.start(), found.end()))
    }
}

/// The cue words of one language.
#[derive(Debug)]
pub struct Lexicon {
    function: HashSet<&'static str>,
    common: HashSet<&'static str>,
    sections: Vec<CueSet>,
}

impl Lexicon {
    fn parse(file: &'static str) -> Self {
        let (mut function, mut common) = (HashSet::new(), HashSet::new());
        let mut words = &mut function;
        let mut lines: Vec<Vec<(i32, &'static str)>> = vec![Vec::new(); SECTIONS.len()];
        let mut section = None;
        for line in file
            .lines()
            .filter(|l| !l.is_empty() && !l.starts_with('#'))
        {
            if let Some(name) = line.strip_prefix('[').and_then(|l| l.strip_suffix(']')) {
                section = SECTIONS.iter().position(|(_, n)| *n == name);
                words = if name == "common" {
                    &mut common
                } else {
                    &mut function
                };
            } else if let Some(at) = section {
                let (weight, pattern) = line.split_once(' ').unwrap_or(("0", line));
                lines[at].push((weight.parse().unwrap_or(0), pattern));
            } else {
                words.extend(line.split(' '));
            }
        }
        Self {
            function,
            common,
            sections: lines.into_iter().map(CueSet::of).collect(),
        }
    }

    fn cues(&self, cue: Cue) -> &CueSet {
        let at = SECTIONS.iter().position(|(c, _)| *c == cue);
        &self.sections[at.expect("every cue has a section")]
    }

    /// Weight of the strongest cue of this kind in `low`, plus `FURTHER` for each further one.
    pub fn weight(&self, cue: Cue, low: &str) -> i32 {
        let cues = self.cues(cue);
        let hits: Vec<i32> = cues.hits(low).map(|i| cues.lines[i].0).collect();
        match hits.iter().max() {
            Some(most) => most + FURTHER * i32::try_from(hits.len() - 1).unwrap_or(0).min(2),
            None => 0,
        }
    }

    /// Whether any cue of this kind is in `low`.
    pub fn has_cue(&self, cue: Cue, low: &str) -> bool {
        self.cues(cue).hits(low).next().is_some()
    }

    /// Weight and position of the strongest cue of this kind in `low`; the last of equals.
    pub fn strongest(&self, cue: Cue, low: &str) -> Option<(i32, usize)> {
        let cues = self.cues(cue);
        cues.hits(low)
            .filter_map(|i| Some((cues.lines[i].0, cues.place(i, low)?.0)))
            .max()
    }

    /// The byte range of the first cue of this kind in `low`.
    pub fn find(&self, cue: Cue, low: &str) -> Option<(usize, usize)> {
        let cues = self.cues(cue);
        cues.hits(low).filter_map(|i| cues.place(i, low)).min()
    }

    /// What `low` asks for out of habit, of [`HABITS`].
    pub fn habit(&self, low: &str) -> Option<&'static str> {
        let cues = self.cues(Cue::Habit);
        let first = cues.hits(low).map(|i| cues.lines[i].0).min()?;
        HABITS.get(usize::try_from(first - 1).ok()?).copied()
    }

    /// The number of a cue of this kind in `low`: texts with the same number are about the same thing.
    pub fn which(&self, cue: Cue, low: &str) -> Option<usize> {
        self.cues(cue).hits(low).next()
    }

    /// Whether `word` is common in the language.
    pub fn is_common_word(&self, word: &str) -> bool {
        self.function.contains(word) || self.common.contains(word)
    }

    /// Whether `word` is a function word.
    pub fn is_function_word(&self, word: &str) -> bool {
        self.function.contains(word)
    }
}

/// The text of a file, which the program keeps until it ends.
fn text_of(file: &[u8]) -> &'static str {
    let text = decompress_to_vec_zlib(file).expect("the build compressed it");
    String::from_utf8(text).expect("it is a text").leak()
}

static LEXICONS: LazyLock<Vec<Lexicon>> = LazyLock::new(|| {
    let parse = |file: &&[u8]| Lexicon::parse(text_of(file));
    FILES.iter().map(parse).collect()
});

/// The languages in which a word is common, so that each word of a text is looked up once.
static COMMON_IN: LazyLock<HashMap<&str, [bool; LANGUAGES.len()], RandomState>> =
    LazyLock::new(|| {
        let mut common: HashMap<&str, [bool; LANGUAGES.len()], RandomState> = HashMap::default();
        for (language, lexicon) in LEXICONS.iter().enumerate() {
            for word in lexicon.function.iter().chain(&lexicon.common) {
                common.entry(word).or_default()[language] = true;
            }
        }
        common
    });

/// The English lexicon: the language of most agents' answers and tools' output.
pub fn english() -> &'static Lexicon {
    &LEXICONS[0]
}

/// Whether this is the lexicon of German, which writes every noun with a capital.
pub fn is_german(lexicon: &Lexicon) -> bool {
    std::ptr::eq(lexicon, &LEXICONS[1])
}

/// The lexicon of `low`'s language; `None` if it is none of [`LANGUAGES`].
pub fn lexicon_of(low: &str) -> Option<&'static Lexicon> {
    if is_chinese(low) {
        return Some(&LEXICONS[4]);
    }
    let words = low
        .split(|c: char| !c.is_alphanumeric() && c != '\'')
        .filter(|word| word.chars().any(char::is_alphabetic));
    let (mut count, mut is_foreign) = (0, false);
    let mut common = [0; LANGUAGES.len()];
    for word in words {
        count += 1;
        is_foreign |= word.chars().any(|c| c as u32 > 0x24F);
        let of = COMMON_IN.get(word).copied().unwrap_or_default();
        for (common, is_common) in common.iter_mut().zip(of) {
            *common += usize::from(is_common);
        }
    }
    let (mut best, mut most) = (0, common[0]);
    for (language, letters) in LETTERS.iter().enumerate() {
        let own = usize::from(low.contains(|c| letters.contains(c)));
        if common[language] + own > most {
            (best, most) = (language, common[language] + own);
        }
    }
    let is_known = match count < WORDS_TO_JUDGE {
        true => !is_foreign,
        false => common[best] * 100 >= count * USUAL_SHARE,
    };
    is_known.then(|| &LEXICONS[best])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_known_without_their_apostrophe() {
        let lexicon = &LEXICONS[0];
        for low in ["don't rename the fields", "dont rename the fields"] {
            assert!(lexicon.weight(Cue::Correction, low) >= 50, "{low}");
        }
        assert_eq!(
            without_apostrophe(r"\b(don't|it's)\b"),
            r"\b(don'?t|it's)\b"
        );
    }

    #[test]
    fn every_file_holds_only_known_sections_and_sound_patterns() {
        for file in FILES {
            for line in text_of(file).lines().filter(|l| l.starts_with('[')) {
                let name = line.trim_matches(['[', ']']);
                assert!(
                    ["function", "common"].contains(&name)
                        || SECTIONS.iter().any(|(_, n)| *n == name),
                    "{name}"
                );
            }
        }
        assert_eq!(LEXICONS.len(), LANGUAGES.len());
        for cues in LEXICONS.iter().flat_map(|lexicon| &lexicon.sections) {
            assert_eq!(
                cues.hits("").next(),
                None,
                "{:?} are in everything",
                cues.lines
            );
            assert!(cues.lines.iter().all(|(weight, _)| *weight > 0));
        }
        for lexicon in LEXICONS.iter() {
            let numbers = lexicon.cues(Cue::Habit).lines.iter().map(|(n, _)| *n);
            assert!(numbers.max() <= i32::try_from(HABITS.len()).ok());
        }
    }

    #[test]
    fn what_people_ask_for_out_of_habit_has_a_name() {
        for (message, habit) in [
            ("can we add tests for this?", Some("tests")),
            ("we didn't write or change any tests?", Some("tests")),
            ("do we have test coverage for the new logic?", Some("tests")),
            ("the tests are failing, can you fix them?", None),
            ("run the tests", None),
            ("can you review the changes in this branch?", Some("review")),
            ("is this code duplicated now?", Some("no duplication")),
            ("push and draft pr please", Some("draft")),
            ("haben wir dafür schon tests?", Some("tests")),
            (
                "kannst du die änderungen in diesem branch durchsehen?",
                Some("review"),
            ),
            ("¿puedes añadir pruebas para esto?", Some("tests")),
            ("revisa los cambios de esta rama", Some("review")),
            ("peux-tu ajouter des tests pour ça ?", Some("tests")),
            ("给这个功能加几个测试", Some("tests")),
            ("帮我审查一下这个分支的改动", Some("review")),
        ] {
            let lexicon = lexicon_of(message).expect("a supported language");
            assert_eq!(lexicon.habit(message), habit, "{message}");
        }
    }

    #[test]
    fn a_language_without_a_file_has_no_lexicon() {
        assert!(lexicon_of("we always write the tests first").is_some());
        assert!(lexicon_of("wir schreiben die tests immer zuerst").is_some());
        assert!(lexicon_of("minden változtatáshoz először teszteket írunk").is_none());
        assert!(lexicon_of("テストを先に書いてください").is_none());
    }
}
