//! The parts of a response: texts, calls of tools, questions. Texts in a row are one run.
//!
//! Not here: requests, and changes of a log.

use std::borrow::Cow;

use daybook_domain::{EventId, Origin, ToolStatus};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::super::item::Via;
use super::super::item_writer::{CallResult, EventContent, EventKey, ItemWriter};
use super::super::json;
use daybook_text::lenient::{Content, ContentMember, Flag, Object, Pairs, Text};

/// A part. One without a kind is Markdown.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Part<'j> {
    #[serde(borrow)]
    kind: Text<'j>,
    value: Text<'j>,
    content: Object<Markdown<'j>>,
    // A reference within a text.
    name: Text<'j>,
    // A call.
    tool_id: Text<'j>,
    tool_call_id: Text<'j>,
    #[serde(borrow)]
    is_confirmed: Option<&'j RawValue>,
    is_complete: Flag,
    #[serde(borrow)]
    past_tense_message: Option<&'j RawValue>,
    #[serde(borrow)]
    invocation_message: Option<&'j RawValue>,
    result_details: Object<Details<'j>>,
    tool_specific_data: Object<Specific<'j>>,
    // Questions.
    questions: Content<'j, Question<'j>>,
    data: Pairs<'j, Option<&'j RawValue>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Markdown<'j> {
    #[serde(borrow)]
    value: Text<'j>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Details<'j> {
    #[serde(borrow)]
    input: Text<'j>,
    output: Content<'j, Markdown<'j>>,
    is_error: Flag,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Specific<'j> {
    #[serde(borrow)]
    command_line: Object<CommandLine<'j>>,
    #[serde(borrow)]
    raw_input: Option<&'j RawValue>,
    prompt: Text<'j>,
    result: Text<'j>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct CommandLine<'j> {
    #[serde(borrow)]
    original: Text<'j>,
    tool_edited: Text<'j>,
    user_edited: Text<'j>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Question<'j> {
    #[serde(borrow)]
    id: Text<'j>,
    title: Text<'j>,
}

/// A person's choice among options, or their own words.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Answer<'j> {
    #[serde(borrow)]
    selected_value: Text<'j>,
    selected_values: Content<'j, Markdown<'j>>,
    freeform_value: Text<'j>,
}

/// Texts in a row, or another part.
pub(super) struct Run<'p, 'j> {
    /// The place of its first part in the response.
    pub(super) start: usize,
    text: String,
    part: Option<&'p Part<'j>>,
}

/// The runs of parts that begin at a place in a response, and where they end.
pub(super) fn runs<'p, 'j>(
    from: usize,
    parts: &'p Content<'j, Part<'j>>,
) -> (Vec<Run<'p, 'j>>, usize) {
    let Content::Parts(parts) = parts else {
        return (Vec::new(), from);
    };
    let mut runs: Vec<Run<'p, 'j>> = Vec::new();
    for (start, part) in (from..).zip(parts) {
        let (text, part) = match part {
            ContentMember::Text(text) => (&**text, None),
            ContentMember::Object(part) => match part.text() {
                Some(text) => (text, None),
                None if part.is_written() => ("", Some(part)),
                None => continue,
            },
            ContentMember::Other => continue,
        };
        match runs
            .last_mut()
            .filter(|last| last.part.is_none() && part.is_none())
        {
            Some(last) => last.text.push_str(text),
            None => runs.push(Run {
                start,
                text: text.to_owned(),
                part,
            }),
        }
    }
    (runs, from + parts.len())
}

impl Run<'_, '_> {
    /// Distinguishes what the run holds from what it held before.
    pub(super) fn fingerprint(&self) -> String {
        let id = match self.part {
            Some(part) => {
                let status = part.status().map_or("", ToolStatus::as_str);
                let (output, answers) = (part.output(), part.answers());
                EventId::of(&[status, &output, &answers].map(str::as_bytes))
            }
            None => EventId::of(&[self.text.as_bytes()]),
        };
        format!("{:016x}", id.0 as u64)
    }

    /// Writes the run; `key` is its own in the session.
    pub(super) fn write(&self, key: &str, out: &mut ItemWriter<'_>) {
        let key = EventKey::InSession(key);
        match self.part {
            None => out.push(EventContent::plain(key, Origin::Assistant, &*self.text)),
            Some(part) if &*part.kind == "questionCarousel" => out.push(EventContent {
                via: Via::Answer,
                ..EventContent::plain(key, Origin::Human, part.answers())
            }),
            Some(part) => part.write_call(key, out),
        }
    }
}

impl Part<'_> {
    /// Its text, or the name of what it refers to within a text.
    fn text(&self) -> Option<&str> {
        match &*self.kind {
            "" => Some(&self.value),
            "markdownContent" | "markdownVuln" => {
                let content = self.content.0.as_ref().map(|content| &*content.value);
                Some(content.unwrap_or(&self.value))
            }
            "inlineReference" => Some(&self.name),
            _ => None,
        }
    }

    /// Whether anything becomes of a part that is no text.
    fn is_written(&self) -> bool {
        let kind = &*self.kind;
        matches!(kind, "toolInvocationSerialized" | "questionCarousel")
    }

    fn write_call(&self, key: EventKey<'_>, out: &mut ItemWriter<'_>) {
        out.call(key, &self.tool_call_id, &self.tool_id, &self.input());
        if let Some(status) = self.status() {
            let result = CallResult {
                tool: self.tool_id.get(),
                text: self.output().into(),
                status: Some(status),
            };
            out.result(key, &self.tool_call_id, result);
        }
    }

    /// What the tool was called with, as far as the chat keeps it.
    fn input(&self) -> String {
        let specific = self.tool_specific_data.0.as_ref();
        if let Some(line) = specific.and_then(|specific| specific.command_line.0.as_ref()) {
            let line = [&line.user_edited, &line.tool_edited, &line.original];
            let line = line.into_iter().find_map(Text::get).unwrap_or_default();
            return serde_json::json!({ "command": line }).to_string();
        }
        let details = self.result_details.0.as_ref();
        let input = details.and_then(|details| details.input.get());
        let raw = specific.map(|specific| json::as_text(specific.raw_input));
        let prompt = specific.and_then(|specific| specific.prompt.get());
        let message = || message(self.invocation_message).into_owned();
        let known = input.map(str::to_owned);
        let known = known.or(raw.filter(|raw| !raw.is_empty()).map(Cow::into_owned));
        known.or(prompt.map(str::to_owned)).unwrap_or_else(message)
    }

    fn output(&self) -> String {
        let details = self.result_details.0.as_ref();
        let texts = details
            .map(|details| texts(&details.output))
            .unwrap_or_default();
        let specific = self.tool_specific_data.0.as_ref();
        let result = specific.and_then(|specific| specific.result.get());
        match (texts.is_empty(), result) {
            (false, _) => texts,
            (true, Some(result)) => result.to_owned(),
            (true, None) => message(self.past_tense_message).into_owned(),
        }
    }

    /// How the call ended; `None` while it runs. Refusals are 0 and skipped calls 5 of VS Code's kinds of confirmation.
    fn status(&self) -> Option<ToolStatus> {
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct Confirmed<'j> {
            #[serde(rename = "type", borrow)]
            kind: Option<&'j RawValue>,
        }
        let confirmed = self.is_confirmed.map_or("null", RawValue::get);
        let kind = serde_json::from_str::<Object<Confirmed<'_>>>(confirmed).unwrap_or_default();
        let kind = kind
            .0
            .and_then(|confirmed| confirmed.kind)
            .map(RawValue::get);
        let has_failed = self
            .result_details
            .0
            .as_ref()
            .is_some_and(|details| details.is_error.0);
        match kind {
            Some("0" | "5") => Some(ToolStatus::Refused),
            None if confirmed == "false" => Some(ToolStatus::Refused),
            _ if has_failed => Some(ToolStatus::Failed),
            _ => self.is_complete.0.then_some(ToolStatus::Succeeded),
        }
    }

    /// The questions with a person's answers.
    fn answers(&self) -> String {
        let answers = self.data.0.iter().filter_map(|(id, answer)| {
            let answer = answer_text(*answer)?;
            Some(match self.question(id) {
                Some(question) => format!("Q: {question}\nA: {answer}"),
                None => answer,
            })
        });
        answers.collect::<Vec<_>>().join("\n")
    }

    fn question(&self, id: &str) -> Option<&str> {
        let Content::Parts(questions) = &self.questions else {
            return None;
        };
        questions.iter().find_map(|question| match question {
            ContentMember::Object(question) if &*question.id == id => question.title.get(),
            ContentMember::Object(_) | ContentMember::Text(_) | ContentMember::Other => None,
        })
    }
}

fn answer_text(answer: Option<&RawValue>) -> Option<String> {
    let answer = answer?.get();
    if let Ok(answer) = serde_json::from_str::<String>(answer) {
        return Some(answer).filter(|answer| !answer.is_empty());
    }
    let answer: Answer<'_> = serde_json::from_str(answer).ok()?;
    let several = texts(&answer.selected_values);
    let parts = [&*answer.selected_value, &several, &answer.freeform_value];
    let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// The texts of a list, one on each line.
fn texts(list: &Content<'_, Markdown<'_>>) -> String {
    match list {
        Content::Nothing => String::new(),
        Content::Text(text) => text.to_string(),
        Content::Parts(parts) => {
            let texts = parts.iter().map(|part| match part {
                ContentMember::Text(text) => &**text,
                ContentMember::Object(part) => &*part.value,
                ContentMember::Other => "",
            });
            texts
                .filter(|text| !text.is_empty())
                .collect::<Vec<_>>()
                .join("\n")
        }
    }
}

/// A message: a text, or Markdown.
fn message(message: Option<&RawValue>) -> Cow<'_, str> {
    let markdown =
        message.and_then(|message| serde_json::from_str::<Markdown<'_>>(message.get()).ok());
    match markdown.filter(|markdown| !markdown.value.is_empty()) {
        Some(markdown) => markdown.value.0,
        None => json::as_text(message.filter(|message| message.get().starts_with('"'))),
    }
}
