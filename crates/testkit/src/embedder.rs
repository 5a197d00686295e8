//! An embedding model with predictable vectors: one dimension for each group of words that mean the same.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use daybook_domain::seams::Embedder;

/// The cosine of the angle between two words of one group, as [`Embedder::near`] reports it.
pub const SAME_GROUP: f32 = 0.8;

/// Counts the words of each group. A text without any of them has the zero vector.
pub struct FakeEmbedder {
    id: String,
    groups: Vec<Vec<String>>,
    calls_left: AtomicUsize,
    embedded: Mutex<Vec<usize>>,
}

impl FakeEmbedder {
    /// A model of this name. Each group is its words, lower case, with blanks between them; its identity follows from
    /// them, as that of a model from its weights.
    #[must_use]
    pub fn new(id: &str, groups: &[&str]) -> Self {
        let words = |group: &&str| group.split(' ').map(str::to_owned).collect();
        Self {
            id: format!("{id} of {}", groups.join(", ")),
            groups: groups.iter().map(words).collect(),
            calls_left: AtomicUsize::new(usize::MAX),
            embedded: Mutex::default(),
        }
    }

    /// Answers the next `calls` calls, and fails every later one.
    pub fn fail_after(&self, calls: usize) {
        self.calls_left.store(calls, Ordering::SeqCst);
    }

    /// The number of texts in each call that was answered.
    ///
    /// # Panics
    /// When another thread panicked inside a call.
    #[must_use]
    pub fn calls(&self) -> Vec<usize> {
        self.embedded.lock().expect("no call panics").clone()
    }

    fn vector(&self, text: &str) -> Vec<f32> {
        let lower = text.to_lowercase();
        let words: Vec<&str> = lower.split(|c: char| !c.is_alphanumeric()).collect();
        let of = |group: &Vec<String>| words.iter().filter(|word| is_in(group, word)).count();
        let counts: Vec<f32> = self.groups.iter().map(|group| of(group) as f32).collect();
        // A square root is no round number, so tests notice results that depend on its last bit.
        counts.into_iter().map(f32::sqrt).collect()
    }
}

fn is_in(group: &[String], word: &str) -> bool {
    group.iter().any(|other| other == word)
}

#[async_trait]
impl Embedder for FakeEmbedder {
    fn id(&self) -> &str {
        &self.id
    }

    fn is_instant(&self) -> bool {
        true
    }

    fn near(&self, word: &str, floor: f32) -> Vec<(String, f32)> {
        if floor > SAME_GROUP {
            return Vec::new();
        }
        let groups = self.groups.iter().filter(|group| is_in(group, word));
        let near = groups.flatten().filter(|other| *other != word);
        near.map(|other| (other.clone(), SAME_GROUP)).collect()
    }

    async fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, String> {
        let left = self.calls_left.load(Ordering::SeqCst);
        if left == 0 {
            return Err("the model is away".to_owned());
        }
        self.calls_left.store(left - 1, Ordering::SeqCst);
        let mut embedded = self.embedded.lock().expect("no call panics");
        embedded.push(texts.len());
        Ok(texts.iter().map(|text| self.vector(text)).collect())
    }
}
