//! Shortens an account, step by step, until it fits.
//!
//! What an agent misses least goes first: outcomes of calls, then the agent's older words, then details of calls. A
//! person's messages keep what they forbid, demand and decide when all else of them is gone, and their demands are
//! dropped last. Within a step the oldest items are shortened first, so that the newest keep their words longest.

use daybook_text::wishes::WishKind;

use super::item::{CallTally, Item, ItemKind};
use super::{Section, SummaryAccount};

/// One way of making items shorter.
#[derive(Debug, Clone, Copy)]
enum Step {
    /// Drops the outcomes of calls.
    Outcomes,
    /// Joins the calls of each tool; the line names this many of them.
    Tally(usize),
    /// Cuts items of a kind to so many characters, except the newest; none drops them.
    Cut {
        kind: ItemKind,
        newest: usize,
        most: usize,
    },
    /// Reduces the person's messages to their sentences of this weight or more, each of so many characters; messages
    /// without any, to so many characters of their beginning.
    Person(WishKind, usize, usize),
    /// Drops the person's messages.
    DropPerson,
}

const fn cut(kind: ItemKind, newest: usize, most: usize) -> Step {
    Step::Cut { kind, newest, most }
}

/// The steps, in their order.
const STEPS: [Step; 24] = [
    Step::Outcomes,
    cut(ItemKind::Agent, 4, 240),
    cut(ItemKind::Note, 4, 600),
    Step::Tally(12),
    cut(ItemKind::Agent, 2, 120),
    cut(ItemKind::Failure, 6, 0),
    Step::Person(WishKind::Request, 400, 600),
    Step::Tally(6),
    cut(ItemKind::Note, 2, 240),
    cut(ItemKind::Agent, 3, 0),
    Step::Person(WishKind::Request, 240, 160),
    cut(ItemKind::Failure, 2, 0),
    cut(ItemKind::Note, 0, 160),
    Step::Person(WishKind::PutOff, 240, 80),
    Step::Tally(3),
    cut(ItemKind::Agent, 0, 160),
    Step::Person(WishKind::PutOff, 200, 40),
    cut(ItemKind::Note, 0, 0),
    cut(ItemKind::Failure, 0, 0),
    Step::Person(WishKind::PutOff, 160, 0),
    Step::Tally(0),
    Step::Person(WishKind::Rule, 120, 0),
    cut(ItemKind::Agent, 0, 0),
    Step::DropPerson,
];

/// Tokens of the line break and the mark of an item.
const MARK: u64 = 2;

impl SummaryAccount {
    /// Shortens items until the account has at most `room` tokens, or nothing is left to shorten.
    pub(super) fn shorten(&mut self, room: u64, tokens: &impl Fn(&str) -> u64) {
        for step in STEPS {
            // Counts of parts are not the count of the whole, so a step is repeated while it shortens anything.
            loop {
                let all = tokens(&self.render());
                if all <= room {
                    return;
                }
                if self.take(step, all - room, tokens) == 0 {
                    break;
                }
            }
        }
    }

    /// Takes a step until it has saved `over` tokens. Returns about how many it saved.
    fn take(&mut self, step: Step, over: u64, tokens: &impl Fn(&str) -> u64) -> u64 {
        if let Step::Tally(named) = step {
            return self.tally(named, tokens);
        }
        let mut saved = 0;
        for section in [
            Section::Completed,
            Section::Attempted,
            Section::Next,
            Section::Key,
            Section::State,
        ] {
            let at = section as usize;
            let mut number = 0;
            while number < self.items[at].len() && saved < over {
                let item = &self.items[at][number];
                let newer = self.items[at][number + 1..].iter();
                let newer = newer.filter(|it| it.kind() == item.kind()).count();
                let before = tokens(&item.0) + MARK;
                match shorter(item, step, newer) {
                    Some(Some(short)) if short.0.len() < item.0.len() => {
                        saved += before.saturating_sub(tokens(&short.0) + MARK).max(1);
                        self.items[at][number] = short;
                        number += 1;
                    }
                    Some(None) => {
                        saved += before;
                        self.items[at].remove(number);
                        self.left_out[at] += 1;
                    }
                    Some(Some(_)) | None => number += 1,
                }
            }
        }
        saved
    }

    /// Joins the calls of each tool into one line, which names the `named` newest.
    fn tally(&mut self, named: usize, tokens: &impl Fn(&str) -> u64) -> u64 {
        let items = &mut self.items[Section::Completed as usize];
        let size = |items: &[Item]| items.iter().map(|it| tokens(&it.0) + MARK).sum::<u64>();
        let before = size(items);
        let mut tallies: Vec<CallTally> = Vec::new();
        items.retain(|item| {
            let Some(calls) = item.calls() else {
                return true;
            };
            match tallies.iter_mut().find(|it| it.tool == calls.tool) {
                Some(tally) => tally.add(calls),
                None => tallies.push(calls),
            }
            false
        });
        let lines = tallies.iter().map(|tally| Item::note(tally.text(named)));
        items.splice(0..0, lines);
        before.saturating_sub(size(items))
    }
}

/// The shorter form of an item after `step`, before `newer` items of its kind: `Some(None)` if it is dropped, `None` if
/// the step does not concern it.
fn shorter(item: &Item, step: Step, newer: usize) -> Option<Option<Item>> {
    let kind = item.kind();
    match step {
        Step::Outcomes => (kind == ItemKind::Call).then(|| Some(item.without_outcome())),
        Step::Cut {
            kind: cut,
            newest,
            most,
        } => (kind == cut && newer >= newest).then(|| item.cut(most)),
        Step::Person(least, most, head) => {
            (kind == ItemKind::Person).then(|| item.with_wishes_alone(least, most, head))
        }
        Step::DropPerson => (kind == ItemKind::Person).then_some(None),
        Step::Tally(_) => None,
    }
}
