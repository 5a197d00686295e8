//! The forward pass of BERT: from the tokens of texts to one vector of length 1 for each text.
//!
//! The tokens of several texts follow one another in one matrix, without padding: operations on single
//! tokens run over all of them at once, and attention runs within each text. So no token ever
//! sees padding, and a mask is not needed.
//!
//! Not here: files, tokenising, how many texts run at once.

use std::ops::Range;

use super::FolderError;
use super::files::{BertConfig, Weights};
use super::matrix::{Blocks, Panels};

/// The weights, ready to run.
#[derive(Debug)]
pub(super) struct Bert {
    width: usize,
    heads: usize,
    words: Vec<f32>,
    /// Position and the type of the first sentence together.
    positions: Vec<f32>,
    norm: Norm,
    layers: Vec<EncoderLayer>,
}

#[derive(Debug)]
struct EncoderLayer {
    query: Linear,
    key: Linear,
    value: Linear,
    attended: Linear,
    attended_norm: Norm,
    inner: Linear,
    outer: Linear,
    outer_norm: Norm,
}

#[derive(Debug)]
struct Linear {
    weight: Panels,
    bias: Vec<f32>,
}

#[derive(Debug)]
struct Norm {
    weight: Vec<f32>,
    bias: Vec<f32>,
    epsilon: f32,
}

impl Bert {
    pub(super) fn new(config: &BertConfig, weights: &Weights<'_>) -> Result<Self, FolderError> {
        let width = config.hidden_size;
        let table = |name: &str, rows| {
            let name = format!("embeddings.{name}_embeddings.weight");
            weights.read(&name, &[rows, width])
        };
        let mut positions = table("position", config.max_position_embeddings)?;
        let kind = table("token_type", config.type_vocab_size)?;
        for position in positions.chunks_exact_mut(width) {
            add(position, &kind[..width]);
        }
        let layers = (0..config.num_hidden_layers).map(|n| EncoderLayer::new(n, config, weights));
        Ok(Self {
            width,
            heads: config.num_attention_heads,
            words: table("word", config.vocab_size)?,
            positions,
            norm: Norm::new("embeddings.LayerNorm", config, weights)?,
            layers: layers.collect::<Result<_, _>>()?,
        })
    }

    /// Length of each vector.
    pub(super) fn width(&self) -> usize {
        self.width
    }

    /// The mean over the outputs of each text's tokens, of length 1. No text is empty.
    pub(super) fn vectors(&self, texts: &[Vec<usize>]) -> Vec<Vec<f32>> {
        let mut hidden = Vec::new();
        let mut spans = Vec::with_capacity(texts.len());
        for tokens in texts {
            let start = hidden.len() / self.width;
            spans.push(start..start + tokens.len());
            for (token, position) in tokens.iter().zip(self.positions.chunks_exact(self.width)) {
                let word = &self.words[token * self.width..(token + 1) * self.width];
                hidden.extend(word.iter().zip(position).map(|(word, place)| word + place));
            }
        }
        self.norm.apply(&mut hidden);
        for layer in &self.layers {
            self.attend(layer, &spans, &mut hidden);
            layer.feed_forward(&mut hidden);
        }
        spans
            .into_iter()
            .map(|span| self.mean(&hidden, span))
            .collect()
    }

    /// Adds to each token what attention to the tokens of its text gives, head by head.
    fn attend(&self, layer: &EncoderLayer, spans: &[Range<usize>], hidden: &mut [f32]) {
        let blocks = Blocks::of(hidden, self.width);
        let [query, key, value] =
            [&layer.query, &layer.key, &layer.value].map(|linear| linear.apply(&blocks));
        let mut mixed = vec![0.0; hidden.len()];
        let size = self.width / self.heads;
        for span in spans {
            for head in 0..self.heads {
                let at =
                    |token: usize, n: usize| (span.start + token) * self.width + head * size + n;
                let tokens = span.len();
                let queries = Blocks::new(tokens, size, |token, n| query[at(token, n)]);
                let keys = Panels::new(size, tokens, |n, token| key[at(token, n)]);
                let mut shares = queries.times(&keys);
                for row in shares.chunks_exact_mut(tokens) {
                    softmax(row, (size as f32).sqrt().recip());
                }
                let values = Panels::new(tokens, size, |token, n| value[at(token, n)]);
                let product = Blocks::of(&shares, tokens).times(&values);
                for (token, values) in product.chunks_exact(size).enumerate() {
                    mixed[at(token, 0)..at(token, size)].copy_from_slice(values);
                }
            }
        }
        let attended = layer.attended.apply(&Blocks::of(&mixed, self.width));
        add(hidden, &attended);
        layer.attended_norm.apply(hidden);
    }

    fn mean(&self, hidden: &[f32], span: Range<usize>) -> Vec<f32> {
        let mut sum = vec![0.0; self.width];
        let tokens = &hidden[span.start * self.width..span.end * self.width];
        for token in tokens.chunks_exact(self.width) {
            add(&mut sum, token);
        }
        crate::model::normalise(&mut sum);
        sum
    }
}

impl EncoderLayer {
    fn new(n: usize, config: &BertConfig, weights: &Weights<'_>) -> Result<Self, FolderError> {
        let (width, inner) = (config.hidden_size, config.intermediate_size);
        let linear = |name: &str, from, to| {
            Linear::new(&format!("encoder.layer.{n}.{name}"), from, to, weights)
        };
        let norm = |name: &str| {
            Norm::new(
                &format!("encoder.layer.{n}.{name}.LayerNorm"),
                config,
                weights,
            )
        };
        Ok(Self {
            query: linear("attention.self.query", width, width)?,
            key: linear("attention.self.key", width, width)?,
            value: linear("attention.self.value", width, width)?,
            attended: linear("attention.output.dense", width, width)?,
            attended_norm: norm("attention.output")?,
            inner: linear("intermediate.dense", width, inner)?,
            outer: linear("output.dense", inner, width)?,
            outer_norm: norm("output")?,
        })
    }

    fn feed_forward(&self, hidden: &mut [f32]) {
        let width = self.inner.weight_depth();
        let mut inner = self.inner.apply(&Blocks::of(hidden, width));
        inner.iter_mut().for_each(|x| *x = gelu(*x));
        let outer = self
            .outer
            .apply(&Blocks::of(&inner, self.outer.weight_depth()));
        add(hidden, &outer);
        self.outer_norm.apply(hidden);
    }
}

impl Linear {
    fn new(name: &str, from: usize, to: usize, weights: &Weights<'_>) -> Result<Self, FolderError> {
        // The file has a row for each output.
        let weight = weights.read(&format!("{name}.weight"), &[to, from])?;
        Ok(Self {
            weight: Panels::new(from, to, |k, column| weight[column * from + k]),
            bias: weights.read(&format!("{name}.bias"), &[to])?,
        })
    }

    fn weight_depth(&self) -> usize {
        self.weight.depth()
    }

    fn apply(&self, rows: &Blocks) -> Vec<f32> {
        let mut product = rows.times(&self.weight);
        for row in product.chunks_exact_mut(self.bias.len()) {
            add(row, &self.bias);
        }
        product
    }
}

impl Norm {
    fn new(name: &str, config: &BertConfig, weights: &Weights<'_>) -> Result<Self, FolderError> {
        let width = [config.hidden_size];
        Ok(Self {
            weight: weights.read(&format!("{name}.weight"), &width)?,
            bias: weights.read(&format!("{name}.bias"), &width)?,
            epsilon: config.layer_norm_eps,
        })
    }

    fn apply(&self, hidden: &mut [f32]) {
        let width = self.weight.len();
        for row in hidden.chunks_exact_mut(width) {
            let mean = row.iter().sum::<f32>() / width as f32;
            let spread = row.iter().map(|x| (x - mean) * (x - mean)).sum::<f32>() / width as f32;
            let scale = (spread + self.epsilon).sqrt().recip();
            for (x, (weight, bias)) in row.iter_mut().zip(self.weight.iter().zip(&self.bias)) {
                *x = (*x - mean) * scale * weight + bias;
            }
        }
    }
}

fn add(sum: &mut [f32], more: &[f32]) {
    for (total, x) in sum.iter_mut().zip(more) {
        *total += x;
    }
}

/// Turns scores, times `scale`, into shares whose sum is 1.
fn softmax(scores: &mut [f32], scale: f32) {
    let most = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    scores
        .iter_mut()
        .for_each(|x| *x = ((*x - most) * scale).exp());
    let sum: f32 = scores.iter().sum();
    scores.iter_mut().for_each(|x| *x /= sum);
}

/// `x` times the share of a normal distribution below it.
fn gelu(x: f32) -> f32 {
    0.5 * x * (1.0 + erf(x * std::f32::consts::FRAC_1_SQRT_2))
}

/// The error function, to 2e-7: formula 7.1.26 of Abramowitz and Stegun.
fn erf(x: f32) -> f32 {
    let t = (1.0 + 0.327_591_1 * x.abs()).recip();
    let factors = [
        1.061_405_4,
        -1.453_152_1,
        1.421_413_8,
        -0.284_496_72,
        0.254_829_6,
    ];
    let series = factors.iter().fold(0.0, |sum, factor| (sum * t) + factor) * t;
    (1.0 - series * (-x * x).exp()).copysign(x)
}
