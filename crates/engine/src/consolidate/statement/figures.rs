//! The figures of a statement: its measures, dates, times and numbers, each with what it measures.
//!
//! Of two statements about one thing that give one measure two figures, the later one holds, in whatever words:
//! "the handheld sleeps after 30 s idle", then "field test was full of cursing. let it sleep after 3 min idle".

use std::sync::LazyLock;

use daybook_text::lazy_pattern::constant_regex;
use regex::Regex;

use super::Setting;
use crate::consolidate::content::{ContentWord, ContentWords, content_words};
use crate::consolidate::plain;

/// Words before or after a number that are neither its unit nor its name.
const NO_NAMES: &str = "a at to from by of in on per after every until till for is are was be and or than the about max min incl each now within under over up only just least most version \
     um ab auf bis von bei nach mit im am zu sind ist und a las los de del en el la por con y";

struct Measure {
    name: &'static str,
    pattern: Regex,
}

/// In the order in which they are looked for: what one found, the next ones do not see.
static MEASURES: LazyLock<Vec<Measure>> = LazyLock::new(|| {
    const MONTHS: &str = r"(?:jan(?:uar|uary|\.)?|feb(?:ruar|ruary|\.)?|mar(?:ch|\.)?|märz|apr(?:il|\.)?|may|mai|june?|juni|july?|juli|aug(?:ust|\.)?|sept?(?:ember|\.)?|o[ck]t(?:ober|\.)?|nov(?:ember|\.)?|de[cz](?:ember|\.)?|enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre)";
    let measures = [
        ("date", format!(r"\b(?:{MONTHS} \d{{1,2}}(?:st|nd|rd|th)?|\d{{1,2}}(?:st|nd|rd|th|\.)? (?:de |of )?{MONTHS})\b|\b\d{{4}}-\d{{2}}-\d{{2}}\b|\b(?:the|on|to|until|by) \d{{1,2}}(?:st|nd|rd|th)\b|\d{{1,2}}月\d{{1,2}}[日号]")),
        ("clock", r"\b\d{1,2}:\d{2}(?: ?[ap]m)?\b|\b\d{1,2} ?(?:[ap]m|uhr|o'clock)\b|\b(?:um|a las) \d{1,2}\b|[上下]午\d{1,2}点|\d{1,2}点".to_owned()),
        ("day", r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b|\b(?:mon|diens|donners|frei|sams|sonn)tags?\b|\bmittwochs?\b|\b(?:lunes|martes|miércoles|jueves|viernes|sábados?|domingos?)\b|(?:周|星期|礼拜)[一二三四五六日天]".to_owned()),
        ("time", r"\b\d+(?:[.,]\d+)? ?(?:ms|millis\w*|s|secs?|seconds?|sek(?:unden?)?|segundos?|mins?|minutes?|minuten?|minutos?|h|hrs?|hours?|stunden?|horas?|days?|tage?n?|días?|weeks?|wochen?|semanas?|months?|monate?n?|mes(?:es)?|years?|jahre?n?|años?)\b|\d+ ?(?:毫秒|秒|分钟|小时|天|周|个月|年)".to_owned()),
        ("bytes", r"\b\d+(?:[.,]\d+)? ?[kmgt]i?b\b".to_owned()),
        ("percent", r"\b\d+(?:[.,]\d+)? ?(?:%|percent|prozent|por ciento)".to_owned()),
        ("money", r"[$€£¥] ?\d[\d.,]*|\b\d[\d.,]* ?(?:€|\$|£|eur\b|usd\b|euros?\b|dollars?\b|元)".to_owned()),
    ];
    let compiled = measures.into_iter().map(|(name, pattern)| Measure {
        name,
        pattern: constant_regex(&pattern),
    });
    compiled.collect()
});

/// A number with the word before and the word after it.
static NUMBER: LazyLock<Regex> = LazyLock::new(|| {
    constant_regex(
        r"(?:(?P<name>[\p{L}][\p{L}\d_+/-]*) )?\bv?(?P<number>\d+(?:[.,]\d+)*)\b(?: (?P<of>\p{L}[\p{L}_-]+))?",
    )
});

static NAMELESS: LazyLock<Vec<&str>> = LazyLock::new(|| NO_NAMES.split_whitespace().collect());

static UNITS: LazyLock<Vec<ContentWords>> = LazyLock::new(|| {
    let names = MEASURES.iter().map(|measure| format!("={}", measure.name));
    names
        .map(|name| std::iter::once(ContentWord::of(&name)).collect())
        .collect()
});

/// What measures a bare number: nothing that its words say.
fn bare() -> ContentWords {
    std::iter::once(ContentWord::of("=")).collect()
}

/// Compiles all patterns.
pub(super) fn prepare() {
    LazyLock::force(&MEASURES);
    LazyLock::force(&NUMBER);
    plain::prepare();
}

/// Whether a measure has a unit, as times and dates have. Others are versions, counts, and numbers of one of many things.
pub(in crate::consolidate) fn has_unit(measure: &ContentWords) -> bool {
    UNITS.contains(measure)
}

/// Whether a measure is a bare number, which may measure anything.
pub(in crate::consolidate) fn is_bare(measure: &ContentWords) -> bool {
    *measure == bare()
}

/// The figures of a text in lower case, and the text without them.
pub(super) fn figures(low: &str) -> (Vec<Setting>, String) {
    let mut rest = low.to_owned();
    let mut found = Vec::new();
    for measure in MEASURES.iter() {
        for figure in measure.pattern.find_iter(&rest) {
            found.push(figure_of(&format!("={}", measure.name), figure.as_str()));
        }
        rest = measure.pattern.replace_all(&rest, " ").into_owned();
    }
    for number in NUMBER.captures_iter(&rest) {
        found.push(numbered(&number));
    }
    let without = rest.replace(|c: char| c.is_ascii_digit(), " ");
    (found, without)
}

fn figure_of(measure: &str, value: &str) -> Setting {
    let plain: String = plain::figures(value).split_whitespace().collect();
    Setting {
        key: std::iter::once(ContentWord::of(measure)).collect(),
        value: std::iter::once(ContentWord::of(&plain)).collect(),
    }
}

/// A number without a unit: "ios 15" is a version of ios, "25 seats" a count of seats.
fn numbered(number: &regex::Captures<'_>) -> Setting {
    let named = |group| {
        let word = number.name(group)?.as_str();
        let words = content_words(word);
        (!NAMELESS.contains(&word) && !words.is_empty()).then_some(words)
    };
    let key = named("of").or_else(|| named("name")).unwrap_or_else(bare);
    Setting {
        key,
        value: std::iter::once(ContentWord::of(&number["number"])).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[(&str, &str)]) {
        let (found, _) = figures(text);
        let expected: Vec<Setting> = expected
            .iter()
            .map(|(measure, value)| match measure.strip_prefix('=') {
                Some(_) => figure_of(measure, value),
                None => Setting {
                    key: content_words(measure),
                    ..figure_of("", value)
                },
            })
            .collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn a_figure_has_what_it_measures() {
        check("set it to 8 seconds", &[("=time", "8 seconds")]);
        check("let it sleep after 3 min idle", &[("=time", "3 min")]);
        check("商品接口的缓存改为15分钟吧", &[("=time", "15分钟")]);
        check(
            "der import läuft mittwochs um 4",
            &[("=clock", "um 4"), ("=day", "mittwochs")],
        );
        check(
            "chapter 3 is due april 24",
            &[("=date", "april 24"), ("chapter", "3")],
        );
        check("hora para el 21 de abril", &[("=date", "21 de abril")]);
        check("ios 17 is the lowest", &[("ios", "17")]);
        check("we can go up to 11500 now", &[("=", "11500")]);
        check("give the batch jobs 20 gb each", &[("=bytes", "20 gb")]);
        check("it got pushed to the 27th", &[("=date", "the 27th")]);
        check("no figure at all", &[]);
    }
}
