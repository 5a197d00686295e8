//! Fields of JSON whose writers we do not control: borrowed where possible, and absent where they
//! are of an unexpected type.
//!
//! When a format changes a field that we hardly need, the person's words must still be read.
//!
//! Not here: what any field means.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// A text; empty when the field is anything else.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Text<'j>(pub Cow<'j, str>);

impl Text<'_> {
    /// The text, if there is any.
    pub fn get(&self) -> Option<&str> {
        (!self.0.is_empty()).then_some(&*self.0)
    }

    /// An own copy, if there is any.
    pub fn owned(&self) -> Option<String> {
        self.get().map(str::to_owned)
    }
}

impl std::ops::Deref for Text<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

/// A boolean; false when the field is anything else.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Flag(pub bool);

/// A point in time as a text or a number.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum When<'j> {
    /// Absent, or of another type.
    #[default]
    Unknown,
    /// A text.
    Text(Cow<'j, str>),
    /// A number.
    Number(f64),
}

/// An object; `None` when the field is anything else.
#[derive(Debug, Clone, PartialEq)]
pub struct Object<T>(pub Option<T>);

impl<T> Default for Object<T> {
    fn default() -> Self {
        Self(None)
    }
}

/// What messages carry: a text, or a list whose members are texts or objects.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Content<'j, T> {
    /// Absent, or of another type.
    #[default]
    Nothing,
    /// A text.
    Text(Cow<'j, str>),
    /// A list, or one object alone.
    Parts(Vec<ContentMember<'j, T>>),
}

/// A member of such a list.
#[derive(Debug, Clone, PartialEq)]
pub enum ContentMember<'j, T> {
    /// A text.
    Text(Cow<'j, str>),
    /// An object.
    Object(T),
    /// Anything else.
    Other,
}

/// The methods of a visitor that treat every unexpected type as absent.
macro_rules! absent_otherwise {
    ($lifetime:lifetime, $absent:expr; $($kind:ident)*) => {
        $(absent_otherwise!(@ $lifetime, $absent, $kind);)*
    };
    (@ $lifetime:lifetime, $absent:expr, text) => {
        fn visit_str<E>(self, _: &str) -> Result<Self::Value, E> {
            Ok($absent)
        }
    };
    (@ $lifetime:lifetime, $absent:expr, bool) => {
        fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
            Ok($absent)
        }
    };
    (@ $lifetime:lifetime, $absent:expr, number) => {
        fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
            Ok($absent)
        }
        fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
            Ok($absent)
        }
        fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
            Ok($absent)
        }
    };
    (@ $lifetime:lifetime, $absent:expr, null) => {
        fn visit_unit<E>(self) -> Result<Self::Value, E> {
            Ok($absent)
        }
    };
    (@ $lifetime:lifetime, $absent:expr, list) => {
        fn visit_seq<A: SeqAccess<$lifetime>>(self, mut list: A) -> Result<Self::Value, A::Error> {
            while list.next_element::<IgnoredAny>()?.is_some() {}
            Ok($absent)
        }
    };
    (@ $lifetime:lifetime, $absent:expr, object) => {
        fn visit_map<A: MapAccess<$lifetime>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
            Ok($absent)
        }
    };
}

/// The members of an object, in their order; none when the field is anything else.
#[derive(Debug, Clone, PartialEq)]
pub struct Pairs<'j, T>(pub Vec<(Cow<'j, str>, T)>);

impl<T> Default for Pairs<'_, T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

struct TextVisitor;

impl<'j> Visitor<'j> for TextVisitor {
    type Value = Text<'j>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("anything")
    }

    fn visit_borrowed_str<E>(self, text: &'j str) -> Result<Self::Value, E> {
        Ok(Text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Text(Cow::Owned(text.to_owned())))
    }

    absent_otherwise!('j, Text::default(); bool number null list object);
}

impl<'j: 'a, 'a> Deserialize<'j> for Text<'a> {
    fn deserialize<D: Deserializer<'j>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextVisitor)
    }
}

struct FlagVisitor;

impl<'j> Visitor<'j> for FlagVisitor {
    type Value = Flag;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("anything")
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Self::Value, E> {
        Ok(Flag(flag))
    }

    absent_otherwise!('j, Flag(false); text number null list object);
}

impl<'j> Deserialize<'j> for Flag {
    fn deserialize<D: Deserializer<'j>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(FlagVisitor)
    }
}

struct WhenVisitor;

impl<'j> Visitor<'j> for WhenVisitor {
    type Value = When<'j>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("anything")
    }

    fn visit_borrowed_str<E>(self, text: &'j str) -> Result<Self::Value, E> {
        Ok(When::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(When::Text(Cow::Owned(text.to_owned())))
    }

    // Milliseconds since 1970 stay far below 2^53, so that a float holds them exactly.
    fn visit_i64<E>(self, number: i64) -> Result<Self::Value, E> {
        Ok(When::Number(number as f64))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Self::Value, E> {
        Ok(When::Number(number as f64))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Self::Value, E> {
        Ok(When::Number(number))
    }

    absent_otherwise!('j, When::Unknown; bool null list object);
}

impl<'j: 'a, 'a> Deserialize<'j> for When<'a> {
    fn deserialize<D: Deserializer<'j>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(WhenVisitor)
    }
}

struct ObjectVisitor<T>(PhantomData<T>);

impl<'j, T: Deserialize<'j>> Visitor<'j> for ObjectVisitor<T> {
    type Value = Object<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("anything")
    }

    fn visit_map<A: MapAccess<'j>>(self, map: A) -> Result<Self::Value, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(|object| Object(Some(object)))
    }

    absent_otherwise!('j, Object(None); text bool number null list);
}

impl<'j, T: Deserialize<'j>> Deserialize<'j> for Object<T> {
    fn deserialize<D: Deserializer<'j>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ObjectVisitor(PhantomData))
    }
}

struct PairsVisitor<T>(PhantomData<T>);

impl<'j, T: Deserialize<'j>> Visitor<'j> for PairsVisitor<T> {
    type Value = Pairs<'j, T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("anything")
    }

    fn visit_map<A: MapAccess<'j>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut pairs = Vec::new();
        while let Some((key, value)) = map.next_entry::<Text<'j>, T>()? {
            pairs.push((key.0, value));
        }
        Ok(Pairs(pairs))
    }

    absent_otherwise!('j, Pairs(Vec::new()); text bool number null list);
}

impl<'j: 'a, 'a, T: Deserialize<'j>> Deserialize<'j> for Pairs<'a, T> {
    fn deserialize<D: Deserializer<'j>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(PairsVisitor(PhantomData))
    }
}

struct PartVisitor<T>(PhantomData<T>);

impl<'j, T: Deserialize<'j>> Visitor<'j> for PartVisitor<T> {
    type Value = ContentMember<'j, T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("anything")
    }

    fn visit_borrowed_str<E>(self, text: &'j str) -> Result<Self::Value, E> {
        Ok(ContentMember::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(ContentMember::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_map<A: MapAccess<'j>>(self, map: A) -> Result<Self::Value, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(ContentMember::Object)
    }

    absent_otherwise!('j, ContentMember::Other; bool number null list);
}

impl<'j: 'a, 'a, T: Deserialize<'j>> Deserialize<'j> for ContentMember<'a, T> {
    fn deserialize<D: Deserializer<'j>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(PartVisitor(PhantomData))
    }
}

struct ContentVisitor<T>(PhantomData<T>);

impl<'j, T: Deserialize<'j>> Visitor<'j> for ContentVisitor<T> {
    type Value = Content<'j, T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("anything")
    }

    fn visit_borrowed_str<E>(self, text: &'j str) -> Result<Self::Value, E> {
        Ok(Content::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Content::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'j>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut parts = Vec::new();
        while let Some(part) = list.next_element()? {
            parts.push(part);
        }
        Ok(Content::Parts(parts))
    }

    fn visit_map<A: MapAccess<'j>>(self, map: A) -> Result<Self::Value, A::Error> {
        let object = T::deserialize(MapAccessDeserializer::new(map))?;
        Ok(Content::Parts(vec![ContentMember::Object(object)]))
    }

    absent_otherwise!('j, Content::Nothing; bool number null);
}

impl<'j: 'a, 'a, T: Deserialize<'j>> Deserialize<'j> for Content<'a, T> {
    fn deserialize<D: Deserializer<'j>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ContentVisitor(PhantomData))
    }
}

#[cfg(test)]
#[path = "lenient_tests.rs"]
mod tests;
