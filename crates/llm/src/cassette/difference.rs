//! Where two questions differ, in words.

use serde_json::Value;

/// Most characters of a value that are shown.
const SHOWN_CHARACTERS: usize = 80;

/// Where two values first differ, and what each has there.
pub(super) fn difference(
    recorded: &Value,
    asked: &Value,
    at: &str,
) -> Option<(String, String, String)> {
    let nothing = || "nothing".to_owned();
    let both = |name: &str, one: Option<&Value>, other: Option<&Value>| match (one, other) {
        (Some(one), Some(other)) => difference(one, other, &format!("{at}/{name}")),
        (None, None) => None,
        (one, other) => Some((
            format!("{at}/{name}"),
            one.map_or_else(nothing, shown),
            other.map_or_else(nothing, shown),
        )),
    };
    match (recorded, asked) {
        (Value::Object(one), Value::Object(other)) => {
            let names = one.keys().chain(other.keys());
            names
                .into_iter()
                .find_map(|name| both(name, one.get(name), other.get(name)))
        }
        (Value::Array(one), Value::Array(other)) => (0..one.len().max(other.len()))
            .find_map(|place| both(&place.to_string(), one.get(place), other.get(place))),
        (one, other) if one == other => None,
        (Value::String(one), Value::String(other)) => {
            let common = one
                .chars()
                .zip(other.chars())
                .take_while(|(a, b)| a == b)
                .count();
            let place = format!("{at} (from character {})", common + 1);
            let rest = |text: &str| shown(&text.chars().skip(common).collect::<String>().into());
            Some((place, rest(one), rest(other)))
        }
        (one, other) => Some((at.to_owned(), shown(one), shown(other))),
    }
}

fn shown(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(SHOWN_CHARACTERS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
