//! How answers read: as compact text for models with sources, and as JSON for programs; both cut
//! at a limit, and saying so.
//!
//! Everything remembered stands in our element, or in JSON beside its name: hosts show an agent the
//! one or the other.

use anyhow::{Error, Result, bail};
use daybook_domain::Event;
use daybook_engine::files::entities::EntityError;
use daybook_engine::files::layout::folder;
use daybook_engine::ingest::recalled::ELEMENT;
use daybook_engine::recall::confidence::Likelihood;
use daybook_engine::recall::element::{NOTICE, enclosed};
use daybook_engine::recall::search::{Answer, Recalled};
use serde_json::{Value, json};

use crate::desk::{
    Briefing, EVENTS, Kept, answer_json, answers_json, briefing_json, byline, day, kept_json,
    nothing,
};
use crate::wiring::Daybook;

/// Longest answer, in bytes of text. More tells an agent more and costs it more.
pub(super) const ANSWER: usize = 24 * 1024;
/// What is left of it for memory, once something was said about it.
const ROOM: usize = ANSWER - 1024;
/// Most tokens of a context; an answer holds no more.
pub(super) const BUDGET: usize = 7_500;
/// Longest single answer to a question, and longest context of one, in bytes; `read` shows the rest.
const EXCERPT: usize = 1_500;
/// Longest account of a failure, in bytes.
const FAILURE: usize = 2_000;

/// An answer.
#[derive(Debug)]
pub(crate) struct Told {
    pub(crate) text: String,
    pub(super) data: Value,
}

/// Nobody has ever remembered anything here.
pub(super) fn nothing_yet(data: Value) -> Told {
    Told {
        text: "Nothing is remembered yet.".to_owned(),
        data,
    }
}

/// What a tool could not do. What is wrong with an entity is said in words that agents know.
pub(super) fn failure(tool: &str, error: &Error) -> String {
    match error.downcast_ref::<EntityError>() {
        Some(EntityError::Refused(why)) => cut(why, FAILURE),
        Some(EntityError::Files(_)) | None => cut(&format!("{tool} failed: {error:#}"), FAILURE),
    }
}

/// Answers to a question, as many as fit.
pub(crate) fn recalled(daybook: &Daybook, recalled: &Recalled) -> Told {
    let mut shown = Recalled {
        confidence: recalled.confidence,
        answers: Vec::new(),
    };
    if recalled.answers.is_empty() {
        return Told {
            text: nothing(recalled).to_owned(),
            data: ours(answers_json(&shown)),
        };
    }
    let mut body = match recalled.confidence.label {
        Likelihood::Likely => format!("Remembered ({NOTICE}), best first:\n"),
        Likelihood::Weak => format!("Remembered ({NOTICE}); this may answer it, best first:\n"),
        Likelihood::Unlikely => format!(
            "Nothing remembered clearly answers this; do not take the following for an answer. \
             Nearest ({NOTICE}):\n"
        ),
    };
    let mut used = 0;
    for (n, answer) in recalled.answers.iter().enumerate() {
        let answer = excerpt(answer);
        let item = item(daybook, n + 1, &answer);
        let as_json = answer_json(&answer).to_string().len();
        used += item.len().max(as_json);
        if used > ROOM {
            break;
        }
        body.push_str(&item);
        shown.answers.push(answer);
    }
    let left_out = recalled.answers.len() - shown.answers.len();
    let mut data = answers_json(&shown);
    if left_out > 0 {
        body.push_str(&format!(
            "{left_out} more answers did not fit: ask something narrower, or for one scope or layer.\n"
        ));
        data["left_out"] = json!(left_out);
    }
    Told {
        text: enclosed(&body),
        data: ours(data),
    }
}

fn excerpt(answer: &Answer) -> Answer {
    Answer {
        text: cut(&answer.text, EXCERPT),
        context: answer.context.as_ref().map(|context| cut(context, EXCERPT)),
        ..answer.clone()
    }
}

fn item(daybook: &Daybook, n: usize, answer: &Answer) -> String {
    let file = answer.file.as_ref().zip(answer.scope.as_ref());
    let file = file.and_then(|(file, scope)| {
        let folder = folder(&daybook.root, scope);
        let below = folder.strip_prefix(&daybook.root).ok()?;
        Some(format!("{}/{file}", below.display()))
    });
    let parts = [
        answer
            .citation
            .as_ref()
            .map(|citation| format!("[{citation}]")),
        answer.scope.as_ref().map(ToString::to_string),
        answer.origin.map(|origin| origin.word().replace('_', " ")),
        file,
        day(daybook, answer.time, "%-d %b %Y"),
    ];
    let source: Vec<String> = parts.into_iter().flatten().collect();
    let mut item = format!("{n}. {}\n", answer.text.trim());
    if let Some(context) = &answer.context {
        item.push_str(&format!("   {}\n", context.trim()));
    }
    item.push_str(&format!("   {}\n", source.join(" · ")));
    item
}

/// What was kept.
pub(super) fn kept(kept: &Kept) -> Told {
    let mut text = format!("Remembered in {}.", kept.observation.scope);
    if kept.secrets > 0 {
        text.push_str(" A secret in it was hidden before it was kept.");
    }
    Told {
        text,
        data: kept_json(kept),
    }
}

/// What an agent is told at the start.
pub(super) fn briefing(briefing: &Briefing) -> Told {
    let place = &briefing.here.place.root;
    let text = match briefing.told.text.is_empty() {
        true => format!("Nothing is remembered that applies in {place}."),
        false => briefing.told.text.clone(),
    };
    Told {
        text,
        data: ours(briefing_json(briefing)),
    }
}

/// The words of events, one after the other, as they are paged through.
pub(super) fn words(daybook: &Daybook, events: &[Event]) -> String {
    let mut text: String = events
        .iter()
        .map(|event| format!("{}\n{}\n\n", byline(daybook, event), event.text.trim_end()))
        .collect();
    if events.len() == EVENTS {
        text.push_str("More lines follow: cite a range of lines to read them.\n");
    }
    text
}

/// A page of `text` from `offset` on.
pub(super) fn page(target: &str, text: &str, offset: usize) -> Result<Told> {
    let bytes = text.len();
    if offset > 0 && offset >= bytes {
        bail!("offset {offset} lies behind the end of {target}, which has {bytes} bytes");
    }
    let from = text.floor_char_boundary(offset);
    let mut to = text.floor_char_boundary((from + ROOM).min(bytes));
    if to < bytes {
        // Whole lines, unless one line fills the page.
        let end = text[from..to].rfind('\n').map_or(to, |end| from + end + 1);
        to = if end > from + ROOM / 2 { end } else { to };
    }
    let rest = (to < bytes).then_some(to);
    let page = &text[from..to];
    let mut body = format!("{} ({NOTICE}):\n\n{}\n", cut(target, 300), page.trim_end());
    if let Some(next) = rest {
        body.push_str(&format!(
            "\nCut after byte {next} of {bytes}: `read` it with offset {next} for the rest.\n"
        ));
    }
    let data = json!({
        "target": target,
        "text": page,
        "offset": from,
        "bytes": bytes,
        "next_offset": rest,
    });
    Ok(Told {
        text: enclosed(&body),
        data: ours(data),
    })
}

/// Marks JSON as ours.
pub(super) fn ours(mut data: Value) -> Value {
    data[ELEMENT] = json!(NOTICE);
    data
}

/// At most `limit` bytes of a text, and a mark where it was cut.
pub(super) fn cut(text: &str, limit: usize) -> String {
    if text.len() <= limit {
        return text.to_owned();
    }
    format!("{}… (cut)", &text[..text.floor_char_boundary(limit)])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pages(text: &str) -> Vec<String> {
        let mut pages = Vec::new();
        let mut offset = Some(0);
        while let Some(at) = offset {
            let told = page("x", text, at).unwrap();
            assert!(told.text.len() <= ANSWER, "{}", told.text.len());
            assert_eq!(
                told.text.contains("Cut after"),
                !told.data["next_offset"].is_null()
            );
            pages.push(told.data["text"].as_str().unwrap().to_owned());
            offset = told.data["next_offset"].as_u64().map(|next| next as usize);
        }
        pages
    }

    #[test]
    fn pages_make_up_the_whole() {
        for text in [
            "",
            "short\n",
            &"line of ä\n".repeat(9_000),
            &"ä".repeat(40_000),
        ] {
            assert_eq!(pages(text).concat(), text);
        }
        assert_eq!(pages("short\n").len(), 1);
        assert!(page("x", "short", 5).is_err());
    }

    #[test]
    fn a_cut_says_so_and_splits_no_letter() {
        assert_eq!(cut("äää", 3), "ä… (cut)");
        assert_eq!(cut("ä", 2), "ä");
    }
}
