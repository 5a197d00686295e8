//! Reads the sessions of some agents with an extractor of their own.
//!
//! Each result names the extractor that made it, so that another model for one agent has that agent's sessions read
//! again on request, and no others.
//!
//! Not here: which agents have one, which settings name.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use daybook_domain::{Provenance, SessionId};

use super::{ExtractError, Extractor, ExtractorOutput, LookBack, TokenForecast, Window};

/// Routes windows by the agent of their session.
pub struct AgentExtractors {
    /// Reads sessions of all other agents.
    others: Arc<dyn Extractor>,
    agents: BTreeMap<String, Arc<dyn Extractor>>,
}

impl AgentExtractors {
    /// Extracts sessions of the agents in `agents` with the extractor beside their name, and all others with `others`.
    #[must_use]
    pub fn new(others: Arc<dyn Extractor>, agents: BTreeMap<String, Arc<dyn Extractor>>) -> Self {
        Self { others, agents }
    }

    fn extractor_for(&self, session: &SessionId) -> &dyn Extractor {
        &**self.agents.get(&session.agent).unwrap_or(&self.others)
    }

    fn all(&self) -> impl Iterator<Item = &Arc<dyn Extractor>> {
        self.agents.values().chain([&self.others])
    }
}

#[async_trait]
impl Extractor for AgentExtractors {
    fn name(&self) -> &str {
        self.others.name()
    }

    fn name_for(&self, session: &SessionId) -> &str {
        self.extractor_for(session).name_for(session)
    }

    fn wants_known(&self) -> bool {
        self.all().any(|extractor| extractor.wants_known())
    }

    fn look_back(&self) -> LookBack {
        let all = self.all().map(|extractor| extractor.look_back());
        all.reduce(LookBack::max).unwrap_or_default()
    }

    fn forecast(&self, window: Window<'_>) -> Option<TokenForecast> {
        let extractor = self.extractor_for(&window.session.id);
        extractor.forecast(window.with_look_back(extractor.look_back()))
    }

    async fn extract(&self, window: Window<'_>) -> Result<ExtractorOutput, ExtractError> {
        let extractor = self.extractor_for(&window.session.id);
        let shown = window.with_look_back(extractor.look_back());
        let extracted = extractor.extract(shown).await?;
        let own = || Provenance::of(extractor.name_for(&window.session.id));
        Ok(ExtractorOutput {
            provenance: Some(extracted.provenance.unwrap_or_else(own)),
            ..extracted
        })
    }
}

#[cfg(test)]
pub(super) mod test_support {
    use std::time::Duration;

    use daybook_domain::{EventSeq, Session, SessionKind, Tenant, Timestamp};

    use super::*;

    /// An extractor that finds nothing, and takes some time for it.
    pub(in crate::extract) struct Named {
        name: &'static str,
        takes: Duration,
    }

    impl Named {
        pub(in crate::extract) fn taking(name: &'static str, takes: Duration) -> Self {
            Self { name, takes }
        }
    }

    #[async_trait]
    impl Extractor for Named {
        fn name(&self) -> &str {
            self.name
        }

        async fn extract(&self, _: Window<'_>) -> Result<ExtractorOutput, ExtractError> {
            tokio::time::sleep(self.takes).await;
            Ok(ExtractorOutput::default())
        }
    }

    pub(in crate::extract) fn session_of(agent: &str) -> Session {
        Session {
            venue: daybook_domain::Venue::default(),
            id: SessionId {
                tenant: Tenant::local(),
                agent: agent.to_owned(),
                host_id: "s".to_owned(),
            },
            label: "s".to_owned(),
            kind: SessionKind::Root,
            memory_off: false,
            switched_off: false,
            kept_on: false,
            pollution: None,
            passed: Vec::new(),
            forked_from: None,
            user: None,
            surface: None,
            first_at: Timestamp::ZERO,
            last_at: Timestamp::ZERO,
            events: EventSeq(1),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::test_support::{Named, session_of};
    use super::*;
    use crate::extract::KnownMemory;

    #[tokio::test]
    async fn an_agent_with_a_model_of_its_own_is_read_by_it_and_no_other_agent_is() {
        let named = |name| Arc::new(Named::taking(name, Duration::ZERO)) as Arc<dyn Extractor>;
        let own = BTreeMap::from([("codex".to_owned(), named("model/2"))]);
        let extractors = AgentExtractors::new(named("model/1"), own);
        for (agent, expected) in [("codex", "model/2"), ("claude-code", "model/1")] {
            let session = session_of(agent);
            assert_eq!(extractors.name_for(&session.id), expected);
            let window = Window {
                session: &session,
                before: &[],
                events: &[],
                known: KnownMemory::default(),
                is_redone: false,
            };
            let extracted = extractors.extract(window).await.expect("it is read");
            let provenance = extracted.provenance.expect("it is named");
            assert_eq!(provenance, Provenance::of(expected));
        }
        assert_eq!(extractors.name(), "model/1");
    }
}
