//! The usage examples of Team9's documentation, in Rust.

use std::sync::Arc;

use async_trait::async_trait;
use daybook_domain::BoxError;
use daybook_domain::model::{FinishReason, Model, ModelFailure, ModelReply, ModelRequest};
use daybook_domain::time::Clock;
use daybook_domain::working::{BlockingReason, Chunk, ChunkType, EventType, ThreadEvent};
use daybook_store::MemoryStore;
use daybook_testkit::ManualClock;
use daybook_working::compact::{CompactionContext, CompactionResult, Compactor, LlmConfig};
use daybook_working::manager::{MemoryManager, MemoryManagerConfig};
use daybook_working::reduce::ReducerRegistry;

use super::working_test_support::{NOW, chunk_texts, event, run, settle, wish};

/// The `llmAdapter` of the examples, as a model.
struct LlmAdapter;

const SUMMARY: &str = "## Progress Summary\n\n### Current State\n\n- wishes were heard";

#[async_trait]
impl Model for LlmAdapter {
    fn name(&self) -> &str {
        "gpt-4o-mini"
    }

    fn context_tokens(&self) -> u32 {
        128_000
    }

    fn count_tokens(&self, text: &str) -> u32 {
        u32::try_from(text.len() / 3 + 1).unwrap_or(u32::MAX)
    }

    async fn ask(&self, request: &ModelRequest) -> Result<ModelReply, ModelFailure> {
        assert_eq!(request.temperature, Some(0.3));
        assert_eq!(request.max_tokens, 2_000);
        Ok(ModelReply {
            text: SUMMARY.to_owned(),
            answer: None,
            calls: Vec::new(),
            finish: FinishReason::Stop,
            usage: None,
            requests: 1,
        })
    }
}

fn initialised() -> MemoryManager {
    let clock: Arc<dyn Clock> = Arc::new(ManualClock::at(NOW));
    MemoryManager::new(
        Arc::new(MemoryStore::new()),
        ReducerRegistry::default(),
        Some(Arc::new(LlmAdapter)),
        clock,
        MemoryManagerConfig {
            llm: LlmConfig {
                compact_model: Some("gpt-4o-mini".to_owned()),
                compact_temperature: 0.3,
                compact_max_tokens: 2_000,
            },
            auto_compact_enabled: true,
            auto_compact_threshold: 20,
            ..MemoryManagerConfig::default()
        },
    )
}

#[test]
fn event_processing() {
    run(async {
        let manager = initialised();
        let (thread, initial_state) = manager.create_thread().await.expect("a thread");
        assert!(initial_state.is_empty());

        let hello = EventType::UserMessage {
            content: "Hello, agent!".to_owned(),
            attachments: Vec::new(),
        };
        let result = manager
            .dispatch(&thread.id, &ThreadEvent::new(hello, NOW))
            .await
            .expect("a result");
        assert_eq!(result.added_chunks.len(), 1);
        assert_eq!(result.thread.id, thread.id);
        assert_eq!(chunk_texts(&result.state), ["Hello, agent!"]);

        let more = [wish(1), wish(2), wish(3)];
        let result = manager
            .dispatch_all(&thread.id, &more)
            .await
            .expect("a result");
        assert_eq!(result.added_chunks.len(), 3);
        assert_eq!(result.state.len(), 4);
    });
}

#[test]
fn blocking_mechanism_and_auto_compaction() {
    run(async {
        let manager = initialised();
        let (thread, _) = manager.create_thread().await.expect("a thread");
        for number in 1..20 {
            manager
                .dispatch(&thread.id, &wish(number))
                .await
                .expect("a result");
            assert!(!manager.is_blocked(&thread.id), "{number}");
        }
        let result = manager
            .dispatch(&thread.id, &wish(20))
            .await
            .expect("a result");
        assert_eq!(result.state.len(), 20);
        assert!(manager.is_blocked(&thread.id));
        assert_eq!(
            manager.blocking_reason(&thread.id),
            Some(BlockingReason::Compacting)
        );

        // The event waits for the compaction, and is applied after it.
        let result = manager
            .dispatch(&thread.id, &wish(21))
            .await
            .expect("a result");
        assert!(!manager.is_blocked(&thread.id));
        let told = chunk_texts(&result.state);
        assert_eq!(told[0], "(compacted)");
        assert_eq!(told.last().map(String::as_str), Some("Wish number 21"));
        let summary = result.state.chunks().next().expect("the summary");
        assert_eq!(summary.content.to_text(), SUMMARY);
    });
}

#[test]
fn manual_compaction() {
    run(async {
        let manager = initialised();
        let (thread, _) = manager.create_thread().await.expect("a thread");
        let wishes: Vec<_> = (1..=6).map(wish).collect();
        let result = manager
            .dispatch_all(&thread.id, &wishes)
            .await
            .expect("a result");

        let specific = &result.state.chunk_ids()[1..3];
        let compacted = manager
            .trigger_compaction(&thread.id, Some(specific))
            .await
            .expect("done");
        assert_eq!(compacted.removed_chunk_ids, specific);
        assert_eq!(compacted.state.len(), 5);
        let all = [
            "Wish number 1",
            "(compacted)",
            "Wish number 4",
            "Wish number 5",
            "Wish number 6",
        ];
        assert_eq!(chunk_texts(&compacted.state), all);

        let compacted = manager
            .trigger_compaction(&thread.id, None)
            .await
            .expect("done");
        assert_eq!(
            chunk_texts(&compacted.state),
            ["(compacted)", "Wish number 6"]
        );
        assert!(!manager.is_blocked(&thread.id));
    });
}

struct CustomCompactor;

#[async_trait]
impl Compactor for CustomCompactor {
    fn name(&self) -> &str {
        "custom"
    }

    fn can_compact(&self, chunks: &[Arc<Chunk>]) -> bool {
        chunks
            .iter()
            .all(|chunk| chunk.kind == ChunkType::Environment)
    }

    async fn compact(
        &self,
        chunks: &[Arc<Chunk>],
        context: &CompactionContext<'_>,
    ) -> Result<CompactionResult, BoxError> {
        let text = format!("{} reports from the weather station", chunks.len());
        Ok(CompactionResult {
            compacted_chunk: context.compacted(chunks, text),
            original_chunk_ids: chunks.iter().map(|chunk| chunk.id.clone()).collect(),
            by: self.name().to_owned(),
            faults: Vec::new(),
        })
    }
}

#[test]
fn custom_compactor() {
    run(async {
        let manager = initialised();
        manager.register_compactor(Arc::new(CustomCompactor));
        let (thread, _) = manager.create_thread().await.expect("a thread");
        for number in 0..4 {
            let report = format!("Report {number}: {}", "rain and wind, ".repeat(20));
            let report = event(
                serde_json::json!({"type": "EXTERNAL_INJECT", "timestamp": 1,
                "source": "station", "content": report}),
            );
            manager
                .dispatch(&thread.id, &report)
                .await
                .expect("a result");
        }
        manager
            .dispatch_all(&thread.id, &[wish(1), wish(2)])
            .await
            .expect("a result");
        let compacted = manager
            .trigger_compaction(&thread.id, None)
            .await
            .expect("done");
        let texts: Vec<_> = compacted
            .state
            .chunks()
            .map(|it| it.content.to_text().into_owned())
            .collect();
        assert_eq!(texts[0], "4 reports from the weather station");
        assert_eq!(texts[1], SUMMARY);
        settle(&manager, &thread.id).await;
    });
}
