"""Writes the seeds of the fuzzers of src/text: python tests/fuzz/text_seeds.py, from the goldens."""

import json
import pathlib
import struct

HERE = pathlib.Path(__file__).parent
GOLDEN = HERE.parent / "golden"


def small(spec):
    """The tokenizer with a vocabulary cut to what a few merges need."""
    model = spec["model"]
    merges = model.get("merges", [])[:6]
    keep = {p for m in merges for p in (m[0], m[1], m[0] + m[1])}
    if isinstance(model["vocab"], list):
        model["vocab"] = model["vocab"][:20]
    else:
        names = [k for k in model["vocab"] if model["vocab"][k] < 12 or k in keep]
        names += [t["content"] for t in spec["added_tokens"] if t["content"] not in names and t["content"] in model["vocab"]]
        model["vocab"] = {k: model["vocab"][k] for k in names}
    if merges:
        model["merges"] = [m for m in merges if m[0] + m[1] in model["vocab"]]
    return spec


def blob():
    """A byte-fallback vocabulary of three pieces, as src/text/tokenizer/blob.h lays it out."""
    pieces = [b"a", b"b", b"ab"]
    offsets = [0]
    for p in pieces:
        offsets.append(offsets[-1] + len(p))
    pipeline = {"model": {"type": "BPE"}, "normalizer": {"type": "NFC"}, "pre_tokenizer": {"type": "WhitespaceSplit"},
                "decoder": {"type": "BPEDecoder"}, "before": [0], "special": {"eos": 1, "end": [1]}}
    parts = [json.dumps(pipeline).encode(), struct.pack("<4I", *offsets), b"".join(pieces), struct.pack("<8I", 1, 2, 3, *[0] * 5),
             bytes([1, 1, 1]), b"", struct.pack("<3I", 0, 1, 2), struct.pack("<4I", 1, 0, 0, 0), b"",
             struct.pack("<4I", 2, 1, 0, 6), b"", b"<mask>"]
    out, body = struct.pack("<II", 0x4B544254, 1), b""
    at = 8 + 16 * len(parts)
    for part in parts:
        out += struct.pack("<QQ", at + len(body), len(part))
        body += part + b"\0" * (-len(part) % 8)
    return out + body


def main():
    for path in GOLDEN.glob("tokenizers_*.json"):
        (HERE / "tokenizer_json" / path.stem[11:]).write_text(json.dumps(small(json.loads(path.read_text()))))
    (HERE / "tokenizer_blob" / "bpe").write_bytes(blob())
    for entry in json.loads((GOLDEN / "templates_golden.json").read_text())["templates"]:
        if entry["name"] != "gguf":
            (HERE / "chat_template" / entry["name"]).write_text(entry["template"], newline="")


if __name__ == "__main__":
    main()
