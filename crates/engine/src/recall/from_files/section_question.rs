//! Tells a question for a section of memory, such as "what are my preferences?", from one that names what it is about.
//!
//! Not here: what answers it (`sections`).

use std::sync::LazyLock;

use daybook_ranking::query::Query;
use daybook_ranking::stopwords::is_stop_word;
use daybook_text::lazy_pattern::LazyPattern;

/// What a question asks for, of all that is remembered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SectionQuestion {
    /// Whatever there is to know of a person or a project.
    All,
    Rules,
    Habits,
    Decisions,
    /// What is not done.
    Open,
    /// Where work was, done or not.
    LeftOff,
    Traps,
    Done,
    Values,
}

/// Words that a question for all may have besides.
const UNSAID: [&str; 14] = [
    "project",
    "repo",
    "repository",
    "codebase",
    "currently",
    "far",
    "please",
    "here",
    "moment",
    "already",
    "work",
    "today",
    "bisher",
    "proyecto",
];

/// The forms of one sort of question, in small letters.
type Forms = LazyLock<Vec<LazyPattern>>;

static FOR_ALL: Forms = LazyLock::new(|| {
    patterns([
        r"^(?:so |and )?what (?:else )?(?:do|did) you (?:know|remember)(?: on| about| of)? (?:me|us|my work|(?:this|the|our) (?:project|repo|repository|codebase)|how (?:i|we) work)\b",
        r"^(?:so |and )?what (?:should|must|do|does) (?:i|you|an? agent|one|we)(?: need to| have to)? know (?:about (?:me|us|(?:this|the|our) (?:project|repo|repository|codebase)|how (?:i|we) work)|before (?:i |we |you )?(?:start|begin)\w*)\b",
        r"^(?:please )?(?:tell|show) me (?:everything|what|all)(?: that)? you (?:know|remember)(?: (?:about|of) (?:me|us|(?:this|the|our) project))?\b",
        r"^was wei(?:ß|ss)t du (?:über|von) (?:mich|mir|uns|dieses projekt|das projekt)\b",
        r"^¿?qu[ée] sabes (?:de|sobre) (?:m[íi]|nosotros|este proyecto|el proyecto)\b",
        "你(?:知道|记得)(?:我|我们|这个项目)(?:的)?(?:什么|哪些)|关于(?:我|我们|这个项目)你(?:知道|记得)什么",
    ])
});
static FOR_RULES: Forms = LazyLock::new(|| {
    patterns([
        r"^(?:so |and )?(?:what|which)(?:'s| is| are| were)? (?:all )?(?:my|our|the|your|any) (?:coding |general |current |project |working )*(?:rules?|preferences?|conventions?|guidelines?|standards?|instructions?|ways of working)\b",
        r"^(?:so |and )?(?:what|which) (?:coding |general |current |project |working )*(?:rules|preferences|conventions|guidelines|standards|instructions) (?:do|did|should|must|have|has|are|apply|hold)(?: (?:i|we|you|agents?|an agent|there))?(?: (?:have|follow|use|know|given|set|apply|keep))?\b",
        r"^(?:please )?(?:list|show|name|tell me|give me|recall)(?: me)?(?: all)?(?: of)? (?:my|our|the|your|any|known) (?:coding |general |current |project |working )*(?:rules|preferences|conventions|guidelines|standards|instructions)\b",
        r"^(?:so |and )?how (?:do|should) (?:i|we|you|agents?) (?:usually )?work(?: here| together| in (?:this|the) (?:project|repo|repository|codebase)| with (?:me|us))?\W*$",
        r"^(?:so |and )?what (?:do|did|does) (?:i|we) (?:insist on|prefer|care about|like|dislike|want|expect)\W*$",
        r"^(?:so |and )?what (?:should|must|may|can) (?:i|you|we|agents?|an agent) (?:not|never|always) do\W*$",
        r"^(?:was|welche)(?: sind)? (?:meine|unsere|die) (?:regeln|vorlieben|konventionen|vorgaben|richtlinien)\b",
        r"^welche (?:regeln|vorlieben|konventionen|vorgaben) (?:habe|haben|gelten)\b",
        r"^¿?(?:cu[áa]les|qu[ée]) (?:son )?(?:mis|nuestras|las) (?:reglas|preferencias|convenciones|normas)\b",
        "(?:我|我们|这个项目)?(?:的|有哪些|有什么)(?:规则|偏好|约定|规范|习惯)",
    ])
});
static FOR_HABITS: Forms = LazyLock::new(|| {
    patterns([
        r"^(?:so |and )?what (?:do|did) (?:i|we) (?:always|often|usually|repeatedly|keep) (?:ask|asking|want|request|requesting)(?: for| you| you for)?\W*$",
        r"^(?:so |and )?what are (?:my|our) habits\b",
    ])
});
static FOR_DECISIONS: Forms = LazyLock::new(|| {
    patterns([
        r"^(?:so |and )?(?:what|which)(?: are| were)?(?: all)?(?: the| our| my)?(?: important| main| big| key| current)? (?:decisions|choices)(?: (?:have|did|were|are|has)(?: (?:i|we|you|they|been|there))?)?(?: (?:made|make|taken|take|hold|stand|agreed on|decided))?\b",
        r"^(?:so |and )?what (?:have|has|did) (?:i|we) (?:decided?|agreed?)(?: on)?(?: so far| already| until now)?\W*$",
        r"^(?:please )?(?:list|show)(?: me)?(?: all)?(?: of)? (?:my|our|the) decisions\b",
        r"^was (?:haben wir|habe ich) (?:bisher |schon )?(?:entschieden|beschlossen)\W*$",
        r"^¿?qu[ée] (?:decisiones )?(?:hemos|he) (?:tomado|decidido)\W*$",
    ])
});
static FOR_OPEN: Forms = LazyLock::new(|| {
    patterns([
        r"^(?:so |and )?what(?:'s| is| are| was| were)? (?:still |there )?(?:open|unfinished|pending|outstanding|left(?: to do| over| open)?|to do|todo|incomplete)(?: here| now| right now| in (?:this|the) (?:project|repo))?\W*$",
        r"^(?:so |and )?(?:what|which)(?: are)?(?: all)?(?: the| our| my)? (?:open|unfinished|pending|outstanding|remaining) (?:questions|ends|items|issues|tasks|todos|points|things|threads|branches|work)(?: are there| do (?:i|we) have)?\b",
        r"^(?:so |and )?what(?:'s| is| should| do| can| are the| are my| are our)? (?:i |we |you |the |to )?(?:do )?(?:next|next steps?)\W*$",
        r"^was (?:ist|steht) (?:noch |als nächstes )?(?:offen|an|zu tun)\W*$",
        r"^¿?qu[ée] (?:queda|falta) (?:pendiente|abierto|por hacer)\W*$",
        "还有什么(?:没做|要做|未完成)|接下来(?:做|要做)什么",
    ])
});
static FOR_LEFT_OFF: Forms = LazyLock::new(|| {
    patterns([
        r"^(?:so |and )?where (?:did|do|have|are|were) (?:we|i) (?:left? off|leave off|stand|stop|stopped)\W*$",
        r"^(?:so |and )?where (?:was|were|am|are) (?:we|i)(?: up to| at)?\W*$",
        r"^(?:so |and )?what (?:was|were) (?:we|i) (?:doing|working on)(?: last| last time)?\W*$",
        r"^wo (?:war|waren|stehe|stehen) (?:ich|wir)(?: stehen ?geblieben| zuletzt)?\W*$",
        r"^¿?(?:d[óo]nde|en qu[ée]) (?:estaba|est[áa]bamos|quedamos|me qued[ée]|nos quedamos)\W*$",
        "^(?:我们?)?上次(?:做|停|进行)到(?:哪里?|什么地方)",
    ])
});
static FOR_TRAPS: Forms = LazyLock::new(|| {
    patterns([
        r"^(?:so |and )?what (?:are|were) (?:the |our |all |some )?(?:known |common |usual )*(?:pitfalls|gotchas|traps|problems|issues|bugs|mistakes|failures|lessons)(?: learned| learnt)?\b",
        r"^(?:so |and )?(?:what|which) (?:bugs|problems|issues|errors|mistakes|failures|traps|pitfalls) (?:did|have|has|were|are|do)(?: (?:we|i|you|been|there))?(?: (?:fix|fixed|have|had|hit|run into|ran into|see|seen|solve|solved|find|found|made|make|known))?\b",
        r"^(?:so |and )?what (?:went wrong|failed|broke|has failed|has broken|keeps failing)(?: so far| before| here)?\W*$",
        r"^(?:so |and )?what (?:have|did) (?:we|i|you) (?:learn|learned|learnt)(?: so far)?\W*$",
        r"^(?:so |and )?what should (?:i|we|you|an agent) (?:avoid|watch out for|look out for|be careful (?:with|about|of)|beware of)\W*$",
    ])
});
static FOR_DONE: Forms = LazyLock::new(|| {
    patterns([
        r"^(?:so |and )?what (?:have|has|did|was|is|were)(?: (?:i|we|you|been))? (?:done|do|finished?|completed?|accomplished?|achieved?|built|shipped)(?: so far| already| until now| yet)?\W*$",
    ])
});
static FOR_VALUES: Forms = LazyLock::new(|| {
    patterns([
        r"^(?:so |and )?what (?:has )?changed(?: over time| so far)?\W*$",
        r"^(?:so |and )?(?:what|which) (?:are )?(?:the |our )?(?:current )?(?:values|settings)(?: are set| do we (?:use|have)| hold)?\W*$",
    ])
});

/// Each sort of question: words of which it has one, and its forms, which are parsed for the first question with such a word.
static SORTS: [(SectionQuestion, &[&str], &Forms); 9] = [
    (
        SectionQuestion::All,
        &["know", "remember", "wei", "sabes", "知道", "记得"],
        &FOR_ALL,
    ),
    (
        SectionQuestion::Rules,
        &[
            "rule",
            "preference",
            "convention",
            "guideline",
            "standard",
            "instruction",
            "work",
            "insist",
            "prefer",
            "care about",
            "like",
            "want",
            "expect",
            "not do",
            "never do",
            "always do",
            "regeln",
            "vorlieben",
            "konventionen",
            "vorgaben",
            "richtlinien",
            "reglas",
            "preferencias",
            "convenciones",
            "normas",
            "规",
            "偏好",
            "约定",
            "习惯",
        ],
        &FOR_RULES,
    ),
    (
        SectionQuestion::Habits,
        &["ask", "want", "request", "habits"],
        &FOR_HABITS,
    ),
    (
        SectionQuestion::Decisions,
        &[
            "deci",
            "choices",
            "agree",
            "entschieden",
            "beschlossen",
            "tomado",
        ],
        &FOR_DECISIONS,
    ),
    (
        SectionQuestion::Open,
        &[
            "open",
            "unfinished",
            "pending",
            "outstanding",
            "left",
            "to do",
            "todo",
            "incomplete",
            "remaining",
            "next",
            "offen",
            "steht",
            "zu tun",
            "pendiente",
            "abierto",
            "por hacer",
            "还有",
            "接下来",
        ],
        &FOR_OPEN,
    ),
    (
        SectionQuestion::LeftOff,
        &["where", "what w", "wo ", "nde ", "en qu", "上次"],
        &FOR_LEFT_OFF,
    ),
    (
        SectionQuestion::Traps,
        &[
            "pitfall", "gotcha", "trap", "problem", "issue", "bug", "mistake", "failure", "lesson",
            "error", "wrong", "fail", "broke", "learn", "avoid", "out for", "careful", "beware",
        ],
        &FOR_TRAPS,
    ),
    (
        SectionQuestion::Done,
        &[
            "do",
            "finish",
            "complete",
            "accomplish",
            "achieve",
            "built",
            "shipped",
        ],
        &FOR_DONE,
    ),
    (
        SectionQuestion::Values,
        &["chang", "values", "settings"],
        &FOR_VALUES,
    ),
];

fn patterns<const N: usize>(forms: [&str; N]) -> Vec<LazyPattern> {
    forms.into_iter().map(LazyPattern::new).collect()
}

impl SectionQuestion {
    /// Parses a question; `None` for one that asks for anything else, or for less.
    pub(super) fn parse(question: &str) -> Option<Self> {
        let small = question.to_lowercase().replace('’', "'");
        let small = small.trim();
        let has = |words: &[&str]| words.iter().any(|word| small.contains(word));
        let is_one = |form: &LazyPattern| {
            let found = form.if_possible(small).and_then(|form| form.find(small));
            found.is_some_and(|found| {
                is_empty(&format!(
                    "{} {}",
                    &small[..found.start()],
                    &small[found.end()..]
                ))
            })
        };
        let mut sorts = SORTS.iter();
        let sort = sorts.find(|(_, words, forms)| has(words) && forms.iter().any(is_one));
        sort.map(|(what, ..)| *what)
    }

    /// Whether a prompt asks memory for it. "What changed?" and "what failed?" ask an agent at work for its own work.
    pub(super) fn is_for_memory(self) -> bool {
        !matches!(self, Self::Traps | Self::Done | Self::Values)
    }

    /// The sections that answer it, in this order, by words of their headings.
    pub(super) fn headings(self) -> &'static [&'static str] {
        match self {
            Self::All => &[
                "asked to remember",
                "insisted on",
                "asked for again",
                "decisions",
                "what changed",
                "facts",
                "what failed",
                "left off",
            ],
            Self::Rules => &["asked to remember", "insisted on", "asked for again"],
            Self::Habits => &["asked for again"],
            Self::Decisions => &["decisions"],
            Self::Open | Self::LeftOff => &["left off"],
            Self::Traps => &["what failed"],
            Self::Done => &["what was done"],
            Self::Values => &["what changed"],
        }
    }
}

/// Whether the other words of a question name nothing.
fn is_empty(rest: &str) -> bool {
    let query = Query::parse(rest);
    let names = |word: &str| !UNSAID.contains(&word) && !is_stop_word(word);
    let concepts = query.concepts().iter().filter(|one| !one.is_light);
    let mut named = concepts.filter(|one| one.word.as_deref().is_none_or(names));
    named.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::SectionQuestion::{
        self, All, Decisions, Done, Habits, LeftOff, Open, Rules, Traps, Values,
    };

    #[test]
    fn a_question_for_a_section_is_known() {
        for (question, expected) in [
            ("What do you know about me?", All),
            ("what should I know before I start?", All),
            ("tell me everything you know", All),
            ("Was weißt du über mich?", All),
            ("¿qué sabes de mí?", All),
            ("what are my preferences?", Rules),
            ("Which rules should I follow in this project?", Rules),
            ("what coding conventions do I have?", Rules),
            ("list all my rules", Rules),
            ("how do we work here?", Rules),
            ("what did I insist on?", Rules),
            ("Was sind meine Vorlieben?", Rules),
            ("我们有哪些规则", Rules),
            ("what do I always ask for?", Habits),
            ("what decisions have we made so far?", Decisions),
            ("what have we decided?", Decisions),
            ("what is still open?", Open),
            ("what's next?", Open),
            ("what should I do next?", Open),
            ("what are the open questions?", Open),
            ("was ist noch offen?", Open),
            ("where did we leave off?", LeftOff),
            ("where was I?", LeftOff),
            ("what was I working on?", LeftOff),
            ("Wo waren wir stehen geblieben?", LeftOff),
            ("¿dónde quedamos?", LeftOff),
            ("上次做到哪了？", LeftOff),
            ("what are the known pitfalls?", Traps),
            ("which bugs did we fix?", Traps),
            ("what went wrong before?", Traps),
            ("what have we learned?", Traps),
            ("what have we done so far?", Done),
            ("what changed?", Values),
        ] {
            assert_eq!(
                SectionQuestion::parse(question),
                Some(expected),
                "{question}"
            );
        }
    }

    #[test]
    fn a_prompt_for_the_work_at_hand_asks_no_memory() {
        let asks =
            |prompt: &str| SectionQuestion::parse(prompt).map(SectionQuestion::is_for_memory);
        for prompt in ["what changed?", "what failed?", "what have you done?"] {
            assert_ne!(asks(prompt), Some(true), "{prompt}");
        }
        for prompt in ["what are my preferences?", "where did we leave off?"] {
            assert_eq!(asks(prompt), Some(true), "{prompt}");
        }
    }

    #[test]
    fn a_question_that_names_what_it_is_about_is_searched_for() {
        for question in [
            "what do you know about the importer?",
            "what are the rules of the tide game?",
            "what are my preferences for tests?",
            "what decisions have we made about suffixes?",
            "what did we decide about suffixes?",
            "which bugs did we fix in the importer?",
            "what is open source?",
            "where was the harbour built?",
            "where are we with the importer?",
            "where are you?",
            "what is the next release called?",
            "how do we work with worktrees?",
            "what changed in the importer?",
            "what failed in CI?",
            "what did I want from the tide table?",
        ] {
            assert_eq!(SectionQuestion::parse(question), None, "{question}");
        }
    }
}
