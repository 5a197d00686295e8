"""Writes the model file that `src/file.rs` reads; the layout is described there."""
import struct

import numpy as np
from blake3 import blake3

VERSION = 1
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


def fnv(data):
    """FNV-1a with 32 bits."""
    value = 0x811C9DC5
    for byte in data:
        value = ((value ^ byte) * 0x01000193) & 0xFFFFFFFF
    return value


def is_used(name):
    """Whether the tokenizer can give this token for a text."""
    return name not in SPECIAL and not name.startswith("[unused")


def quantised(rows):
    """Rows as signed bytes, and the scale of each."""
    scales = (np.abs(rows).max(1) / 127).astype(np.float32)
    whole = np.round(rows / np.maximum(scales, 1e-30)[:, None])
    return whole.clip(-127, 127).astype(np.int8), scales


def slots_of(names):
    """Open addressing: a row plus one where the hash of its name leads, or the next free slot."""
    count = 1 << (2 * len(names) - 1).bit_length()
    slots = np.zeros(count, "<u2")
    for row, name in enumerate(names):
        value = fnv(name)
        at = (value ^ (value >> 16)) & (count - 1)
        while slots[at]:
            at = (at + 1) & (count - 1)
        slots[at] = row + 1
    return slots


def pack(vocabulary, rows):
    """The bytes of a model file."""
    kept = [i for i, name in enumerate(vocabulary) if is_used(name)]
    names = [vocabulary[i].encode() for i in kept]
    whole, scales = quantised(rows[kept])
    ends = np.cumsum([len(name) for name in names]).astype("<u4")
    slots = slots_of(names)
    body = b"".join((slots.tobytes(), ends.tobytes(), b"".join(names),
                     scales.astype("<f4").tobytes(), whole.tobytes()))
    head = struct.pack("<8s6I", b"DBSTATIC", VERSION, rows.shape[1], len(names), len(slots),
                       sum(map(len, names)), max(map(len, names)))
    return head + blake3(body).digest()[:16] + body
