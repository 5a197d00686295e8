//! Which events are shown when not all fit: a tier for each event, and the choice of rows within a budget.
//!
//! A person's messages are dropped last, tools' output first (C65). Within a tier the
//! newest are kept. The kept rows stay in their original order.
//!
//! Not here: how a row looks.

use daybook_domain::{Event, Origin};
use strum::VariantArray;

/// The rank of an event when rows are chosen, best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, VariantArray)]
pub(super) enum Tier {
    /// A person's own words.
    Human,
    /// The agent's last message in a turn.
    Final,
    /// A message to or from another agent, in a side conversation.
    OtherAgent,
    /// The agent's earlier messages in a turn.
    Commentary,
    /// Text inserted by the harness.
    Context,
    /// Tool calls and their results.
    Tool,
}

/// Each event's tier; `None` for events that a model never sees: recalled memory, synthetic messages,
/// retractions, and events without text.
pub(super) fn tiers_of(events: &[Event]) -> Vec<Option<Tier>> {
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

/// Selects the rows to show: one flag for each. `rows` are tiers and costs in source order; each shown row may
/// cost one gap line before it, and the end one more. The sum of all costs stays within `budget`.
pub(super) fn select_rows(rows: &[(Tier, u32)], budget: u32, gap: u32) -> Vec<bool> {
    let all = rows
        .iter()
        .fold(0_u32, |sum, (_, cost)| sum.saturating_add(*cost));
    if all <= budget {
        return vec![true; rows.len()];
    }
    let mut shown = vec![false; rows.len()];
    let mut left = budget.saturating_sub(gap);
    for &tier in Tier::VARIANTS {
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
        assert_eq!(select_rows(&rows, 41, 0), [true; 5]);
        assert_eq!(select_rows(&rows, 30, 0), [true, false, true, true, false]);
        assert_eq!(select_rows(&rows, 15, 1), [false, false, true, false, true]);
        assert_eq!(select_rows(&rows, 0, 1), [false; 5]);
    }

    proptest! {
        #[test]
        fn what_is_shown_fits_with_all_its_gaps(
            costs in prop::collection::vec((0_usize..6, 1_u32..50), 0..30),
            budget in 0_u32..400,
            gap in 1_u32..10,
        ) {
            let rows: Vec<_> = costs.iter().map(|(t, c)| (Tier::VARIANTS[*t], *c)).collect();
            let shown = select_rows(&rows, budget, gap);
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
