//! Tells a question for what was done in a period, such as "what did we do yesterday?", from others.
//!
//! Not here: the period itself (`dates`), and what answers the question (`diary`).

use std::sync::LazyLock;

use daybook_ranking::dates::named_days;
use daybook_ranking::query::Query;
use daybook_ranking::question_kind::matches_any;
use daybook_ranking::stopwords::is_stop_word;
use daybook_text::lazy_pattern::LazyPattern;
use daybook_text::tokens::index_text;
use jiff::civil::Date;

/// Least share of what else the question is about that an entry names.
const LEAST_SHARE: f64 = 0.6;

static ASKS: LazyLock<Vec<LazyPattern>> = LazyLock::new(|| {
    [
        r"^(?:so |and )?what (?:all |else )?(?:did|have|has|had|were|was) (?:i|we|you|they|the agents?|everyone) (?:\S+ )?(?:do|done|doing|work(?:ed|ing)?|get done|got done|accomplish(?:ed)?|achieved?|finish(?:ed)?|complete[d]?|ship(?:ped)?|commit(?:ted)?|decided?|learn(?:ed|t)?|changed?|fix(?:ed)?|buil[dt]|merged?|discuss(?:ed)?|talk(?:ed)?)\b",
        r"^(?:so |and )?what (?:have|has) (?:i|we|you|they) been (?:doing|working on|up to)\b",
        r"^(?:so |and )?what (?:all )?(?:was|were|got|has been|have been) (?:\S+ ){0,2}(?:done|decided|fixed|changed|committed|finished|completed|shipped|learned|learnt|discussed|merged|built|accomplished|achieved|worked on)\b",
        r"^(?:so |and )?what (?:happened|changed|went on|was going on|was i up to|were we up to)\b",
        r"^(?:so |and )?(?:which|what) (?:decisions|commits|changes|fixes|work|things) (?:did|do|was|were|has|have|are|happened)\b",
        r"^(?:please )?(?:summari[sz]e|recap|(?:give|show) me (?:a |the )?(?:summary|recap|overview|diary|log)|(?:a |the )?(?:summary|recap|overview|diary|log) (?:of|for|from))\b",
        r"^was (?:habe?n?|hab) (?:ich|wir|ihr|du) (?:\S+ ){0,8}(?:gemacht|getan|gearbeitet|entschieden|beschlossen|geschafft|erledigt|geändert|gelernt|behoben|gebaut)\b",
        r"^was (?:ist|war|wurde) (?:\S+ ){0,8}(?:passiert|geschehen|los|gemacht|entschieden|beschlossen|geändert|behoben)\b",
        r"^woran (?:habe?n?|hab|arbeitete) (?:ich|wir)\b",
        r"^¿?qu[ée] (?:hice|hicimos|hiciste|hicieron|pas[óo]|decidimos|decid[íi]|cambi[óo]|cambiamos|arreglamos|aprendimos|hemos hecho|he hecho|se (?:hizo|decidi[óo]|cambi[óo]))\b",
        "做了什么|做了哪些|做过什么|干了什么|发生了什么|决定了什么|改了什么|修了什么",
    ]
    .into_iter()
    .map(LazyPattern::new)
    .collect()
});

/// Words that name no days, but the latest ones.
const LATEST: [&str; 18] = [
    "recently",
    "lately",
    "last time",
    "the last session",
    "our last session",
    "my last session",
    "last session",
    "kürzlich",
    "neulich",
    "zuletzt",
    "letztens",
    "recientemente",
    "últimamente",
    "been doing",
    "been working on",
    "been up to",
    "最近",
    "in letzter zeit",
];

/// Words of such questions that are not what they are about.
const ACTS: [&str; 84] = [
    "do",
    "done",
    "doing",
    "work",
    "worked",
    "working",
    "happened",
    "decide",
    "decided",
    "decisions",
    "commit",
    "commits",
    "committed",
    "change",
    "changes",
    "changed",
    "fix",
    "fixed",
    "fixes",
    "learn",
    "learned",
    "learnt",
    "finish",
    "finished",
    "completed",
    "ship",
    "shipped",
    "build",
    "built",
    "discussed",
    "talked",
    "accomplish",
    "accomplished",
    "merge",
    "merged",
    "summarize",
    "summarise",
    "summary",
    "recap",
    "overview",
    "diary",
    "log",
    "habe",
    "haben",
    "hab",
    "wir",
    "ich",
    "ist",
    "war",
    "wurde",
    "woran",
    "gemacht",
    "getan",
    "gearbeitet",
    "entschieden",
    "beschlossen",
    "geschafft",
    "erledigt",
    "geändert",
    "gelernt",
    "behoben",
    "gebaut",
    "passiert",
    "geschehen",
    "los",
    "qué",
    "que",
    "hice",
    "hicimos",
    "hiciste",
    "pasó",
    "decidimos",
    "decidí",
    "cambió",
    "cambiamos",
    "arreglamos",
    "aprendimos",
    "hemos",
    "hecho",
    "se",
    "hizo",
    "decidió",
    "la",
    "el",
];

/// Which lines of a diary such a question asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WantedLines {
    /// What each session was about and how it ended.
    Sessions,
    /// The lines below that begin with this word.
    Of(&'static str),
}

/// A question for what was done in a period.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DiaryQuestion {
    /// The first and the last day; `None` for the latest ones.
    pub(super) days: Option<(Date, Date)>,
    pub(super) wanted: WantedLines,
    /// What else it is about: each thing as the tokens of which an entry has one.
    things: Vec<Vec<String>>,
}

impl DiaryQuestion {
    /// Parses a question that is asked on `today`; `None` for other questions.
    pub(super) fn parse(question: &str, today: Date) -> Option<Self> {
        // What needs no pattern comes first: most questions name no period.
        let (days, rest) = match named_days(question, today) {
            Some((days, rest)) => (Some(days), rest),
            None => (None, without_latest(question)?),
        };
        if !matches_any(&ASKS, question) {
            return None;
        }
        let query = Query::parse(&rest);
        // Where no other word remains, the stop words of a question are its concepts.
        let is_about = |word: &str| !ACTS.contains(&word) && !is_stop_word(word);
        let concepts = query.concepts().iter().filter(|one| !one.is_light);
        let about = concepts.filter(|one| one.word.as_deref().is_none_or(is_about));
        let tokens = about.map(|one| one.terms().map(|term| query.term(term).to_owned()));
        let things = tokens.map(Iterator::collect).collect();
        Some(Self {
            days,
            wanted: wanted(question),
            things,
        })
    }

    /// Whether it asks for the period alone.
    pub(super) fn is_about_all(&self) -> bool {
        self.things.is_empty()
    }

    /// Whether a text names enough of what it is about, which any does where that is nothing.
    pub(super) fn is_about(&self, text: &str) -> bool {
        let tokens = index_text(text);
        let has = |term: &String| tokens.split(' ').any(|token| token == term);
        let named = self.things.iter().filter(|thing| thing.iter().any(has));
        named.count() as f64 >= LEAST_SHARE * self.things.len() as f64
    }
}

/// A question that asks for the latest without the words that say so; `None` for others.
fn without_latest(question: &str) -> Option<String> {
    let small = question.to_lowercase();
    let latest = LATEST.iter().find(|latest| small.contains(**latest))?;
    Some(small.replace(latest, " "))
}

fn wanted(question: &str) -> WantedLines {
    let small = question.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| small.contains(word));
    if has(&["decid", "decision", "entschied", "beschlossen", "决定"]) {
        WantedLines::Of("decided")
    } else if has(&["commit", "提交"]) {
        WantedLines::Of("committed")
    } else if has(&[
        "fixed",
        "fixes",
        "did we fix",
        "behoben",
        "arreglamos",
        "修了",
    ]) {
        WantedLines::Of("fixed")
    } else {
        WantedLines::Sessions
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(question: &str) -> Option<DiaryQuestion> {
        DiaryQuestion::parse(question, "2026-11-22".parse().unwrap())
    }

    #[test]
    fn a_question_for_a_period_is_told_from_others() {
        for question in [
            "what did we do yesterday?",
            "What did I work on last week?",
            "what happened on 2026-02-09",
            "what was done on 10 February?",
            "and what have we decided this month?",
            "which commits were made on 9 February",
            "summarize last week",
            "recap of yesterday",
            "Was haben wir gestern gemacht?",
            "was ist letzte Woche passiert?",
            "¿qué hicimos ayer?",
            "我们昨天做了什么",
            "what did we do recently?",
            "what have I been working on?",
            "What was done in the last session?",
            "was haben wir zuletzt gemacht?",
            "我们最近做了什么",
        ] {
            let parsed = parse(question).unwrap_or_else(|| panic!("{question}"));
            assert!(parsed.is_about_all(), "{question}: {:?}", parsed.things);
        }
        for question in [
            "what did we do?",
            "what did we decide about suffixes?",
            "what did Ada paint in May?",
            "why did it fail yesterday?",
            "which version did we use last week?",
            "when did we change the limit?",
            "where were we yesterday?",
        ] {
            assert_eq!(parse(question), None, "{question}");
        }
    }

    #[test]
    fn what_else_it_is_about_is_named_by_an_entry() {
        let question = parse("what did we do on the importer for ada last week?").unwrap();
        assert!(!question.is_about_all());
        assert!(question.is_about("the importers of ada, and tides"));
        assert!(!question.is_about("the importer of bo"));
    }

    #[test]
    fn the_lines_that_are_asked_for_are_known() {
        let wanted = |text: &str| parse(text).unwrap().wanted;
        assert_eq!(
            wanted("what did we decide in October?"),
            WantedLines::Of("decided")
        );
        assert_eq!(
            wanted("which commits were made yesterday"),
            WantedLines::Of("committed")
        );
        assert_eq!(
            wanted("what did we fix yesterday"),
            WantedLines::Of("fixed")
        );
        assert_eq!(wanted("what happened yesterday"), WantedLines::Sessions);
    }
}
