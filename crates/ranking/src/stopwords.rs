//! Stop words and light words: the words that form a question without being its subject.
//!
//! A *stop word* is left out of a question unless nothing else remains. A *light word* is searched for but weighs
//! little: in a store of twenty memories `use` may be rarer than `database`, which is the subject.
//!
//! Texts are indexed with all their words: these lists may change without a rebuild.

use std::collections::HashSet;
use std::sync::LazyLock;

use daybook_domain::index::Terms;

use daybook_text::tokens::index_text;

static STOP_WORDS: LazyLock<HashSet<&str>> =
    LazyLock::new(|| words(include_str!("stopwords/stop.txt")).collect());

static LIGHT_STEMS: LazyLock<HashSet<String>> = LazyLock::new(|| {
    words(include_str!("stopwords/light.txt"))
        .map(index_text)
        .collect()
});

/// Words of questions in one language beside English.
struct QuestionWords {
    stop: HashSet<&'static str>,
    light: HashSet<&'static str>,
}

impl QuestionWords {
    fn of(file: &'static str) -> Self {
        let (stop, light) = file.split_once("[light]").unwrap_or((file, ""));
        let stop = stop.split_once("[stop]").map_or("", |(_, stop)| stop);
        Self {
            stop: words(stop).collect(),
            light: words(light).collect(),
        }
    }
}

static OTHER_LANGUAGES: LazyLock<[QuestionWords; 3]> = LazyLock::new(|| {
    [
        QuestionWords::of(include_str!("stopwords/german.txt")),
        QuestionWords::of(include_str!("stopwords/spanish.txt")),
        QuestionWords::of(include_str!("stopwords/french.txt")),
    ]
});

/// The language of a question, as far as its function words tell.
///
/// Each language's words count in its own questions alone: `die` and `once` are content in English.
#[derive(Clone, Copy, Default)]
pub struct QuestionLanguage(Option<&'static QuestionWords>);

impl QuestionLanguage {
    /// The language of which a question has most function words; English, unless another has more.
    pub fn of(question: &str) -> Self {
        let low = question.to_lowercase();
        let words: Vec<&str> = low
            .split(|c: char| !c.is_alphanumeric())
            .filter(|word| !word.is_empty())
            .collect();
        let count = |list: &HashSet<&str>| words.iter().filter(|word| list.contains(*word)).count();
        let english = count(&STOP_WORDS);
        let others = OTHER_LANGUAGES.iter();
        let most = others.max_by_key(|language| count(&language.stop));
        Self(most.filter(|language| count(&language.stop) > english))
    }

    /// Whether a word, lower case and not stemmed, is not part of a question's subject.
    pub fn is_stop_word(self, word: &str) -> bool {
        is_stop_word(word) || self.0.is_some_and(|own| own.stop.contains(word))
    }

    /// Whether a word, lower case, is searched for but weighs little.
    pub fn is_light_word(self, word: &str) -> bool {
        self.0.is_some_and(|own| own.light.contains(word))
    }
}

/// The longest first, so that no word hides a longer one.
static UNSPACED_STOP_WORDS: LazyLock<Vec<&str>> = LazyLock::new(|| {
    let mut longest_first: Vec<&str> = words(include_str!("stopwords/unspaced.txt")).collect();
    longest_first.sort_by_key(|word| std::cmp::Reverse(word.len()));
    longest_first
});

/// Whether a word of a question, lower case and not stemmed, is not part of its subject.
pub fn is_stop_word(word: &str) -> bool {
    is_particle(word) || STOP_WORDS.contains(word)
}

/// Words with the stem of a light word that name things: an import is not important.
static NAMES_OF_THINGS: LazyLock<HashSet<&str>> =
    LazyLock::new(|| words(include_str!("stopwords/things.txt")).collect());

/// Whether a word, lower case and with its stem, is searched for but weighs little.
pub fn is_light_word(word: &str, stem: &str) -> bool {
    // A lone Han character between stop words is more often a verb like 用 than a subject.
    let is_lone_han = || stem.starts_with(|c| matches!(c, '\u{3400}'..='\u{9FFF}'));
    (LIGHT_STEMS.contains(stem) && !NAMES_OF_THINGS.contains(word)) || is_lone_han()
}

/// A question in NFKC with the function words of scripts without spaces blanked out; they would otherwise form pairs
/// with the words beside them.
pub fn blank_unspaced_stop_words(question: &str) -> String {
    let mut blanked = String::with_capacity(question.len());
    let mut rest = question;
    while let Some(c) = rest.chars().next() {
        let stop_at = |word: &&&str| !c.is_ascii() && rest.starts_with(**word);
        let width = match UNSPACED_STOP_WORDS.iter().find(stop_at) {
            Some(word) => {
                blanked.push(' ');
                word.len()
            }
            None => {
                blanked.push(c);
                c.len_utf8()
            }
        };
        rest = &rest[width..];
    }
    blanked
}

/// Whether a word is a lone character of a script without spaces, other than Han: what remains alone between stop
/// words is a particle.
fn is_particle(word: &str) -> bool {
    word.starts_with(|c| {
        matches!(c, '\u{E01}'..='\u{EDF}' | '\u{1000}'..='\u{109F}' | '\u{1780}'..='\u{17DD}')
            || matches!(c, '\u{3041}'..='\u{30FF}' | '\u{31F0}'..='\u{31FF}')
    })
}

/// The terms of words that mark a standing instruction (`always`, `never`).
pub fn instructive_terms() -> HashSet<u32> {
    words(include_str!("stopwords/instructive.txt"))
        .flat_map(terms_of)
        .collect()
}

fn terms_of(word: &str) -> Vec<u32> {
    Terms::of(&index_text(word)).0.to_vec()
}

fn words(list: &'static str) -> impl Iterator<Item = &'static str> {
    list.lines()
        .filter(|line| !line.starts_with('#'))
        .flat_map(str::split_whitespace)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_names_things_in_code_is_not_light() {
        let named = "import importer generate generator generic server severity variable application directory active \
            express event process state version record index query table function object class module package release \
            branch commit merge review deploy test build log cache queue worker thread session token user role request \
            response header cookie route handler hook plugin theme style layout button form field page menu dialog modal \
            alert notification instance interface driver parser reader writer loader runner tracker helper builder maker \
            reference relation relative operator operation action actor sender receiver maintainer container provider \
            consumer producer listener observer viewer editor explorer starter opener keeper holder pointer printer typing \
            contents partial particle partition origin";
        let light: Vec<&str> = named
            .split_whitespace()
            .filter(|word| is_light_word(word, &index_text(word)))
            .collect();
        assert_eq!(light, [""; 0]);
        assert!(is_light_word("important", &index_text("important")));
    }
}
