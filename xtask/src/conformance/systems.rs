//! The five systems, their numbers on the page, and what of them is planned.
//!
//! Daycare is two: it collects sessions, and it makes memories of them. A behaviour that is not built must be part of a
//! plan; without one its row gives the reason why it is done otherwise.

use std::fmt::Write;
use std::ops::RangeInclusive;

use super::page::{Number, Page, Row, StatusKind};

type Places = &'static [RangeInclusive<u32>];

/// One system.
struct System {
    name: &'static str,
    letter: char,
    /// Its places in the section of its letter.
    places: Places,
}

const ALL: RangeInclusive<u32> = 1..=u32::MAX;
/// Daycare's collection of sessions: marks, histories and the worker.
const COLLECTION: Places = &[1..=26, 66..=73, 80..=80, 82..=82, 89..=91];
/// Daycare's memories: transcripts, observations, entities and their agents.
const MEMORIES: Places = &[27..=65, 74..=79, 81..=81, 83..=88, 92..=u32::MAX];

const SYSTEMS: [System; 5] = [
    System {
        name: "Daycare, collection of sessions",
        letter: 'D',
        places: COLLECTION,
    },
    System {
        name: "Daycare, memories",
        letter: 'D',
        places: MEMORIES,
    },
    System {
        name: "Codex",
        letter: 'C',
        places: &[ALL],
    },
    System {
        name: "Team9's working memory",
        letter: 'W',
        places: &[ALL],
    },
    System {
        name: "MindRoom",
        letter: 'M',
        places: &[ALL],
    },
];

/// What is planned, and the numbers that wait for it.
const PLANS: [(&str, char, Places); 8] = [
    ("an agent that consolidates", 'C', &[81..=81]),
    ("a reset", 'C', &[48..=48, 91..=92]),
    ("tools that list and read memory files", 'C', &[114..=123]),
    ("mem0 as a store", 'M', &[51..=56, 60..=63]),
    ("the file layouts of the profiles", 'D', &[47..=51]),
    (
        "the file layouts of the profiles",
        'M',
        &[6..=8, 24..=27, 41..=50],
    ),
    (
        "scopes of agents, teams and rooms",
        'M',
        &[28..=28, 38..=40, 49..=50, 54..=54, 57..=59, 64..=64],
    ),
    (
        "stages of compaction in working memory",
        'W',
        &[28..=29, 60..=60, 69..=69, 79..=79, 93..=93],
    ),
];

fn has(places: Places, number: Number) -> bool {
    places.iter().any(|range| range.contains(&number.place))
}

impl System {
    fn rows<'p>(&self, page: &'p Page) -> impl Iterator<Item = (&'p Number, &'p Row)> {
        let (letter, places) = (self.letter, self.places);
        let rows = page.rows.iter();
        rows.filter(move |(number, _)| number.system == letter && has(places, **number))
    }
}

/// What a number waits for.
fn plan_of(number: Number) -> Option<&'static str> {
    let mut plans = PLANS.iter();
    let plan = plans.find(|(_, letter, places)| *letter == number.system && has(places, number));
    plan.map(|(plan, _, _)| *plan)
}

/// Rows that are not built although nothing plans them, and numbers that belong to none of the five systems or to two.
pub(super) fn broken(page: &Page) -> Vec<(Number, &'static str)> {
    let mut broken = Vec::new();
    for (number, row) in &page.rows {
        if row.kind == StatusKind::NotBuilt && plan_of(*number).is_none() {
            broken.push((
                *number,
                "it is not built, and no plan has it; give the reason as `otherwise:`",
            ));
        }
        if row.kind == StatusKind::Otherwise && row.reason.is_empty() {
            broken.push((*number, "it is done otherwise without a reason"));
        }
        let of_systems = SYSTEMS
            .iter()
            .filter(|system| system.letter == number.system && has(system.places, *number));
        if of_systems.count() != 1 {
            broken.push((*number, "it belongs to none of the systems, or to several (xtask/src/conformance/systems.rs)"));
        }
    }
    broken
}

/// For each system: how many behaviours it has, how many of them a test shows, and the others with their reasons.
pub(super) fn summary(page: &Page) -> String {
    let mut text = format!("{} behaviours\n", page.rows.len());
    let _ = writeln!(
        text,
        "{:34} {:>6} {:>14} {:>15} {:>10}",
        "", "total", "shown by test", "done otherwise", "not built"
    );
    for system in &SYSTEMS {
        let count = |kind| {
            system
                .rows(page)
                .filter(|(_, row)| row.kind == kind)
                .count()
        };
        let _ = writeln!(
            text,
            "{:34} {:>6} {:>14} {:>15} {:>10}",
            system.name,
            system.rows(page).count(),
            count(StatusKind::Shown),
            count(StatusKind::Otherwise),
            count(StatusKind::NotBuilt),
        );
    }
    for (kind, title) in [
        (StatusKind::Otherwise, "done otherwise"),
        (StatusKind::NotBuilt, "not built"),
    ] {
        for system in &SYSTEMS {
            let rows: Vec<_> = system
                .rows(page)
                .filter(|(_, row)| row.kind == kind)
                .collect();
            if !rows.is_empty() {
                let _ = writeln!(text, "\n{}, {title}:", system.name);
            }
            for (number, row) in rows {
                let plan = plan_of(*number).filter(|_| kind == StatusKind::NotBuilt);
                let plan = plan.map(|plan| format!("planned with {plan}"));
                let said = plan.into_iter().chain([row.reason.clone()]);
                let said: Vec<String> = said.filter(|it| !it.is_empty()).collect();
                let _ = writeln!(text, "  {number}: {}", said.join("; "));
            }
        }
    }
    text.trim_end().to_owned()
}
