//! What a question asks for, and how well a text answers it, as numbers.
//!
//! A question is parsed ([`query`], [`dates`], [`question_kind`]), its words are weighed ([`relevance`]), and a plan names the
//! texts that a store fetches for it ([`plan`]). Each text is then scored by its outline ([`lexical`], [`akin`], [`rank`]). The best
//! are gone on with ([`selection`]), and tell how likely the question was discussed at all ([`confidence`]).
//!
//! Every result depends on its arguments alone: nothing here reads a store, a file or a clock, and what is kept between calls is
//! only which words a model finds near another. It is a crate of its own because
//! each recall runs through it hundreds of times, so that it is compiled for speed where the engine is compiled for size. What
//! the engine calls is never inlined: it would become a part of the engine's code, and compiled for size with it.
//!
//! Not here: which answers are shown, and in what order those stand that change each other (`daybook_engine::recall`).

pub mod akin;
pub mod confidence;
pub mod dates;
pub mod lexical;
pub mod phrases;
pub mod plan;
pub mod query;
pub mod question_kind;
pub mod rank;
pub mod relevance;
pub mod selection;
pub mod stopwords;
