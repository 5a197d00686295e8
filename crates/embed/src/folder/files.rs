//! The files of a model's folder: their content, and whether the model is supported.
//!
//! Not here: computing.

use std::path::{Path, PathBuf};

use safetensors::{Dtype, SafeTensors};
use serde::Deserialize;

use super::read::{FolderError, bytes, exists, json};
use super::vocabulary::FolderVocabulary;

const CONFIG: &str = "config.json";
const WEIGHTS: &str = "model.safetensors";
const POOLING: &str = "1_Pooling/config.json";

/// `config.json`, as far as it matters.
#[derive(Debug, Deserialize)]
pub(super) struct BertConfig {
    pub(super) hidden_size: usize,
    pub(super) intermediate_size: usize,
    pub(super) num_attention_heads: usize,
    pub(super) num_hidden_layers: usize,
    pub(super) max_position_embeddings: usize,
    pub(super) type_vocab_size: usize,
    pub(super) vocab_size: usize,
    pub(super) layer_norm_eps: f32,
    model_type: String,
    hidden_act: String,
    position_embedding_type: Option<String>,
}

/// How token vectors become one.
#[derive(Debug, Deserialize)]
struct Pooling {
    pooling_mode_mean_tokens: bool,
}

/// The files of one folder, read and checked.
#[derive(Debug)]
pub(super) struct FolderFiles {
    folder: PathBuf,
    pub(super) config: BertConfig,
    pub(super) vocabulary: FolderVocabulary,
    weights: Vec<u8>,
}

impl FolderFiles {
    pub(super) fn open(folder: &Path) -> Result<Self, FolderError> {
        let config: BertConfig = json(folder, CONFIG)?;
        let unsupported = |name: &str, why: String| FolderError::Unsupported {
            file: folder.join(name),
            why,
        };
        config.check().map_err(|why| unsupported(CONFIG, why))?;
        if exists(folder, POOLING) && !json::<Pooling>(folder, POOLING)?.pooling_mode_mean_tokens {
            let why = "its sentence vector is not the mean of its tokens".to_owned();
            return Err(unsupported(POOLING, why));
        }
        let vocabulary = FolderVocabulary::open(folder)?;
        if vocabulary.len() > config.vocab_size {
            let (count, size) = (vocabulary.len(), config.vocab_size);
            let why = format!("its vocab_size is {size}, and the vocabulary has {count} tokens");
            return Err(unsupported(CONFIG, why));
        }
        Ok(Self {
            weights: bytes(folder, WEIGHTS)?,
            folder: folder.to_owned(),
            config,
            vocabulary,
        })
    }

    /// A hash of all that vectors depend on.
    pub(super) fn fingerprint(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&self.weights);
        hasher.update(format!("{:?}", self.config).as_bytes());
        hasher.update(self.vocabulary.digest());
        hasher.finalize().to_hex()[..16].to_owned()
    }

    pub(super) fn weights(&self) -> Result<Weights<'_>, FolderError> {
        let file = self.folder.join(WEIGHTS);
        match SafeTensors::deserialize(&self.weights) {
            Ok(tensors) => Ok(Weights { file, tensors }),
            Err(error) => Err(FolderError::Damaged {
                file,
                why: error.to_string(),
            }),
        }
    }
}

impl BertConfig {
    fn check(&self) -> Result<(), String> {
        let positions = self.position_embedding_type.as_deref();
        if self.model_type != "bert" {
            return Err(format!("its model_type is {}, not bert", self.model_type));
        }
        if self.hidden_act != "gelu" {
            return Err(format!("its hidden_act is {}, not gelu", self.hidden_act));
        }
        if let Some(kind) = positions.filter(|kind| *kind != "absolute") {
            return Err(format!(
                "its position_embedding_type is {kind}, not absolute"
            ));
        }
        let sizes = [
            ("hidden_size", self.hidden_size),
            ("intermediate_size", self.intermediate_size),
            ("num_attention_heads", self.num_attention_heads),
            ("type_vocab_size", self.type_vocab_size),
        ];
        if let Some((name, _)) = sizes.iter().find(|(_, size)| *size == 0) {
            return Err(format!("its {name} is 0"));
        }
        if !self.hidden_size.is_multiple_of(self.num_attention_heads) {
            return Err("its hidden_size is no multiple of num_attention_heads".to_owned());
        }
        if self.max_position_embeddings < 3 {
            return Err("its max_position_embeddings leaves no room for a text".to_owned());
        }
        Ok(())
    }
}

/// `model.safetensors`.
pub(super) struct Weights<'a> {
    file: PathBuf,
    tensors: SafeTensors<'a>,
}

impl Weights<'_> {
    /// The numbers of a tensor, which must have this shape.
    pub(super) fn read(&self, name: &str, shape: &[usize]) -> Result<Vec<f32>, FolderError> {
        let damaged = |why| FolderError::Damaged {
            file: self.file.clone(),
            why,
        };
        let tensor = self.tensors.tensor(name);
        let tensor = tensor.map_err(|_| damaged(format!("it has no tensor {name}")))?;
        if tensor.dtype() != Dtype::F32 {
            return Err(FolderError::Unsupported {
                file: self.file.clone(),
                why: format!("{name} has numbers of type {:?}, not F32", tensor.dtype()),
            });
        }
        if tensor.shape() != shape {
            let found = tensor.shape();
            let why = format!("{name} has the shape {found:?}, and {CONFIG} asks for {shape:?}");
            return Err(damaged(why));
        }
        let (numbers, _) = tensor.data().as_chunks::<4>();
        Ok(numbers.iter().map(|it| f32::from_le_bytes(*it)).collect())
    }
}
