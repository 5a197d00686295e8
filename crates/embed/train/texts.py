"""The texts that the student is trained on, by source. Licences: `texts.md`.

Each source yields distinct texts in a fixed order, at most `limit` of them, drawn by a generator
with a fixed seed. Nothing of a text is kept but what the model learns from it.
"""
import json
import random
import re
import subprocess
import zipfile
from pathlib import Path

WORDNET = Path("/usr/share/wordnet")
SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z\"'(])|\n+")
# What people paste: neither prose nor speech.
NOT_PROSE = re.compile(r"```|[{}<>|]|\s{3,}|https?://|[\\/]\S+[\\/]|^\s*[-*#$>]|\b[A-Z_]{12,}\b")


def sentences(text):
    """The sentences of a text that read like prose."""
    for sentence in SENTENCE_END.split(text):
        sentence = " ".join(sentence.replace("`", "").replace("**", "").split())
        if 3 <= len(sentence.split()) <= 60 and not NOT_PROSE.search(sentence):
            yield sentence


def passages(found, draw):
    """Each sentence alone, and runs of two to five neighbours."""
    found = list(found)
    yield from found
    at = 0
    while at + 1 < len(found):
        size = draw.randint(2, 5)
        yield " ".join(found[at:at + size])
        at += size


def chitchat(wheel, draw):
    """Turns, windows of two to four turns, and prompts of people's conversations."""
    with zipfile.ZipFile(wheel) as archive:
        conversations = json.loads(archive.read("chitchat_dataset/dataset.json"))
    for key in sorted(conversations):
        conversation = conversations[key]
        turns = [" ".join(m["text"].strip() for m in turn) for turn in conversation["messages"]]
        turns = [t for t in turns if 2 <= len(t.split()) <= 150]
        yield from (t for t in turns if len(t.split()) >= 4)
        at = 0
        while at + 1 < len(turns):
            size = draw.randint(2, 4)
            yield " ".join(turns[at:at + size])
            at += size
        yield conversation.get("prompt") or ""


def wordnet(_, draw):
    """Example sentences, and each synonym with its gloss, of all senses."""
    for part in ("noun", "verb", "adj", "adv"):
        for line in (WORDNET / f"data.{part}").read_text(encoding="utf-8").splitlines():
            if line.startswith("  "):
                continue
            head, _, tail = line.partition(" | ")
            fields = head.split()
            names = [fields[4 + 2 * i].split("(")[0].replace("_", " ")
                     for i in range(int(fields[3], 16))]
            gloss = tail.split('; "')[0].strip()
            yield from (e for e in re.findall(r'"([^"]{8,})"', tail))
            yield f"{draw.choice(names)}: {gloss}"
            yield " ".join(names[:3])


def debian(_, draw):
    """Synopses and sentences of the descriptions of Debian's packages."""
    text = subprocess.run(["apt-cache", "dumpavail"], capture_output=True, check=True).stdout
    for record in text.decode("utf-8", "replace").split("\n\n"):
        match = re.search(r"^Description(?:-en)?: (.*(?:\n .*)*)", record, re.M)
        if match and not re.search(r"^Package: .*(-dbgsym|-dev|-l10n\S*|^lib\S*\d)$", record, re.M):
            synopsis, _, body = match[1].partition("\n")
            yield synopsis
            paragraphs = re.sub(r"\n \.\n", "\n\n", body).split("\n\n")
            for paragraph in paragraphs:
                yield from passages(sentences(" ".join(paragraph.split())), draw)


def transcripts(folder, draw):
    """What people and assistants wrote in the transcripts below `folder`."""
    for path in sorted(Path(folder).rglob("*.jsonl")):
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
            for text in prose(line):
                yield from passages(sentences(text), draw)


def prose(line):
    """The text blocks of one transcript line by a person or an assistant."""
    try:
        event = json.loads(line)
    except ValueError:
        return
    event = event if isinstance(event, dict) else {}
    if event.get("isMeta") or event.get("type") not in ("user", "assistant"):
        return
    content = (event.get("message") or {}).get("content") or []
    for block in [{"type": "text", "text": content}] if isinstance(content, str) else content:
        if isinstance(block, dict) and block.get("type") in ("text", "thinking"):
            text = block.get("text") or block.get("thinking") or ""
            if not text.startswith("<"):
                yield text


# Source, its generator, and at most how many of its texts.
SOURCES = {
    "chitchat": (chitchat, 130_000),
    "wordnet": (wordnet, 90_000),
    "debian": (debian, 40_000),
    "transcripts": (transcripts, 40_000),
}


def collect(name, place, seed):
    """The texts of one source; `place` is its wheel or folder."""
    generator, limit = SOURCES[name]
    draw = random.Random(f"{seed} {name}")
    found = list(dict.fromkeys(t for t in generator(place, draw) if t and len(t) <= 1500))
    if len(found) > limit:
        found = draw.sample(found, limit)
    return found
