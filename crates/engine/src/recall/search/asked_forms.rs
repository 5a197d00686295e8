//! The forms of questions that ask for a number, a time, a cause or what is open, and of texts that hold one.
//!
//! Not here: what these are worth (`asked_for`).

use std::sync::LazyLock;

use daybook_text::lazy_pattern::LazyPattern;

pub(super) static ASKS_FOR_NUMBER: LazyLock<Vec<LazyPattern>> = LazyLock::new(|| {
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

pub(super) static ASKS_FOR_TIME: LazyLock<Vec<LazyPattern>> = LazyLock::new(|| {
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

pub(super) static ASKS_FOR_CAUSE: LazyLock<Vec<LazyPattern>> = LazyLock::new(|| {
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

pub(super) static ASKS_FOR_OPEN: LazyLock<Vec<LazyPattern>> = LazyLock::new(|| {
    [
        r"\bwhat(?:'s| is| was| are) (?:still )?open(?:\W*$| (?:on|in|for|with|at|of|here)\b)|\bhow far (?:did|are|is|have|has)\b|\bwhere (?:did|do|are|were) (?:i|we) (?:stop|stand|leave)\b",
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
pub(super) static NUMBER_IN_WORDS: LazyLock<LazyPattern> = LazyLock::new(|| {
    LazyPattern::new(
        r"(?i)\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty|fifty|sixty|ninety|hundred|half|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|zwölf|zwanzig|dreißig|hundert|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|doce|quince|veinte|treinta|cien)\b",
    )
});

pub(super) static TIME_IN_TEXT: LazyLock<LazyPattern> = LazyLock::new(|| {
    LazyPattern::new(
        r"(?i)\b\d{1,2}[.:]\d\d\b|\b\d{1,2}(?:st|nd|rd|th|\.)|\b\d{1,2} ?[ap]m\b|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mon|tue|wed|thu|fri|sat|sun)(?:[a-z]*)\b|\b(?:enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre|lunes|martes|miércoles|jueves|viernes|sábado|domingo)\b|\b(?:januar|februar|märz|mai|juni|juli|oktober|dezember|montags?|dienstags?|mittwochs?|donnerstags?|freitags?|samstags?|sonntags?)\b|[月周日号]",
    )
});

pub(super) static CAUSE_IN_TEXT: LazyLock<LazyPattern> = LazyLock::new(|| {
    LazyPattern::new(
        r"(?i)\b(?:because|since|so that|caused?|causes|reasons?|otherwise|due to|that['’]?s why|turns out|turned out|explains)\b|\b(?:weil|damit|sonst|deshalb|daher|grund|ursache|lag (?:daran|an))\b|\b(?:porque|pues|así que|por eso|causa|culpa|motivo)\b|\b(?:parce que|à cause)\b|因为|所以|原因|由于",
    )
});

/// An agent or a person says what was wrong.
pub(super) static FOUND_IN_TEXT: LazyLock<LazyPattern> = LazyLock::new(|| {
    LazyPattern::new(
        r"(?i)\bfound (?:the|a|an|another|our) (?:\w+ ){0,2}(?:bug|issue|problem|cause|culprit|reason|error|mistake)\b|\b(?:the|your|our) (?:\w+ ){0,3}(?:bug|issue|problem|cause|culprit|reason|mistake) (?:here )?(?:is|was|lies|turned out)\b|\b(?:bug|(?:root )?cause|problem)\b\W{1,4}:|\b(?:das problem|der fehler|die ursache|der grund) (?:ist|war|lag|liegt)\b|\b(?:el problema|el error|la causa|el fallo|el motivo) (?:es|era|fue|está|estaba)\b|\b(?:le problème|la cause|l['’]erreur) (?:est|était|vient|venait)\b|问题出在|问题是|原因是|根本原因",
    )
});

pub(super) static OPEN_IN_TEXT: LazyLock<LazyPattern> = LazyLock::new(|| {
    LazyPattern::new(
        r"(?i)\b(?:open|todo|to do|left|missing|not yet|still|next|until|waits?|waiting|half|unfinished|later|pending)\b|\b(?:noch|fehlt|offen|später|wartet)\b|\b(?:falta|faltan|queda|quedan|pendiente|todavía|medias)\b|还差|还没|剩|下次|待",
    )
});
