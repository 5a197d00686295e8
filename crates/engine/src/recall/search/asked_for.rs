//! Places answers that hold what a question asks for before others: a number, a time, a cause, what is open; and later
//! answers before earlier ones.
//!
//! Words and vectors tell what a text is about. "How many uploads are allowed?" shares as much with the complaint as with the
//! message that sets the number, and with the number that was set first as with the one that holds. The weights were fitted to
//! the people to tune on of `evaluation/people`, and made smaller until the other questions of `evaluation` lost little
//! (`DESIGN.md` has the figures).
//!
//! Not here: statements that end each other (`outdated`, `newest_first`).

use std::sync::LazyLock;

use daybook_domain::Timestamp;
use daybook_text::lazy_pattern::LazyPattern;

use super::RankedAnswer;
use super::newest_first::asks_for_past;
use crate::recall::dates::Dates;
use crate::recall::question_kind::matches_any;

/// The first answers, which are compared.
pub(super) const COMPARED: usize = 20;
/// Bonus of an answer with a number, a time, a cause or something open, where the question asks for one.
const NUMBER: f64 = 0.2;
const TIME: f64 = 0.15;
const CAUSE: f64 = 0.1;
const OPEN: f64 = 0.2;
/// Bonus of the latest of the answers, and more of it where a number is asked for or what is open; the earliest gets none.
/// Questions about the past and about a date give none.
const LATEST: f64 = 0.05;
const LATEST_NUMBER: f64 = 0.2;
const LATEST_OPEN: f64 = 0.2;

static ASKS_FOR_NUMBER: LazyLock<Vec<LazyPattern>> = LazyLock::new(|| {
    [
        r"\bhow (?:many|much|long|often|far|big|large|high|old|deep|small|fast|early|late)\b",
        r"\b(?:what|which) (?:size|share|price|percentage|version|limit|port|factor|release|number|rate|amount|seed|threshold)\b",
        r"\b(?:biggest|smallest|limit|price|cost|costs|rate|fee|rent|timeout|budget|size|version|threshold|quota|percent\w*)\b",
        r"\bcu[aá]nt[oa]s?\b|\b(?:l[ií]mite|precio|versi[oó]n|puerto|plazo|tama[ñn]o|alquiler|presupuesto)\b",
        r"\bwie ?(?:viele?|lange|oft|groß|hoch|alt|weit|schnell)\b|\b(?:grenze|preis|version|miete|kosten|limit|frist|schwelle)\b",
        r"\bcombien\b",
        "多少|几|多久|多大|多长|上限|下限|价格|版本|费用",
    ]
    .into_iter()
    .map(LazyPattern::new)
    .collect()
});

static ASKS_FOR_TIME: LazyLock<Vec<LazyPattern>> = LazyLock::new(|| {
    [
        r"\bwhen\b|\b(?:what|which) (?:day|date|time|night|month|week|weekday)\b|\b(?:deadline|due)\b",
        r"\bwann\b|\b(?:welche\w*|an welche\w*) (?:tag|datum|woche|monat|uhrzeit)\b|\bwie spät\b|\bum wie ?viel uhr\b",
        r"\bcu[aá]ndo\b|\b(?:qu[eé]) (?:d[ií]as?|horas?|fecha|mes|noche)\b",
        r"\bquand\b|\bquelle? (?:jour|heure|date)\b",
        "什么时候|何时|哪天|几点|几号|截止",
    ]
    .into_iter()
    .map(LazyPattern::new)
    .collect()
});

static ASKS_FOR_CAUSE: LazyLock<Vec<LazyPattern>> = LazyLock::new(|| {
    [
        r"\bwhy\b|\bhow come\b|\breason\b|\bcause\b|\bwhat (?:went|was) wrong\b|\bhow could\b",
        r"\bwarum\b|\bwieso\b|\bweshalb\b|\bworan\b|\bgrund\b|\bursache\b",
        r"\bpor ?qu[eé]\b|\bcausa\b|\bmotivo\b",
        r"\bpourquoi\b",
        "为什么|为何|原因|怎么回事",
    ]
    .into_iter()
    .map(LazyPattern::new)
    .collect()
});

static ASKS_FOR_OPEN: LazyLock<Vec<LazyPattern>> = LazyLock::new(|| {
    [
        r"\bhow far (?:did|are|is|have|has)\b|\bwhere (?:did|do|are|were) (?:i|we) (?:stop|stand|leave)\b",
        r"\bwhat(?:'s| is| was| are| were)? (?:\S+ ){0,2}(?:missing|untested|unfinished|undone|to do|waiting for|left)\b",
        r"\b(?:still|yet) (?:\S+ )?(?:doesn't|isn't|aren't|open|to do|missing|unfinished|left)\b|\bstill (?:aren't|isn't|haven't|hasn't)\b",
        r"\bwie weit\b|\bwas fehlt\b|\bstehen ?geblieben\b|\bnoch offen\b|\bwas ist noch\b",
        r"\bqu[eé] (?:me |nos )?(?:falta|queda)\b|\ba medias\b|\bpendiente\b",
        "还差|还没|卡在|没做完|剩下",
    ]
    .into_iter()
    .map(LazyPattern::new)
    .collect()
});

/// Numbers in words; in digits they are found without a pattern.
static NUMBER_IN_WORDS: LazyLock<LazyPattern> = LazyLock::new(|| {
    LazyPattern::new(
        r"(?i)\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty|fifty|sixty|ninety|hundred|half|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|zwölf|zwanzig|dreißig|hundert|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|doce|quince|veinte|treinta|cien)\b",
    )
});

static TIME_IN_TEXT: LazyLock<LazyPattern> = LazyLock::new(|| {
    LazyPattern::new(
        r"(?i)\b\d{1,2}[.:]\d\d\b|\b\d{1,2}(?:st|nd|rd|th|\.)|\b\d{1,2} ?[ap]m\b|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mon|tue|wed|thu|fri|sat|sun)(?:[a-z]*)\b|\b(?:enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre|lunes|martes|miércoles|jueves|viernes|sábado|domingo)\b|\b(?:januar|februar|märz|mai|juni|juli|oktober|dezember|montags?|dienstags?|mittwochs?|donnerstags?|freitags?|samstags?|sonntags?)\b|[月周日号]",
    )
});

static CAUSE_IN_TEXT: LazyLock<LazyPattern> = LazyLock::new(|| {
    LazyPattern::new(
        r"(?i)\b(?:because|since|so that|caused?|causes|reasons?|otherwise|due to|that['’]?s why|turns out|turned out|explains)\b|\b(?:weil|damit|sonst|deshalb|daher|grund|ursache|lag (?:daran|an))\b|\b(?:porque|pues|así que|por eso|causa|culpa|motivo)\b|\b(?:parce que|à cause)\b|因为|所以|原因|由于",
    )
});

static OPEN_IN_TEXT: LazyLock<LazyPattern> = LazyLock::new(|| {
    LazyPattern::new(
        r"(?i)\b(?:open|todo|to do|left|missing|not yet|still|next|until|waits?|waiting|half|unfinished|later|pending)\b|\b(?:noch|fehlt|offen|später|wartet)\b|\b(?:falta|faltan|queda|quedan|pendiente|todavía|medias)\b|还差|还没|剩|下次|待",
    )
});

/// What a question asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct AskedFor {
    number: bool,
    time: bool,
    cause: bool,
    /// What is not done yet.
    open: bool,
    /// What holds now, rather than what was.
    present: bool,
}

impl AskedFor {
    fn of(question: &str, dates: &Dates) -> Self {
        let time = matches_any(&ASKS_FOR_TIME, question);
        let open = matches_any(&ASKS_FOR_OPEN, question);
        Self {
            number: time || matches_any(&ASKS_FOR_NUMBER, question),
            time,
            cause: matches_any(&ASKS_FOR_CAUSE, question),
            open,
            present: dates.is_empty() && (open || !asks_for_past(question)),
        }
    }

    /// The bonus of an answer; `late` is 0 for the earliest of those compared, and 1 for the latest.
    fn bonus(self, answer: &RankedAnswer, late: f64, own_numbers: &[String]) -> f64 {
        let text = answer.text.as_str();
        let holds_number =
            || numbers(text).any(|it| !own_numbers.contains(&it)) || NUMBER_IN_WORDS.is_match(text);
        let mut bonus = 0.0;
        if self.number && holds_number() {
            bonus += NUMBER;
        }
        if self.time && TIME_IN_TEXT.is_match(text) {
            bonus += TIME;
        }
        if self.cause && CAUSE_IN_TEXT.is_match(text) {
            bonus += CAUSE;
        }
        if self.open && OPEN_IN_TEXT.is_match(text) {
            bonus += OPEN;
        }
        if self.present {
            bonus += late * self.lateness();
        }
        bonus
    }

    /// The bonus of the latest answer.
    fn lateness(self) -> f64 {
        let number = if self.number { LATEST_NUMBER } else { 0.0 };
        let open = if self.open { LATEST_OPEN } else { 0.0 };
        LATEST + number + open
    }
}

/// The numbers of a text in digits.
fn numbers(text: &str) -> impl Iterator<Item = String> {
    let runs = text.split(|c: char| !c.is_ascii_digit());
    runs.filter(|run| !run.is_empty()).map(str::to_owned)
}

/// Orders the first answers again, those with what the question asks for before others of nearly their score.
pub(super) fn place_asked_for_first(
    mut answers: Vec<RankedAnswer>,
    question: &str,
    dates: &Dates,
) -> Vec<RankedAnswer> {
    let asked = AskedFor::of(question, dates);
    let compared = answers.len().min(COMPARED);
    let first = &mut answers[..compared];
    let times = || first.iter().map(|answer| answer.time);
    let (Some(earliest), Some(latest)) = (times().min(), times().max()) else {
        return answers;
    };
    let own: Vec<String> = numbers(question).collect();
    for answer in first.iter_mut() {
        answer.parts.asked =
            asked.bonus(answer, share_of_time(answer.time, earliest, latest), &own);
        let total = answer.parts.total().max(0.0);
        answer.score = total / (1.0 + total);
    }
    first.sort_by(|one, other| other.parts.total().total_cmp(&one.parts.total()));
    answers
}

/// Where a time lies between two: 0 at the earlier, 1 at the later.
fn share_of_time(at: Timestamp, earliest: Timestamp, latest: Timestamp) -> f64 {
    let whole = latest.0.saturating_sub(earliest.0);
    match whole {
        0 => 0.0,
        whole => at.0.saturating_sub(earliest.0) as f64 / whole as f64,
    }
}

#[cfg(test)]
mod tests {
    use daybook_domain::index::MemoryLayer;

    use super::*;

    fn asked_for(question: &str) -> AskedFor {
        AskedFor::of(question, &Dates::of(question, Timestamp::ZERO))
    }

    #[test]
    fn what_a_question_asks_for_is_told_by_its_words() {
        for (question, number, time, cause, present) in [
            ("how many uploads are allowed?", true, false, false, true),
            ("when is choir practice these days", true, true, false, true),
            ("why did the pipes freeze?", false, false, true, false),
            (
                "wie lange behalten wir die Protokolle?",
                true,
                false,
                false,
                true,
            ),
            ("por qué no usamos el orquestador", false, false, true, true),
            ("年费现在多少钱？", true, false, false, true),
            ("which spelling do we use?", false, false, false, true),
        ] {
            let expected = AskedFor {
                number,
                time,
                cause,
                open: false,
                present,
            };
            assert_eq!(asked_for(question), expected, "{question}");
        }
    }

    #[test]
    fn what_is_open_is_asked_for_in_many_ways() {
        for question in [
            "how far did we get with the vouchers?",
            "which cron jobs still aren't moved over?",
            "what's still missing for the release?",
            "was fehlt da noch",
            "qué falta para abrir?",
            "导入还差什么？",
        ] {
            let asked = asked_for(question);
            assert!(asked.open && asked.present, "{question}");
        }
        assert!(!asked_for("how far is it to the pier?").cause);
    }

    fn answer(text: &str, day: i64) -> RankedAnswer {
        RankedAnswer {
            time: Timestamp(86_400_000 * day),
            ..RankedAnswer::of_text(text.to_owned(), MemoryLayer::Event)
        }
    }

    #[track_caller]
    fn check(question: &str, answers: &[(&str, i64)], first: &str) {
        let answers = answers.iter().map(|(text, day)| answer(text, *day));
        let dates = Dates::of(question, Timestamp::ZERO);
        let placed = place_asked_for_first(answers.collect(), question, &dates);
        assert_eq!(placed[0].text, first, "{question}");
    }

    #[test]
    fn the_latest_number_answers_how_many() {
        let answers = [
            ("uploads fail again", 3),
            ("make it 8 uploads", 1),
            ("make it twenty", 2),
        ];
        check("how many uploads?", &answers, "make it twenty");
        check(
            "how many uploads were allowed in 2020?",
            &answers,
            "make it 8 uploads",
        );
    }

    #[test]
    fn a_cause_answers_why() {
        let answers = [("the pipes froze", 1), ("because the heater was off", 1)];
        check(
            "why did the pipes freeze?",
            &answers,
            "because the heater was off",
        );
        check("what froze?", &answers, "the pipes froze");
    }
}
