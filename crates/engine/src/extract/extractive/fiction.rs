//! Finds messages of a chat in which people speak as another person: a role in a game, a character, the I of a story. And
//! sentences that were a joke, by what their message or the agent's reply says of them.
//!
//! Neither teaches anything. Only the message and its reply decide, so that a log teaches the same however it is cut; later
//! messages in the role pass for the person's own.

use std::sync::LazyLock;

use daybook_text::lazy_pattern::LazyPattern;

/// In lower case.
static PLAYS: LazyLock<Vec<LazyPattern>> = LazyLock::new(|| {
    [
        r"\b(?:role-?play(?:ing)?|role play|dungeon master|in character|backstory|rollenspiel|juego de rol|jeu de rôle)\b|角色扮演",
        r"\b(?:write|draft|begin|continue|tell)\b.{0,40}\b(?:short story|story|poem|scene|monologue|limerick|fairy tale)\b",
        r"\b(?:schreibe?|erzähle?|dichte) (?:mir|uns|bitte|den|die|das|eine?n?|mal|was)\b.{0,60}\b(?:kurzgeschichte|geschichte|gedicht|szene|monolog|märchen)\b",
        r"\b(?:escribe|cuenta|inventa)\b.{0,40}\b(?:cuento|historia|poema|escena|monólogo)\b",
        r"(?:写|讲|编)(?:一|个|篇|段|首).{0,10}(?:故事|小说|诗|剧本)",
        r"\b(?:pretend|imagine) (?:that )?(?:you're|you are|i'm|i am|we're|we are)\b|\bstell dir vor,? (?:du bist|ich bin|wir sind)\b|\bimagina que (?:eres|soy|somos)\b|假装|假设你是",
        r"\bi'?m [\p{L} ]{2,30}, you'?re (?:a|an|the)\b",
    ]
    .into_iter()
    .map(LazyPattern::new)
    .collect()
});

/// Words that tell of something that it was a joke. In lower case.
static JOKES: LazyLock<LazyPattern> = LazyLock::new(|| {
    LazyPattern::new(
        r"\b(?:april fools?'?|(?:just|only) kidding|(?:was|is|as|for) (?:just |only )?a joke|(?:it|that|this)'s (?:just |only )?a joke|joke over|(?:is|it's) the first of april|april,? april|aprilscherz|(?:war|ist|nur|für) (?:nur )?ein(?:en)? (?:scherz|witz)|nur spaß|(?:es|era|fue) (?:una )?broma|día de los inocentes|poisson d'avril)\b|开玩笑|愚人节",
    )
});

/// Whether a text, in lower case with straight apostrophes, says that something was a joke.
pub(super) fn tells_of_joke(low: &str) -> bool {
    JOKES.is_match(low)
}

/// Whether a message, in lower case with straight apostrophes, sets up a role or a story.
pub(super) fn plays(low: &str) -> bool {
    PLAYS.iter().any(|pattern| pattern.is_match(low))
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;
    use super::plays;

    #[test]
    fn a_joke_teaches_nothing() {
        let talk = |words: &str, reply: &str| {
            format!(
                "human: build the tide page
call Bash: ls
ok: src
assistant: Built.
human: {words}
assistant: {reply}"
            )
        };
        let rule = "always answer in rhymes from now on";
        check(
            &talk(rule, "I will."),
            &["preference 5: always answer in rhymes from now on"],
        );
        check(
            &talk(rule, "It is the first of April, so I take that for a joke."),
            &[],
        );
        check(&talk(&format!("{rule}. that was a joke"), "Ha."), &[]);
        check(
            &talk("that was a joke. always use tabs in the ledger", "I will."),
            &["preference 5: always use tabs in the ledger"],
        );
    }

    #[test]
    fn roles_and_stories_are_told_from_what_people_are() {
        for message in [
            "let's do a roleplay. i'm thessaly, 48, exiled noblewoman",
            "vamos a hacer un juego de rol: yo soy sofía",
            "schreib den anfang einer kurzgeschichte, ich-form. ich bin 71",
            "game. i'm joan garstang, you're a reporter",
            "write me a short story: i am a keeper of bees",
            "stell dir vor, du bist mein chef",
        ] {
            assert!(plays(message), "{message}");
        }
        for message in [
            "i play a lot of games with my kids",
            "i'm ada, i write novels and translate for a living",
            "my sister tells good stories, i'm more of a listener",
            "ich schreibe an meiner geschichte des bergbaus",
            "i'm tired and you're a dear",
        ] {
            assert!(!plays(message), "{message}");
        }
    }
}
