//! What a question is after.
//!
//! Not here: its words (`query`), its times (`dates`).

use std::sync::LazyLock;

use daybook_text::lazy_pattern::LazyPattern;

static WHAT_HOLDS: LazyLock<Vec<LazyPattern>> = LazyLock::new(|| {
    [
        r"^(?:so |and |but )?(?:should|may|must|can|shall) (?:i|we|you|an? agents?|agents)\b",
        r"^(?:so |and |but )?(?:should|may|must|can|shall) (?:\S+ ){1,4}be \S+",
        r"^(?:so |and |but )?(?:do|don't|are|aren't) (?:i|we|you)\b",
        r"^(?:in |into |to |on |at |for |with |from |by |under )?(?:which|what|where|how) (?:\S+ ){0,9}(?:do|should|must|may|can|shall) (?:i|we|you)\b",
        // What is customary of things: "which project do issues go to".
        r"^(?:so |and |but )?(?:in |into |to |on |at |for |with |from |by |under )?(?:which|what) (?:\S+ ){1,3}(?:do|does|should|must|may|can) (?:\S+ ){1,4}(?:go|belong|live|land|use|get|need|have|carry|take|look|end)\b",
        r"^(?:which|what|where|how|when) (?:\S+ ){0,2}(?:should|must|may|can) (?:\S+ ){1,5}be \S+",
        r"\b(?:allowed|forbidden|preferred|prefer|rules?|convention|policy|decide|decided|decision|agreed|supposed to)\b",
        r"^(?:soll(?:en|te|ten)?|darf|dürfen|muss|müssen|kann|können) (?:ich|wir|man)\b",
        r"^(?:welche\S*|was|wo|wie|in welche\S*) (?:\S+ ){0,9}(?:wir|ich|man)\b",
        r"^¿?(?:debo|debemos|puedo|podemos|hay que|se puede)\b",
        r"^(?:dois-je|devons-nous|peut-on|puis-je|faut-il)\b",
        // A measure or a name: the value that holds answers it.
        r"^(?:so |and )?(?:what|which|what's) (?:is |are |'s )?(?:the|our|my) (?:\S+ ){0,2}(?:limit|maximum|max|minimum|min|default|timeout|port|version|size|interval|deadline|budget|price|prefix|format|language|owner|url|retention|threshold)\b",
        r"^(?:so |and )?(?:which|what) (?:\S+ ){1,4}(?:are|is) (?:we|it|this|that) (?:on|at|in|using|running|called|set to)\b",
        r"^(?:so |and )?(?:what|how)(?:'s| is| are) (?:\S+ ){1,6}(?:called|named|spelled|spelt|written)(?: now| these days| today| currently)?\W*$",
        r"^(?:so |and )?how (?:many|much|long|often|big|large|high|old|deep|far) (?:is|are|may|can|must|should|do|does|will|\S+ (?:do|does|may|can|must|should|are|is))\b",
        r"^(?:wie (?:viele?|lange|oft|groß|hoch|alt) (?:ist|sind|darf|dürfen|kann|muss|soll\S*)|(?:was|wie) (?:ist|lautet) (?:das|der|die|unsere?) (?:\S+ ){0,3}\S*(?:limit|grenze|höchst\S*|standard\S*|port|version|frist))\b",
        r"^¿?(?:cuánt[oa]s? (?:\S+ ){0,4}(?:es|son|puede\S*|debe\S*)|cuál es (?:el|la|nuestr[oa]) (?:\S+ ){0,3}(?:límite|máximo|mínimo|puerto|versión|plazo))\b",
        "(?:上限|下限|限制|默认|端口|版本|期限)(?:现在)?(?:是|为)?(?:多少|什么|几)",
    ]
    .into_iter()
    .map(LazyPattern::new)
    .collect()
});

/// Whether a question has one of these forms. They are written in small letters, and begin with the question's first word.
pub fn matches_any(forms: &[LazyPattern], question: &str) -> bool {
    let small = question.to_lowercase().replace('’', "'");
    let small = small.trim_start_matches(|c: char| !c.is_alphanumeric() && c != '¿');
    forms.iter().any(|form| form.is_match(small.trim_end()))
}

/// Whether a question asks what is to be done or what was decided, rather than what happened.
pub fn asks_what_holds(question: &str) -> bool {
    matches_any(&WHAT_HOLDS, question)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_to_be_done_is_told_from_what_happened() {
        for question in [
            "Should we amend commits?",
            "which spelling do we use?",
            "what did we decide about suffixes?",
            "may I push to main?",
            "Dürfen wir freitags ausliefern?",
            "what is the limit in explain?",
            "which go version are we on?",
            "what's the counter field called now?",
            "how long may the checkpoint list be?",
            "wie lange darf eine Sitzung sein?",
            "¿cuál es el límite de la lista?",
            "重试的上限是多少",
            "which project do issues go to?",
            "what prefix does a release branch get?",
            "where should documentation be kept?",
        ] {
            assert!(asks_what_holds(question), "{question}");
        }
        for question in [
            "why is my debug output missing?",
            "where was I on ent-109?",
            "what is ENT-129?",
            "which test does it fail in?",
            "what did issues have in common?",
            "who fixed the importer?",
            "how long did the migration take?",
            "what is the reason for the limit?",
        ] {
            assert!(!asks_what_holds(question), "{question}");
        }
    }
}
