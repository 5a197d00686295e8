//! Places answers that add nothing to a question behind the others: "the branch name" answers no "how do we name branches?".
//!
//! Such a text shares all of its words with the question, which is why it is found. Where the question is whether something is
//! so, it may be the answer: "squash commits" to "should we squash commits?".

use std::collections::HashSet;
use std::sync::LazyLock;

use daybook_domain::index::MemoryLayer;
use daybook_ranking::question_kind::matches_any;
use daybook_text::lazy_pattern::LazyPattern;
use daybook_text::tokens::index_text;

use super::RankedAnswer;

/// Most bytes of such a text.
const SHORT: usize = 60;

/// What a question begins with whose answer needs words of its own. "Was the branch merged?" is English, and needs none.
static ASKS_FOR_MORE: LazyLock<Vec<LazyPattern>> = LazyLock::new(|| {
    [
        r"^\W*(?:(?:so|and|but|ok|in|on|at|for|to|from|with|by|under|since) )*(?:what|which|who|whose|whom|when|where|why|how)\b",
        r"^\W*(?:(?:und|aber|also|in|auf|für|mit|seit|bis|zu) )*(?:was (?:ist|sind|war|waren|haben|hat|gilt|soll|muss|wird)|welche[rnsm]?|wer|wem|wen|wessen|wann|wo|wohin|woher|warum|wieso|weshalb|wie)\b",
        r"^\W*(?:(?:y|pero|en|a|de|con|por|para|desde|hasta) )*(?:qu[eé]|cu[aá]l(?:es)?|qui[eé]n(?:es)?|cu[aá]ndo|d[oó]nde|c[oó]mo|cu[aá]nt[oa]s?)\b",
        "什么|怎么|哪|谁|多少|几|为何",
    ]
    .into_iter()
    .map(LazyPattern::new)
    .collect()
});

/// Words that say nothing by themselves.
const EMPTY: [&str; 33] = [
    "the", "a", "an", "of", "for", "in", "on", "to", "is", "are", "and", "so", "our", "my", "we",
    "i", "der", "die", "das", "ein", "eine", "und", "den", "dem", "el", "la", "los", "las", "un",
    "una", "de", "le", "les",
];

/// Places texts of people and agents that have no word but the question's behind the other answers.
pub(super) fn place_echoes_last(answers: Vec<RankedAnswer>, question: &str) -> Vec<RankedAnswer> {
    if !matches_any(&ASKS_FOR_MORE, question) {
        return answers;
    }
    let asked = index_text(question);
    let asked: HashSet<&str> = asked.split_whitespace().collect();
    let (mut placed, echoes): (Vec<_>, Vec<_>) =
        answers.into_iter().partition(|one| !is_echo(one, &asked));
    placed.extend(echoes);
    placed
}

fn is_echo(answer: &RankedAnswer, asked: &HashSet<&str>) -> bool {
    if answer.layer != MemoryLayer::Event || answer.text.len() > SHORT || answer.context.is_some() {
        return false;
    }
    let words = index_text(&answer.text);
    let mut words = words.split_whitespace();
    words.all(|word| asked.contains(word) || EMPTY.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(question: &str, texts: &[&str], first: &str) {
        let answers = texts
            .iter()
            .map(|text| RankedAnswer::of_text((*text).to_owned(), MemoryLayer::Event));
        let placed = place_echoes_last(answers.collect(), question);
        assert_eq!(placed[0].text, first, "{question}");
        assert_eq!(placed.len(), texts.len());
    }

    #[test]
    fn a_text_of_the_questions_words_answers_nothing() {
        let texts = ["the branch name", "branches are named after tickets"];
        check("how do we name branches?", &texts, texts[1]);
        let texts = ["der Name der Branches", "Branches heißen nach Tickets"];
        check("wie ist der Name der Branches?", &texts, texts[1]);
        let texts = ["分支名", "分支名用工单号"];
        check("分支名是什么？", &texts, texts[1]);
    }

    #[test]
    fn it_may_answer_whether_something_is_so() {
        let texts = ["squash commits", "the commits of the squash court"];
        check("should we squash commits?", &texts, texts[0]);
        let texts = ["the branch was merged", "the merged branch is a tide's"];
        check("was the branch merged?", &texts, texts[0]);
        let texts = ["squash when merging", "when merging, squash is off"];
        check("should we squash when merging?", &texts, texts[0]);
        // A negation is a word of its own.
        let texts = ["no branch names", "branches are named after tickets"];
        check("how do we name branches?", &texts, texts[0]);
    }
}
