//! Which documents have vectors, as a model of one name should have left them.

use daybook_domain::index::{Document, Filter, Found};
use daybook_domain::{Scope, Tenant};

use super::{Spec, admits};
use crate::model::cast;
use crate::model::view;

/// What tells a document from all others, and the words that its vectors are of.
type Known = (String, String);

impl Spec {
    /// Makes another model the one whose vectors are kept; whether it was another.
    pub fn choose_model(&mut self, model: &str) -> bool {
        let is_other = self.model.as_deref() != Some(model);
        if is_other {
            self.model = Some(model.to_owned());
            self.embedded.clear();
        }
        is_other
    }

    /// Gives vectors of a model to documents that wait for them and whose text is `chosen`.
    pub fn embed(&mut self, model: &str, chosen: impl Fn(&str) -> bool) {
        if self.model.as_deref() != Some(model) {
            return;
        }
        let documents = self.documents().into_iter();
        let chosen = documents.filter(|(_, document)| chosen(&document.text));
        let chosen: Vec<Known> = chosen.map(|(tokens, d)| (key(&d), tokens)).collect();
        for known in chosen {
            if !self.embedded.contains(&known) {
                self.embedded.push(known);
            }
        }
    }

    /// Forgets vectors of what is gone, or has other words by now. To be called after each operation.
    pub fn settle_vectors(&mut self) {
        let documents = self.documents().into_iter();
        let there: Vec<Known> = documents.map(|(tokens, d)| (key(&d), tokens)).collect();
        self.embedded.retain(|known| there.contains(known));
    }

    /// Forgets all vectors: the index was made anew.
    pub fn forget_vectors(&mut self) {
        self.embedded.clear();
    }

    /// Forgets the vectors of a memory file's entries.
    pub(super) fn forget_vectors_of(&mut self, scope: &Scope, file: &str) {
        let gone: Vec<String> = self
            .documents()
            .iter()
            .map(|(_, document)| document)
            .filter(|document| {
                document.scope.as_ref() == Some(scope)
                    && matches!(&document.what, Found::Entry { file: f, .. } if f == file)
            })
            .map(key)
            .collect();
        self.embedded.retain(|(key, _)| !gone.contains(key));
    }

    /// What waits for vectors.
    pub(super) fn waiting(&self) -> Vec<String> {
        let documents = self.documents().into_iter();
        let waiting = documents.filter(|(_, document)| !self.has_vectors(document));
        let texts = waiting.map(|(_, document)| view::shown(&document.text, document.context));
        let mut texts: Vec<String> = texts.collect();
        texts.sort();
        texts
    }

    /// What a search among vectors of the first model finds, each by what it sees.
    pub(super) fn near(&self) -> Vec<Vec<String>> {
        let is_asked = self.model.as_deref() == Some(cast::model(0));
        let near = |filter: &Filter| {
            let documents = self.documents().into_iter().map(|(_, document)| document);
            let found = documents.filter(|document| {
                is_asked && self.has_vectors(document) && admits(filter, document)
            });
            view::described(&found.collect::<Vec<_>>())
        };
        view::filters(&Tenant::local()).iter().map(near).collect()
    }

    fn has_vectors(&self, document: &Document) -> bool {
        let key = key(document);
        self.embedded.iter().any(|(known, _)| *known == key)
    }
}

fn key(document: &Document) -> String {
    match &document.what {
        Found::Event { .. } => format!("{:?} {:?}", document.session, document.events),
        Found::Observation { id, .. } => format!("{:?} {id:?}", document.scope),
        Found::Entry { file, line, .. } => format!("{:?} {file} {line}", document.scope),
    }
}
