//! At a cap another extractor stands in, and says so.
//!
//! What a stand-in made is marked with whom it stood in for and until when there was no room
//! ([`StoodIn`]), so that it can be done anew then. It stands in only where the end of a cap's period brings
//! room again, and never in a redo: there the results before it hold, and what the asked extractor has done
//! since its beginning would be paid for once more.
//!
//! Not here: when it is done anew (`jobs::redo`).

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use daybook_domain::calendar::Day;
use daybook_domain::{FailureClass, Timestamp, Wait};

use super::{Expected, ExtractError, Extracted, Extractor, LookBack, Window};

/// An extractor that is asked, and one that does what there is no room to ask it for.
pub struct StandIn {
    asked: Arc<dyn Extractor>,
    other: Arc<dyn Extractor>,
}

impl StandIn {
    /// Asks `asked`; at a cap `other` does the window.
    #[must_use]
    pub fn new(asked: Arc<dyn Extractor>, other: Arc<dyn Extractor>) -> Self {
        Self { asked, other }
    }
}

#[async_trait]
impl Extractor for StandIn {
    fn name(&self) -> &str {
        self.asked.name()
    }

    fn wants_known(&self) -> bool {
        self.asked.wants_known()
    }

    fn look_back(&self) -> LookBack {
        self.asked.look_back().max(self.other.look_back())
    }

    fn forecast(&self, window: Window<'_>) -> Option<Expected> {
        self.asked.forecast(window.shown(self.asked.look_back()))
    }

    async fn extract(&self, window: Window<'_>) -> Result<Extracted, ExtractError> {
        let shown = window.shown(self.asked.look_back());
        let unasked = match self.asked.extract(shown).await {
            Err(error) if error.class == FailureClass::AtCap && !window.is_redone => error,
            done => return done,
        };
        let Wait::Until(until) = unasked.wait else {
            return Err(unasked);
        };
        let until = Day::of(until).to_string();
        let extracted = self.other.extract(window).await?;
        let stood_in = StoodIn {
            by: self.other.name(),
            instead_of: self.asked.name(),
            until: &until,
        };
        Ok(Extracted {
            made_by: Some(stood_in.to_string()),
            ..extracted
        })
    }
}

/// Who stood in for whom, as an extraction records it:
/// `extractive/1 for extract/3 openai/x until 2026-12-01`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoodIn<'a> {
    /// Who made the extraction.
    pub by: &'a str,
    /// Who was to make it.
    pub instead_of: &'a str,
    /// The day in UTC with which there is room again: periods of caps end with days.
    pub until: &'a str,
}

impl<'a> StoodIn<'a> {
    /// What an extraction's record says of a stand-in; `None` when there was none.
    #[must_use]
    pub fn parse(extractor: &'a str) -> Option<Self> {
        let (who, until) = extractor.rsplit_once(" until ")?;
        let (by, instead_of) = who.split_once(" for ")?;
        Some(Self {
            by,
            instead_of,
            until,
        })
    }

    /// Whether there is room again at `now`, as far as the cap of then is concerned.
    #[must_use]
    pub fn is_over(&self, now: Timestamp) -> bool {
        // Days in this form come in the order of time.
        self.until <= Day::of(now).to_string().as_str()
    }
}

/// The model that made an extraction, as its record says; `None` where none was asked, also where another
/// extractor stood in.
#[must_use]
pub fn asked_model(extractor: &str) -> Option<&str> {
    let (_, model) = extractor.split_once(' ')?;
    StoodIn::parse(extractor).is_none().then_some(model)
}

impl fmt::Display for StoodIn<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            by,
            instead_of,
            until,
        } = self;
        write!(f, "{by} for {instead_of} until {until}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_stood_in_is_read_as_it_is_written() {
        let written = "extractive/1 for extract/3 ollama/for until until 2026-12-01";
        let stood_in = StoodIn::parse(written).unwrap();
        assert_eq!(stood_in.instead_of, "extract/3 ollama/for until");
        assert_eq!(stood_in.to_string(), written);
        for nobody in [
            "extractive/1",
            "extract/3 openai/x",
            "a until 2026-12-01",
            "",
        ] {
            assert_eq!(StoodIn::parse(nobody), None, "{nobody}");
        }
    }

    #[test]
    fn the_model_is_the_one_that_was_asked() {
        assert_eq!(asked_model("extract/3 openai/x"), Some("openai/x"));
        let stood_in = "extractive/1 for extract/3 openai/x until 2026-12-01";
        for nobody in ["extractive/1", stood_in] {
            assert_eq!(asked_model(nobody), None, "{nobody}");
        }
    }

    #[test]
    fn there_is_room_again_with_the_day_that_was_named() {
        let until = Timestamp(86_400_000 * 40);
        let day = Day::of(until).to_string();
        let stood_in = StoodIn {
            by: "a/1",
            instead_of: "b/1",
            until: &day,
        };
        assert!(!stood_in.is_over(Timestamp(until.0 - 1)));
        assert!(stood_in.is_over(until));
    }
}
