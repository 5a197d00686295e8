//! Adds up what one `ask` has used, over all its tries and repairs.

use daybook_domain::model::{FailureCost, Usage};

#[derive(Debug, Default)]
pub(crate) struct UsageTally {
    requests: u32,
    usage: Usage,
    /// The provider reported the usage of an answer.
    reported: bool,
    /// Something was sent, and its usage is not known.
    unknown: bool,
}

impl UsageTally {
    /// Counts a request that reached the provider and was turned away unread.
    pub(crate) fn count_rejected(&mut self) {
        self.requests = self.requests.saturating_add(1);
    }

    /// Counts a request that was sent and whose usage is unknown.
    pub(crate) fn count_unanswered(&mut self) {
        self.count_rejected();
        self.unknown = true;
    }

    /// Counts a request that was answered.
    pub(crate) fn count_answered(&mut self, usage: Option<Usage>) {
        self.count_rejected();
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

    pub(crate) fn failure_cost(&self) -> FailureCost {
        match self.usage() {
            Some(usage) => FailureCost::Reported(usage),
            None if self.unknown => FailureCost::Unknown,
            None => FailureCost::Nothing,
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
        let mut tally = UsageTally::default();
        tally.count_rejected();
        assert_eq!(
            (tally.failure_cost(), tally.usage()),
            (FailureCost::Nothing, None)
        );
        tally.count_answered(Some(USAGE));
        tally.count_answered(Some(USAGE));
        assert_eq!(tally.requests(), 3);
        let twice = Usage {
            input: 10,
            cached: 4,
            output: 6,
        };
        assert_eq!(tally.failure_cost(), FailureCost::Reported(twice));
    }

    #[test]
    fn one_unknown_makes_all_unknown() {
        let mut tally = UsageTally::default();
        tally.count_answered(Some(USAGE));
        tally.count_unanswered();
        assert_eq!(
            (tally.failure_cost(), tally.usage()),
            (FailureCost::Unknown, None)
        );
    }
}
