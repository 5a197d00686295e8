//! What is shown when not everything fits: whose words come first, and what a row may cost.
//!
//! A person's words are the last to go, what tools printed the first (2.5). Within a tier the
//! newest are kept. What is kept is shown in the order in which it was said.
//!
//! Not here: how a row looks.

use daybook_domain::{Event, Origin};

/// How much an event's words are worth, best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Tier {
    /// A person's own words.
    Human,
    /// What the agent said last in a turn.
    Final,
    /// What another agent said, or was told, in a side conversation.
    OtherAgent,
    /// What the agent said on the way.
    Commentary,
    /// What the harness put in.
    Context,
    /// Calls of tools and what came of them.
    Tool,
}

impl Tier {
    /// Best first.
    pub(super) const ALL: [Self; 6] = [
        Self::Human,
        Self::Final,
        Self::OtherAgent,
        Self::Commentary,
        Self::Context,
        Self::Tool,
    ];
}

/// Each event's tier; `None` for what a model is never shown: our own words, what a machine wrote in
/// a person's place, what was taken back, and silence.
pub(super) fn tiers(events: &[Event]) -> Vec<Option<Tier>> {
    let mut ends_turn = true;
    let mut tiers: Vec<Option<Tier>> = events
        .iter()
        .rev()
        .map(|event| {
            let tier = tier(event, ends_turn)?;
            match tier {
                Tier::Human => ends_turn = true,
                Tier::Final => ends_turn = false,
                Tier::OtherAgent | Tier::Commentary | Tier::Context | Tier::Tool => {}
            }
            Some(tier)
        })
        .collect();
    tiers.reverse();
    tiers
}

fn tier(event: &Event, ends_turn: bool) -> Option<Tier> {
    if event.text.trim().is_empty() {
        return None;
    }
    match event.origin {
        Origin::Human | Origin::Assistant if event.sidechain => Some(Tier::OtherAgent),
        Origin::Human => Some(Tier::Human),
        Origin::Assistant if ends_turn => Some(Tier::Final),
        Origin::Assistant => Some(Tier::Commentary),
        Origin::Harness => Some(Tier::Context),
        Origin::ToolCall | Origin::ToolResult => Some(Tier::Tool),
        Origin::Synthetic | Origin::Recalled | Origin::Retraction => None,
    }
}

/// Which rows are shown, by place. `rows` are tiers and costs in source order; showing any row may
/// cost one gap line before it, and the end one more. All of the costs together stay within `budget`.
pub(super) fn chosen(rows: &[(Tier, u32)], budget: u32, gap: u32) -> Vec<bool> {
    let all = rows
        .iter()
        .fold(0_u32, |sum, (_, cost)| sum.saturating_add(*cost));
    if all <= budget {
        return vec![true; rows.len()];
    }
    let mut shown = vec![false; rows.len()];
    let mut left = budget.saturating_sub(gap);
    for tier in Tier::ALL {
        for (i, (_, cost)) in rows.iter().enumerate().rev().filter(|(_, r)| r.0 == tier) {
            let cost = cost.saturating_add(gap);
            if cost <= left {
                left -= cost;
                shown[i] = true;
            }
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_persons_words_are_the_last_to_go_and_the_newest_of_a_tier_stay() {
        let rows = [
            (Tier::Human, 10),
            (Tier::Tool, 10),
            (Tier::Human, 10),
            (Tier::Final, 10),
            (Tier::Tool, 1),
        ];
        assert_eq!(chosen(&rows, 41, 0), [true; 5]);
        assert_eq!(chosen(&rows, 30, 0), [true, false, true, true, false]);
        assert_eq!(chosen(&rows, 15, 1), [false, false, true, false, true]);
        assert_eq!(chosen(&rows, 0, 1), [false; 5]);
    }

    proptest! {
        #[test]
        fn what_is_shown_fits_with_all_its_gaps(
            costs in prop::collection::vec((0_usize..6, 1_u32..50), 0..30),
            budget in 0_u32..400,
            gap in 1_u32..10,
        ) {
            let rows: Vec<_> = costs.iter().map(|(t, c)| (Tier::ALL[*t], *c)).collect();
            let shown = chosen(&rows, budget, gap);
            let mut cost = 0;
            let mut hidden = false;
            for ((_, row), shown) in rows.iter().zip(&shown) {
                if *shown {
                    cost += row + if hidden { gap } else { 0 };
                }
                hidden = !shown;
            }
            cost += if hidden && !rows.is_empty() { gap } else { 0 };
            prop_assert!(cost <= budget || shown.iter().all(|s| !s));
        }
    }
}
