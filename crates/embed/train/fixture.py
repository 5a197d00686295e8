"""Writes the tokens of tests/fixtures/tokens.json anew, by the teacher's own tokenizer.

    python fixture.py WHEEL

The texts are ours: to add one, add an entry without tokens.
"""
import json
import sys
from pathlib import Path

from teacher import Teacher


def main():
    tokenizer = Teacher(sys.argv[1]).tokenizer
    path = Path(__file__).parent.parent / "tests/fixtures/tokens.json"
    texts = [row["text"] for row in json.loads(path.read_text(encoding="utf-8"))]
    rows = [{"text": t, "tokens": tokenizer.encode(t, add_special_tokens=False).tokens}
            for t in texts]
    lines = ",\n".join(json.dumps(row, ensure_ascii=True) for row in rows)
    path.write_text(f"[\n{lines}\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main()
