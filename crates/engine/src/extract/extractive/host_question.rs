//! Messages in which a host put a question of the agent to the person, as importers write them: "Q: …", then "A: …".
//!
//! Not here: what the answer decides (`choices`).

/// The parts of a message that holds a question of the agent and the person's answer, and nothing else.
pub(super) fn question_and_answer(message: &str) -> Option<(&str, &str)> {
    let (question, answer) = message.trim().strip_prefix("Q: ")?.split_once("\nA: ")?;
    (!answer.contains("\nQ: ")).then_some((question, answer))
}
