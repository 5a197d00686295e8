"""The student: one row per token of the vocabulary; a text's vector is the sum of its rows.

The rows are fitted so that the sums, normalised, point where the teacher's vectors point.
"""
import warnings
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F

# The invariants of sparse tensors hold by construction in `add_drift`.
warnings.filterwarnings("ignore", message="Sparse invariant checks")


@dataclass
class Settings:
    """What was found to measure best; see README.md."""
    dimensions: int = 256
    seed: int = 1
    passes: int = 4
    batch: int = 512
    rate: float = 2e-3
    last_rate: float = 1e-4
    # Weight of the difference between the cosines of two texts, squared.
    pairs: float = 5.0
    # Weight of a row's squared distance from its start. It holds rare tokens, which would otherwise
    # learn the few texts that they occur in.
    drift: float = 2e-4
    # Weight a/(a + p) of a token of frequency p at the start.
    frequency: float = 1e-3
    # How many contexts a token's mean output counts against its output alone.
    alone: float = 5.0
    # Share of the batches that hold texts of one cluster, which are hard to tell apart.
    near: float = 0.5
    clusters: int = 400


class Texts:
    """Token ids of many texts, one after the other, and the teacher's vectors."""

    def __init__(self, flat, offsets, vectors):
        self.flat = torch.from_numpy(flat.astype(np.int64))
        self.offsets = torch.from_numpy(offsets.astype(np.int64))
        self.vectors = vectors
        self.trained = np.flatnonzero(np.diff(offsets))

    def batch(self, chosen):
        """Flat ids and starts of the chosen texts."""
        first, end = self.offsets[chosen], self.offsets[chosen + 1]
        lengths = end - first
        starts = torch.cumsum(lengths, 0) - lengths
        at = torch.arange(int(lengths.sum())) - torch.repeat_interleave(starts, lengths)
        return self.flat[at + torch.repeat_interleave(first, lengths)], starts


def projection(vectors, dimensions, sample=60_000):
    """The directions of most energy, without centring: columns of an orthogonal matrix."""
    some = vectors[:: max(1, len(vectors) // sample)].astype(np.float64)
    values, directions = np.linalg.eigh(some.T @ some)
    return directions[:, np.argsort(-values)[:dimensions]].astype(np.float32)


def start(alone, sums, counts, matrix, settings):
    """The rows before training: the mean output of each token over all contexts, with the
    output for the token alone counted `settings.alone` times, times a weight by frequency."""
    mean = (sums + settings.alone * alone) / (counts + settings.alone)[:, None]
    share = (counts + .5) / counts.sum()
    weight = settings.frequency / (settings.frequency + share)
    rows = F.normalize(torch.from_numpy(mean @ matrix), dim=1).numpy()
    return (rows * weight[:, None]).astype(np.float32)


def clusters(vectors, settings, sample=60_000, rounds=6):
    """The cluster of each text: k-means on the sphere, fitted to a sample."""
    draw = np.random.default_rng(settings.seed)
    vectors = vectors.astype(np.float32)
    centres = vectors[draw.choice(len(vectors), settings.clusters, replace=False)]
    some = vectors[draw.choice(len(vectors), min(sample, len(vectors)), replace=False)]
    for _ in range(rounds):
        nearest = (some @ centres.T).argmax(1)
        for n in range(settings.clusters):
            mean = some[nearest == n].sum(0)
            centres[n] = mean / max(np.linalg.norm(mean), 1e-9)
    return np.concatenate([(part @ centres.T).argmax(1)
                           for part in np.array_split(vectors, 1 + len(vectors) // 20_000)])


def batches(texts, cluster, settings, draw):
    """The batches of one pass in a random order."""
    chosen = draw.permutation(texts.trained)
    cut = int(len(chosen) * (1 - settings.near))
    far, near = chosen[:cut], chosen[cut:]
    near = near[np.argsort(cluster[near], kind="stable")]
    found = [part[i:i + settings.batch] for part in (far, near)
             for i in range(0, len(part), settings.batch)]
    return [found[i] for i in draw.permutation(len(found))]


def train(rows, texts, settings, report=print):
    """Fits the rows; returns them as a matrix."""
    torch.manual_seed(settings.seed)
    draw = np.random.default_rng(settings.seed)
    table = torch.nn.EmbeddingBag.from_pretrained(
        torch.from_numpy(rows.copy()), freeze=False, mode="sum", sparse=True)
    first = torch.from_numpy(rows)
    optimizer = torch.optim.SparseAdam(table.parameters(), lr=settings.rate)
    cluster = clusters(texts.vectors, settings)
    total, step = settings.passes * len(texts.trained) / settings.batch, 0
    for number in range(settings.passes):
        seen = []
        for chosen in batches(texts, cluster, settings, draw):
            share = min(1, step / total)
            for group in optimizer.param_groups:
                group["lr"] = settings.rate + share * (settings.last_rate - settings.rate)
            flat, starts = texts.batch(torch.from_numpy(chosen))
            goal = F.normalize(torch.from_numpy(texts.vectors[chosen].astype(np.float32)), dim=1)
            mine = F.normalize(table(flat, starts), dim=1)
            cosine = (mine * goal).sum(1).mean()
            pairs = ((mine @ mine.T - goal @ goal.T) ** 2).mean()
            loss = 1 - cosine + settings.pairs * pairs
            optimizer.zero_grad()
            loss.backward()
            add_drift(table.weight, first, settings.drift)
            optimizer.step()
            step += 1
            seen.append((cosine.item(), pairs.item()))
        mean = np.mean(seen, axis=0)
        report(f"pass {number + 1}: cosine {mean[0]:.4f}, pairs {mean[1]:.5f}")
    return table.weight.detach().numpy()


def add_drift(weight, first, drift):
    """Adds the gradient of the distance from the start to that of the rows of this batch."""
    gradient = weight.grad.coalesce()
    rows = gradient.indices()[0]
    values = gradient.values() + 2 * drift * (weight.detach()[rows] - first[rows])
    weight.grad = torch.sparse_coo_tensor(gradient.indices(), values, gradient.shape,
                                          is_coalesced=True)
