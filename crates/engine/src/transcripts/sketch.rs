//! Sketches a JSON object: what its beginning shows, even where it is cut off.
//!
//! The keys of the outermost object, the values that tell formats apart, and the same of four
//! objects within it. A sketch keeps everything before the place where the text breaks off.
//!
//! Not here: which format a sketch is evidence of (`detect`).

use std::fmt;

use daybook_text::redact::Redactor;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// The keys and telltale values at the beginning of an object.
#[derive(Debug, Default)]
pub(super) struct Sketch {
    pub(super) keys: Vec<String>,
    pub(super) kind: String,
    pub(super) role: String,
    /// Keys of `payload`, `v`, `message`, and of the first of `messages`.
    pub(super) payload: Option<Box<Sketch>>,
    pub(super) value: Option<Box<Sketch>>,
    pub(super) message: Option<Box<Sketch>>,
    pub(super) first_message: Option<Box<Sketch>>,
}

impl Sketch {
    /// Sketches an object that may be cut off.
    pub(super) fn of_beginning(text: &[u8]) -> Self {
        let mut sketch = Self::default();
        let mut json = serde_json::Deserializer::from_slice(text);
        let _ = (&mut json).deserialize_any(Sketching(&mut sketch));
        sketch
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.keys.iter().any(|known| known == key)
    }

    pub(super) fn described(&self, what: &str) -> String {
        if self.keys.is_empty() {
            return "no JSON objects".to_owned();
        }
        let redactor = Redactor::current();
        // Redacts before it cuts: a key of a foreign file may be a secret.
        let short = |text: &str| -> String {
            let hidden = redactor.redact(text).text;
            hidden.chars().take(24).collect()
        };
        let keys: Vec<String> = self.keys.iter().take(8).map(|key| short(key)).collect();
        let kind = match short(&self.kind).as_str() {
            "" => String::new(),
            kind => format!(" of type `{kind}`"),
        };
        format!("{what}JSON objects{kind} with {}", keys.join(", "))
    }
}

/// Most keys of an object that a sketch holds.
const KEYS: usize = 64;

/// Sketches a value into a place that survives an error further on.
struct Sketching<'s>(&'s mut Sketch);

impl<'j> Visitor<'j> for Sketching<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'j>>(self, mut map: A) -> Result<(), A::Error> {
        let sketch = self.0;
        while let Some(key) = map.next_key::<String>()? {
            let name = key.clone();
            if sketch.keys.len() < KEYS {
                sketch.keys.push(key);
            }
            match &*name {
                "type" => map.next_value_seed(Word(&mut sketch.kind))?,
                "role" => map.next_value_seed(Word(&mut sketch.role))?,
                "payload" => map.next_value_seed(Nested(&mut sketch.payload))?,
                "v" => map.next_value_seed(Nested(&mut sketch.value))?,
                "message" => map.next_value_seed(Nested(&mut sketch.message))?,
                "messages" => map.next_value_seed(First(&mut sketch.first_message))?,
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(())
    }
}

/// The methods of a visitor that pass over whatever was not expected.
macro_rules! ignored {
    ($($method:ident: $type:ty),*) => {
        $(fn $method<E>(self, _: $type) -> Result<(), E> {
            Ok(())
        })*
        fn visit_unit<E>(self) -> Result<(), E> {
            Ok(())
        }
    };
}

macro_rules! seed {
    ($name:ident) => {
        impl<'j> DeserializeSeed<'j> for $name<'_> {
            type Value = ();

            fn deserialize<D: Deserializer<'j>>(self, deserializer: D) -> Result<(), D::Error> {
                deserializer.deserialize_any(self)
            }
        }
    };
}

/// A short text.
struct Word<'s>(&'s mut String);
seed!(Word);

impl<'j> Visitor<'j> for Word<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("anything")
    }

    fn visit_str<E>(self, text: &str) -> Result<(), E> {
        *self.0 = text.chars().take(256).collect();
        Ok(())
    }

    ignored!(visit_bool: bool, visit_i64: i64, visit_u64: u64, visit_f64: f64);

    fn visit_seq<A: SeqAccess<'j>>(self, mut list: A) -> Result<(), A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'j>>(self, mut map: A) -> Result<(), A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(())
    }
}

/// An object within the object.
struct Nested<'s>(&'s mut Option<Box<Sketch>>);
seed!(Nested);

impl<'j> Visitor<'j> for Nested<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("anything")
    }

    fn visit_map<A: MapAccess<'j>>(self, map: A) -> Result<(), A::Error> {
        Sketching(self.0.get_or_insert_default()).visit_map(map)
    }

    ignored!(visit_str: &str, visit_bool: bool, visit_i64: i64, visit_u64: u64, visit_f64: f64);

    fn visit_seq<A: SeqAccess<'j>>(self, mut list: A) -> Result<(), A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(())
    }
}

/// The first object of a list within the object.
struct First<'s>(&'s mut Option<Box<Sketch>>);
seed!(First);

impl<'j> Visitor<'j> for First<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("anything")
    }

    fn visit_seq<A: SeqAccess<'j>>(self, mut list: A) -> Result<(), A::Error> {
        if list.next_element_seed(Nested(self.0))?.is_some() {
            while list.next_element::<IgnoredAny>()?.is_some() {}
        }
        Ok(())
    }

    ignored!(visit_str: &str, visit_bool: bool, visit_i64: i64, visit_u64: u64, visit_f64: f64);

    fn visit_map<A: MapAccess<'j>>(self, mut map: A) -> Result<(), A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(())
    }
}

/// The first object of a list that is the document.
pub(super) struct FirstOf<'s>(pub(super) &'s mut Sketch);

impl<'j> Visitor<'j> for FirstOf<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'j>>(self, mut list: A) -> Result<(), A::Error> {
        let mut first = None;
        let found = list.next_element_seed(Nested(&mut first));
        if let Some(first) = first {
            *self.0 = *first;
        }
        found.map(drop)
    }
}
