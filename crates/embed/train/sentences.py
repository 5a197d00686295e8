"""Sentence vectors of a BERT folder by torch, in double precision: what tests compare with.

    python sentences.py FOLDER OUT       vectors of TEXTS by the model in FOLDER
    python sentences.py --tiny FOLDER    writes a tiny random model to FOLDER first, and its vectors beside it

All texts run as one padded batch with a mask, other than in the crate.
"""
import json
import sys
from pathlib import Path

import torch
import torch.nn.functional as F
from safetensors.torch import load_file, save_file

LONGEST = 256
TEXTS = [
    "Ada adopted a small dog.",
    "The invoice was paid in March; nobody asked why.",
    "A \u2603 stands in the caf\u00e9, doesn't it? " * 3,
    "We walk in the evening and read a book " * 60,
]
CONFIG = {
    "model_type": "bert", "hidden_act": "gelu", "hidden_size": 12, "intermediate_size": 20,
    "num_attention_heads": 3, "num_hidden_layers": 2, "max_position_embeddings": 24,
    "type_vocab_size": 2, "vocab_size": 0, "layer_norm_eps": 1e-12,
}
WORDS = "[PAD] [UNK] [CLS] [SEP] [MASK] a ada ##ed ##opt ##ing the dog small in cafe it book read " \
    "walk we even ##e ##v ##n i m w p ##o ##ice ##a ##s ##id march . ; , ' ? t doesn and".split()


def split(text, vocabulary):
    """Tokens of a text in which only letters and ASCII marks matter."""
    import unicodedata
    plain = "".join(c for c in unicodedata.normalize("NFD", text.lower()) if not unicodedata.combining(c))
    spaced = "".join(c if c.isalnum() or ord(c) > 127 else f" {c} " for c in plain)
    for word in spaced.split():
        pieces, rest = [], word
        while rest:
            prefix = "##" if pieces else ""
            ends = [n for n in range(len(rest), 0, -1) if prefix + rest[:n] in vocabulary]
            if not ends:
                pieces = ["[UNK]"]
                break
            pieces.append(prefix + rest[:ends[0]])
            rest = rest[ends[0]:]
        yield from (vocabulary[piece] for piece in pieces)


def vectors(folder, texts):
    config = json.loads((folder / "config.json").read_text())
    names = (folder / "vocab.txt").read_text(encoding="utf-8").splitlines()
    vocabulary = {name: n for n, name in enumerate(names)}
    weights = {name: w.double() for name, w in load_file(folder / "model.safetensors").items()}
    longest = min(LONGEST, config["max_position_embeddings"])
    ids = [[vocabulary["[CLS]"], *list(split(t, vocabulary))[:longest - 2], vocabulary["[SEP]"]]
           for t in texts]
    width = max(map(len, ids))
    tokens = torch.tensor([row + [0] * (width - len(row)) for row in ids])
    mask = torch.tensor([[1] * len(row) + [0] * (width - len(row)) for row in ids]).bool()
    hidden = forward(config, weights, tokens, mask)
    inside = mask[:, :, None].double()
    return F.normalize((hidden * inside).sum(1) / inside.sum(1), dim=1)


def forward(config, w, tokens, mask):
    heads = config["num_attention_heads"]
    norm = lambda x, name: F.layer_norm(x, x.shape[-1:], w[name + ".weight"], w[name + ".bias"],
                                        config["layer_norm_eps"])
    linear = lambda x, name: F.linear(x, w[name + ".weight"], w[name + ".bias"])
    e = "embeddings."
    x = w[e + "word_embeddings.weight"][tokens] + w[e + "token_type_embeddings.weight"][0]
    x = norm(x + w[e + "position_embeddings.weight"][:tokens.shape[1]], e + "LayerNorm")
    batch, length, width = x.shape
    for n in range(config["num_hidden_layers"]):
        layer = f"encoder.layer.{n}."
        q, k, v = (linear(x, f"{layer}attention.self.{part}")
                   .view(batch, length, heads, width // heads).transpose(1, 2)
                   for part in ("query", "key", "value"))
        scores = q @ k.transpose(2, 3) / (width // heads) ** 0.5
        scores = scores.masked_fill(~mask[:, None, None, :], float("-inf"))
        seen = (scores.softmax(-1) @ v).transpose(1, 2).reshape(batch, length, width)
        x = norm(x + linear(seen, layer + "attention.output.dense"), layer + "attention.output.LayerNorm")
        inner = F.gelu(linear(x, layer + "intermediate.dense"))
        x = norm(x + linear(inner, layer + "output.dense"), layer + "output.LayerNorm")
    return x


def tiny(folder):
    """A random model with the names and shapes of BERT."""
    folder.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(1815)
    config = CONFIG | {"vocab_size": len(WORDS)}
    width, inner = config["hidden_size"], config["intermediate_size"]
    weights = {}

    def linear(name, outputs, inputs):
        weights[name + ".weight"] = torch.randn(outputs, inputs) / inputs ** 0.5
        weights[name + ".bias"] = torch.randn(outputs) / 4

    def norm(name):
        weights[name + ".weight"] = 1 + torch.randn(width) / 4
        weights[name + ".bias"] = torch.randn(width) / 4

    for name, rows in [("word", len(WORDS)), ("position", config["max_position_embeddings"]),
                       ("token_type", config["type_vocab_size"])]:
        weights[f"embeddings.{name}_embeddings.weight"] = torch.randn(rows, width)
    norm("embeddings.LayerNorm")
    for n in range(config["num_hidden_layers"]):
        layer = f"encoder.layer.{n}."
        for part in ("query", "key", "value"):
            linear(f"{layer}attention.self.{part}", width, width)
        linear(layer + "attention.output.dense", width, width)
        norm(layer + "attention.output.LayerNorm")
        linear(layer + "intermediate.dense", inner, width)
        linear(layer + "output.dense", width, inner)
        norm(layer + "output.LayerNorm")
    save_file(weights, folder / "model.safetensors")
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n")
    (folder / "vocab.txt").write_text("\n".join(WORDS) + "\n")


def main():
    if sys.argv[1] == "--tiny":
        folder = Path(sys.argv[2])
        tiny(folder)
        out = folder / "vectors.json"
    else:
        folder, out = Path(sys.argv[1]), Path(sys.argv[2])
    rows = [{"text": text, "vector": [round(x, 6) for x in vector.tolist()]}
            for text, vector in zip(TEXTS, vectors(folder, TEXTS))]
    out.write_text("[\n" + ",\n".join(map(json.dumps, rows)) + "\n]\n")


if __name__ == "__main__":
    main()
