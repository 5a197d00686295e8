//! Reads messages of a channel as Slack exports them: a list for each day, or what its interface returns as `messages`.
//!
//! Several people speak in a channel, so that each message begins with its speaker's name. What a message becomes:
//!
//! | message | becomes |
//! |---|---|
//! | of a person | their words, behind their name |
//! | of a bot | the host's text, behind its name |
//! | with any other subtype | nothing: joins, topics, pins |
//!
//! The channel is the folder of the list, the day its name, and the names of people stand in `users.json` above it
//! (`beside`). Each day of a channel is a session, held in that room. No real export was at hand: the shape is the known one. Not here: files and
//! reactions.

use std::collections::BTreeMap;

use daybook_domain::{Origin, Venue};
use serde::{Deserialize, Serialize};

use super::format::SessionFormat;
use super::item::BadLine;
use super::item_writer::{EventContent, EventKey, ItemWriter};
use super::sketch::Sketch;
use daybook_text::lenient::{Object, Pairs, Text, When};

/// Most people whose names are known.
const NAMES: usize = 4096;

/// Messages of a channel.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Slack {
    /// Names of people by their ids.
    names: BTreeMap<String, String>,
}

/// One message, or what stands beside the list.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct SlackMessage<'j> {
    #[serde(rename = "type", borrow)]
    kind: Text<'j>,
    subtype: Text<'j>,
    user: Text<'j>,
    username: Text<'j>,
    bot_id: Text<'j>,
    bot_profile: Object<Profile<'j>>,
    user_profile: Object<Profile<'j>>,
    text: Text<'j>,
    ts: Text<'j>,
    // Beside the list.
    channel_folder: Text<'j>,
    day: Text<'j>,
    people: Pairs<'j, Text<'j>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Profile<'j> {
    #[serde(borrow)]
    display_name: Text<'j>,
    real_name: Text<'j>,
    name: Text<'j>,
}

/// Whether an object is such a message.
pub(super) fn is_evident(sketch: &Sketch) -> bool {
    let names_speaker = ["user", "bot_id", "username"]
        .iter()
        .any(|key| sketch.has(key));
    sketch.kind == "message" && sketch.has("ts") && sketch.has("text") && names_speaker
}

impl SessionFormat for Slack {
    const AGENT: &'static str = "slack";
    type Line<'j> = SlackMessage<'j>;

    fn read(&mut self, line: &SlackMessage<'_>, out: &mut ItemWriter<'_>) -> Result<(), BadLine> {
        if let Some(channel) = line.channel_folder.get() {
            let people = line.people.0.iter().take(NAMES);
            self.names = people
                .map(|(id, name)| (id.to_string(), name.to_string()))
                .collect();
            let venue = Venue::named(Some(channel.to_owned()), None, None).map_err(BadLine)?;
            out.describe(|session| {
                session.host_id = match line.day.get() {
                    Some(day) => format!("{channel}-{day}"),
                    None => channel.to_owned(),
                };
                session.venue = venue;
            });
        }
        let is_said = matches!(
            &*line.subtype,
            "" | "bot_message" | "thread_broadcast" | "me_message"
        );
        if &*line.kind != "message" || !is_said {
            return Ok(());
        }
        if let Ok(seconds) = line.ts.parse() {
            out.set_time(&When::Number(seconds));
        }
        let origin = match line.bot_id.is_empty() && &*line.subtype != "bot_message" {
            true => Origin::Human,
            false => Origin::Harness,
        };
        let words = self.readable(&line.text);
        if !words.trim().is_empty() {
            let id = format!("{} {}", &*line.ts, &*line.user);
            let text = format!("{}: {words}", self.speaker(line));
            out.push(EventContent::plain(EventKey::InSession(&id), origin, text));
        }
        Ok(())
    }
}

impl Slack {
    /// The name of a message's speaker.
    fn speaker<'s>(&'s self, line: &'s SlackMessage<'_>) -> &'s str {
        let profile = line.user_profile.0.as_ref().or(line.bot_profile.0.as_ref());
        let of_profile = profile.and_then(|profile| {
            let names = [&profile.display_name, &profile.real_name, &profile.name];
            names.into_iter().find_map(|name| name.get())
        });
        let known = self.names.get(&*line.user).map(String::as_str);
        let ids = [&line.username, &line.user, &line.bot_id];
        let id = ids.into_iter().find_map(|id| id.get());
        of_profile.or(known).or(id).unwrap_or("somebody")
    }

    /// A text with names in place of ids, and with the characters that Slack escapes.
    fn readable(&self, text: &str) -> String {
        let mut readable = String::new();
        let mut rest = text;
        while let Some((before, behind)) = rest.split_once("<@") {
            readable.push_str(before);
            let Some((mention, behind)) = behind.split_once('>') else {
                readable.push_str("<@");
                rest = behind;
                continue;
            };
            let (id, label) = mention.split_once('|').unwrap_or((mention, mention));
            readable.push('@');
            readable.push_str(self.names.get(id).map_or(label, String::as_str));
            rest = behind;
        }
        readable.push_str(rest);
        readable
            .replace("&lt;", "<")
            .replace("&gt;", ">")
            .replace("&amp;", "&")
    }
}

#[cfg(test)]
mod tests {
    use daybook_domain::{SessionId, Tenant};

    use super::{SessionFormat, Slack};
    use crate::transcripts::detect::{ChatShape, TranscriptFormat, detect};
    use crate::transcripts::reader_test_support::{check, events, told};

    const LIST: TranscriptFormat = TranscriptFormat::Slack(ChatShape::Document);
    const BESIDE: &str =
        r#"{"channel_folder":"harbour","day":"2026-04-01","people":{"U1":"ada","U2":"grace"}}"#;

    #[test]
    fn speakers_are_kept_by_name() {
        let message = r#"{"type":"message","user":"U1","text":"<@U2> the tide is &gt; 4 m","ts":"1775030400.000100"}"#;
        assert_eq!(detect(format!("[{message}]").as_bytes()), LIST);
        assert_eq!(
            detect(format!(r#"{{"ok":true,"messages":[{message}]}}"#).as_bytes()),
            LIST
        );
        let lines = [
            BESIDE,
            message,
            r#"{"type":"message","user":"U3","user_profile":{"real_name":"Linus"},"text":"noted","ts":"1775030401.000100"}"#,
            r#"{"type":"message","subtype":"bot_message","username":"clock","bot_id":"B1","text":"noon","ts":"1775030402.000100"}"#,
            r#"{"type":"message","subtype":"channel_join","user":"U1","text":"joined","ts":"1775030403.000100"}"#,
        ];
        check(
            &LIST,
            &lines,
            "human | ada: @grace the tide is > 4 m
             human | Linus: noted
             harness | clock: noon",
        );
        assert_eq!(told(&LIST, &lines), ["session harbour-2026-04-01 root"]);
        let id = SessionId {
            tenant: Tenant::local(),
            agent: Slack::AGENT.to_owned(),
            host_id: "harbour-2026-04-01".to_owned(),
        };
        assert!(id.has_speakers());
        assert_eq!(events(&LIST, &lines)[0].at.0, 1_775_030_400_000);
    }

    #[test]
    fn a_list_without_names_keeps_ids() {
        let message =
            r#"{"type":"message","user":"U1","text":"a <@U9> b <@","ts":"1775030400.000100"}"#;
        check(&LIST, &[message], "human | U1: a @U9 b <@");
    }
}
