use super::*;

fn dot(left: &[f32], right: &[f32]) -> f32 {
    left.iter().zip(right).map(|(a, b)| a * b).sum()
}

fn likeness(left: &str, right: &str) -> f32 {
    let model = StaticModel::built_in();
    dot(&model.embed(left), &model.embed(right))
}

fn is_nearer(question: &str, near: &str, far: &str) {
    let (near_by, far_by) = (likeness(question, near), likeness(question, far));
    assert!(
        near_by > far_by,
        "{question:?}: {near:?} {near_by}, {far:?} {far_by}"
    );
}

/// A file with the rows `a` = (127, 0) and `##b` = (0, 127), scale 1.
fn tiny() -> Vec<u8> {
    let hash = |name: &[u8]| {
        let step = |hash: u32, byte: &u8| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193);
        let hash = name.iter().fold(0x811C_9DC5, step);
        (hash ^ (hash >> 16)) as usize % 4
    };
    let mut slots = [0_u16; 4];
    for (row, name) in [&b"a"[..], b"##b"].into_iter().enumerate() {
        let mut slot = hash(name);
        while slots[slot] != 0 {
            slot = (slot + 1) % 4;
        }
        slots[slot] = row as u16 + 1;
    }
    let mut bytes = b"DBSTATIC".to_vec();
    let header = [1_u32, 2, 2, 4, 4, 3];
    bytes.extend(header.iter().flat_map(|n| n.to_le_bytes()));
    bytes.extend([7; 16]);
    bytes.extend(slots.iter().flat_map(|n| n.to_le_bytes()));
    bytes.extend([1_u32, 4].iter().flat_map(|n| n.to_le_bytes()));
    bytes.extend(b"a##b");
    bytes.extend([1_f32, 1.0].iter().flat_map(|n| n.to_le_bytes()));
    bytes.extend([127, 0, 0, 127]);
    bytes
}

fn open(bytes: Vec<u8>) -> Result<StaticModel, ModelFileError> {
    StaticModel::from_bytes("tiny", bytes.leak())
}

#[test]
fn related_texts_are_nearer_than_unrelated_ones() {
    is_nearer(
        "Which pet does Ada have?",
        "My puppy chewed the sofa again.",
        "The budget for March is ready.",
    );
    is_nearer(
        "Where did Ben travel?",
        "We flew to Lisbon for a holiday.",
        "I repaired the kitchen sink.",
    );
    is_nearer("physician", "doctor", "guitar");
}

#[test]
fn a_vector_has_length_one_and_an_empty_text_the_zero_vector() {
    let model = StaticModel::built_in();
    let vector = model.embed("A quiet evening with a book.");
    assert!((dot(&vector, &vector) - 1.0).abs() < 1e-5);
    for text in ["", "  \n", "\u{200b}", "\u{2603}"] {
        assert!(model.embed(text).iter().all(|x| *x == 0.0), "{text:?}");
        assert_eq!(model.word(text), None, "{text:?}");
    }
}

#[test]
fn a_text_is_the_normalised_sum_of_its_tokens() {
    let model = open(tiny()).expect("the file is sound");
    assert_eq!(model.embed("a"), [1.0, 0.0]);
    assert_eq!(model.embed("Ab"), [127.0 / 32_258_f32.sqrt(); 2]);
    assert_eq!(model.embed("a b ab c"), model.embed_parts(&["a", "ab"]));
    assert_eq!(model.id(), "tiny-0707070707070707");
}

#[test]
fn the_built_in_models_id_names_its_bytes() {
    let bytes = include_bytes!("../model/daybook-static-1.bin");
    let hash = blake3::hash(&bytes[48..]).to_hex();
    assert_eq!(
        StaticModel::built_in().id(),
        format!("daybook-static-1-{}", &hash[..16])
    );
}

#[test]
fn what_is_no_model_file_is_refused() {
    assert_eq!(open(b"PK".to_vec()).err(), Some(ModelFileError::NotAModel));
    let with = |at: usize, value: u8| {
        let mut bytes = tiny();
        bytes[at] = value;
        open(bytes).err()
    };
    assert_eq!(with(8, 9), Some(ModelFileError::OtherVersion(9)));
    assert_eq!(
        with(12, 3),
        Some(ModelFileError::WrongLength {
            len: 80,
            wanted: 82
        })
    );
    assert_eq!(with(20, 3), Some(ModelFileError::Corrupt("slots")));
    assert_eq!(with(28, 65), Some(ModelFileError::Corrupt("longest name")));
    assert_eq!(
        with(13, 255),
        Some(ModelFileError::Corrupt("rows or dimensions"))
    );
    assert_eq!(with(48, 3), Some(ModelFileError::Corrupt("slots")));
    assert_eq!(with(56, 5), Some(ModelFileError::Corrupt("names")));
    let mut full = tiny();
    full[48..56].fill(1);
    assert_eq!(open(full).err(), Some(ModelFileError::Corrupt("slots")));
    let mut short = tiny();
    short.truncate(79);
    assert_eq!(
        open(short).err(),
        Some(ModelFileError::WrongLength {
            len: 79,
            wanted: 80
        })
    );
}
