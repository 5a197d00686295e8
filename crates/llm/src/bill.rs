//! What one `ask` has spent, over all its tries and repairs.

use daybook_domain::model::{Spent, Usage};

#[derive(Debug, Default)]
pub(crate) struct Bill {
    requests: u32,
    usage: Usage,
    /// The provider said what an answer cost.
    reported: bool,
    /// Something was sent, and what it cost is not known.
    unknown: bool,
}

impl Bill {
    /// A request reached the provider and was turned away unread.
    pub(crate) fn turned_away(&mut self) {
        self.requests = self.requests.saturating_add(1);
    }

    /// A request was sent and nobody knows what became of it.
    pub(crate) fn lost(&mut self) {
        self.turned_away();
        self.unknown = true;
    }

    /// A request was answered.
    pub(crate) fn answered(&mut self, usage: Option<Usage>) {
        self.turned_away();
        match usage {
            Some(usage) => {
                self.usage += usage;
                self.reported = true;
            }
            None => self.unknown = true,
        }
    }

    pub(crate) fn requests(&self) -> u32 {
        self.requests
    }

    pub(crate) fn usage(&self) -> Option<Usage> {
        (self.reported && !self.unknown).then_some(self.usage)
    }

    pub(crate) fn spent(&self) -> Spent {
        match self.usage() {
            Some(usage) => Spent::Reported(usage),
            None if self.unknown => Spent::Unknown,
            None => Spent::Nothing,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const USAGE: Usage = Usage {
        input: 5,
        cached: 2,
        output: 3,
    };

    #[test]
    fn what_was_turned_away_costs_nothing() {
        let mut bill = Bill::default();
        bill.turned_away();
        assert_eq!((bill.spent(), bill.usage()), (Spent::Nothing, None));
        bill.answered(Some(USAGE));
        bill.answered(Some(USAGE));
        assert_eq!(bill.requests(), 3);
        let twice = Usage {
            input: 10,
            cached: 4,
            output: 6,
        };
        assert_eq!(bill.spent(), Spent::Reported(twice));
    }

    #[test]
    fn one_unknown_makes_all_unknown() {
        let mut bill = Bill::default();
        bill.answered(Some(USAGE));
        bill.lost();
        assert_eq!((bill.spent(), bill.usage()), (Spent::Unknown, None));
    }
}
