//! What every model promises, over each wire.

use std::ops::Deref;

use daybook_llm::{ChatModel, Wire};
use daybook_testkit::llm_server::{Behaviour, Script};

use super::llm_test_support::ScriptedProvider;

impl Deref for ScriptedProvider {
    type Target = ChatModel;

    fn deref(&self) -> &ChatModel {
        &self.model
    }
}

/// A provider that says the same in each form.
fn on(wire: Wire) -> ScriptedProvider {
    let answer = |_: &_| Behaviour::answer(r#"{"limit": 50}"#);
    ScriptedProvider::new(wire, Script::answering(answer))
}

mod openai {
    use super::*;

    daybook_testkit::language_model_suite!(|| on(Wire::OpenAi));
}

mod anthropic {
    use super::*;

    daybook_testkit::language_model_suite!(|| on(Wire::Anthropic));
}

mod ollama {
    use super::*;

    daybook_testkit::language_model_suite!(|| on(Wire::Ollama));
}
