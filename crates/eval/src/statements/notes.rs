//! Measures what is kept of what people say of themselves: the turns of dialogues are extracted one by one, as messages of
//! a chat, and compared with what the dataset's authors noted of their speakers.

use serde::Serialize;

use super::run::drafts_in_chat;
use crate::dataset::Split;
use crate::load::NotedTurn;

/// The first dialogues of a file, for choosing weights; the others are for reporting alone.
const TUNED_ON: usize = 3;

/// What is kept of dialogues.
#[derive(Debug, Clone, Default, Serialize)]
pub struct NotesReport {
    /// Turns.
    pub turns: usize,
    /// Turns of which something was noted.
    pub noted: usize,
    /// Turns of which something is kept.
    pub kept: usize,
    /// Turns of which something was noted and something is kept.
    pub both: usize,
    /// Turns of which something was noted and nothing is kept.
    pub missed: Vec<String>,
    /// Lines that are kept of turns of which nothing was noted.
    pub unnoted: Vec<String>,
}

impl NotesReport {
    /// The share of what is kept that was noted, too.
    #[must_use]
    pub fn precision(&self) -> f64 {
        self.both as f64 / self.kept.max(1) as f64
    }

    /// The share of what was noted that is kept.
    #[must_use]
    pub fn recall(&self) -> f64 {
        self.both as f64 / self.noted.max(1) as f64
    }
}

/// Extracts the turns of the dialogues of `split`, or of all.
#[must_use]
pub fn run_notes(dialogues: &[Vec<NotedTurn>], split: Option<Split>) -> NotesReport {
    let (tune, report) = dialogues.split_at(dialogues.len().min(TUNED_ON));
    let wanted = match split {
        None => dialogues,
        Some(Split::Tune) => tune,
        Some(Split::Report) => report,
    };
    let mut found = NotesReport::default();
    for turn in wanted.iter().flatten() {
        let lines = drafts_in_chat(&turn.text);
        let is_kept = !lines.is_empty();
        found.turns += 1;
        found.noted += usize::from(turn.is_noted);
        found.kept += usize::from(is_kept);
        found.both += usize::from(turn.is_noted && is_kept);
        if turn.is_noted && !is_kept {
            found.missed.push(turn.text.clone());
        }
        if !turn.is_noted {
            found
                .unnoted
                .extend(lines.into_iter().map(|line| line.text));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_of_turns_is_compared_with_what_was_noted_of_them() {
        let turn = |text: &str, is_noted| NotedTurn {
            text: text.to_owned(),
            is_noted,
        };
        let dialogue = vec![
            turn("Call me Grace and never use emojis.", true),
            turn("Wow, thanks!", true),
            turn("How are you?", false),
        ];
        let report = run_notes(&[dialogue.clone(), dialogue], Some(Split::Tune));
        assert_eq!(
            (report.turns, report.noted, report.kept, report.both),
            (6, 4, 2, 2)
        );
        assert_eq!(report.missed, ["Wow, thanks!"; 2]);
        assert!((report.precision() - 1.0).abs() < 1e-12 && (report.recall() - 0.5).abs() < 1e-12);
        assert_eq!(run_notes(&[], Some(Split::Report)).turns, 0);
    }
}
