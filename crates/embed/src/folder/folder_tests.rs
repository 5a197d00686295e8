use serde::Deserialize;

use super::*;

const TINY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/tiny-bert");

#[derive(Deserialize)]
struct EmbeddingReference {
    text: String,
    vector: Vec<f32>,
}

fn references(file: &str) -> Vec<EmbeddingReference> {
    let content = std::fs::read(file).expect("the fixture is committed");
    serde_json::from_slice(&content).expect("the fixture is JSON")
}

fn cosine(one: &[f32], other: &[f32]) -> f32 {
    assert_eq!(one.len(), other.len());
    one.iter().zip(other).map(|(a, b)| a * b).sum()
}

/// Vectors must be those of another implementation, `train/sentences.py`, together and alone.
#[track_caller]
fn check(folder: &Path, references: &[EmbeddingReference]) {
    let model = FolderModel::open(folder).expect("the folder is sound");
    let texts: Vec<&str> = references.iter().map(|it| it.text.as_str()).collect();
    let together = model.embed(&texts);
    for (reference, vector) in references.iter().zip(&together) {
        let near = cosine(vector, &reference.vector);
        assert!(near > 0.9999, "{near} for {:?}", reference.text);
        assert!((cosine(vector, vector) - 1.0).abs() < 1e-4);
        assert_eq!(model.embed(&[&reference.text]), [vector.as_slice()]);
    }
}

/// The tiny model with one file changed.
fn open_with(file: &str, change: impl Fn(String) -> String) -> FolderError {
    let folder = tempfile::tempdir().expect("a folder for the test");
    for entry in std::fs::read_dir(TINY).expect("the fixture is committed") {
        let entry = entry.expect("a file");
        std::fs::copy(entry.path(), folder.path().join(entry.file_name())).expect("a copy");
    }
    let path = folder.path().join(file);
    let content = std::fs::read(&path).unwrap_or_default();
    let content = change(String::from_utf8_lossy(&content).into_owned());
    std::fs::create_dir_all(path.parent().expect("it lies in the folder")).expect("a folder");
    std::fs::write(&path, content).expect("the file can be written");
    FolderModel::open(folder.path()).expect_err("it cannot be used")
}

#[track_caller]
fn refused(file: &str, change: impl Fn(String) -> String, why: &str) {
    let error = open_with(file, change).to_string();
    assert!(error.contains(file) && error.contains(why), "{error}");
}

#[test]
fn a_tiny_model_gives_the_vectors_of_another_implementation() {
    check(TINY.as_ref(), &references(&format!("{TINY}/vectors.json")));
}

/// Needs the 90 MB of all-MiniLM-L6-v2.
#[test]
fn all_minilm_gives_the_vectors_of_another_implementation() {
    let Some(folder) = std::env::var_os("DAYBOOK_TEST_MINILM") else {
        return;
    };
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/fixtures/minilm-vectors.json"
    );
    check(folder.as_ref(), &references(path));
}

#[test]
fn a_text_without_words_has_the_zero_vector() {
    let model = FolderModel::open(TINY.as_ref()).expect("the folder is sound");
    let vectors = model.embed(&["", "a dog", " \n"]);
    assert_eq!(vectors[0], vec![0.0; 12]);
    assert_eq!(vectors[2], vec![0.0; 12]);
    assert_eq!(vectors[1], model.embed(&["a dog"])[0]);
    assert!(model.embed(&[]).is_empty());
}

#[tokio::test]
async fn an_embedder_gives_the_same_vectors_in_order() {
    let model = FolderModel::open(TINY.as_ref()).expect("the folder is sound");
    let many: Vec<String> = (0..200)
        .map(|n| format!("a dog {}", "we ".repeat(n % 9)))
        .collect();
    let texts: Vec<&str> = many.iter().map(String::as_str).collect();
    let embedder: &dyn Embedder = &model;
    assert_eq!(embedder.embed(&texts).await, Ok(model.embed(&texts)));
    assert!(!embedder.is_instant());
}

#[test]
fn the_id_names_shape_and_content() {
    let id = |folder: &Path| FolderModel::open(folder).expect("sound").id().to_owned();
    let first = id(TINY.as_ref());
    assert!(
        first.starts_with("bert-2x12-") && first.len() == 26,
        "{first}"
    );
    assert_eq!(first, id(TINY.as_ref()));
}

#[test]
fn what_cannot_be_run_is_refused_by_file_and_reason() {
    let replaced =
        |from: &'static str, to: &'static str| move |text: String| text.replace(from, to);
    refused("config.json", |_| "{".to_owned(), "EOF");
    refused(
        "config.json",
        replaced("\"gelu\"", "\"relu\""),
        "hidden_act is relu",
    );
    refused(
        "config.json",
        replaced("\"bert\"", "\"gpt2\""),
        "model_type is gpt2",
    );
    refused(
        "config.json",
        replaced("heads\": 3", "heads\": 5"),
        "no multiple",
    );
    refused(
        "config.json",
        replaced("layers\": 2", "layers\": 0x"),
        "expected",
    );
    refused("vocab.txt", replaced("[SEP]", "sep"), "no token [SEP]");
    let longer = open_with("vocab.txt", |text| {
        text + "more
"
    })
    .to_string();
    assert!(longer.contains("the vocabulary has"), "{longer}");
    refused("model.safetensors", |_| "weights".to_owned(), "damaged");
    let pooling = |_| r#"{"pooling_mode_mean_tokens": false}"#.to_owned();
    refused("1_Pooling/config.json", pooling, "not the mean");
    let cased = |_| r#"{"normalizer": {"lowercase": false}}"#.to_owned();
    refused("tokenizer.json", cased, "capital letters");
}

#[test]
fn tensors_that_do_not_fit_are_named() {
    let deeper = |text: String| text.replace("layers\": 2", "layers\": 3");
    let error = open_with("config.json", deeper).to_string();
    let tensor = "no tensor encoder.layer.2.attention.self.query.weight";
    assert!(error.contains(tensor), "{error}");
    let wider = |text: String| text.replace("size\": 20", "size\": 21");
    let error = open_with("config.json", wider).to_string();
    assert!(
        error.contains("[20, 12], and config.json asks for [21, 12]"),
        "{error}"
    );
}
