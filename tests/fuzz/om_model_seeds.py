#!/usr/bin/env python3
"""Writes the seeds of om_model_fuzz: tests/fuzz/om_model/*, compiled from the smallest models.

    python3 tests/fuzz/om_model_seeds.py build/release/tboost

Run it after a change of the .om file or of the operators and commit what it writes.
"""

import json
import pathlib
import struct
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).parent
GOLDEN = ROOT.parent / "golden" / "tiny"
SIZES = {
    "vocab_size": 6,
    "hidden_size": 16,
    "intermediate_size": 16,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "num_key_value_heads": 1,
    "head_dim": 8,
    "max_position_embeddings": 8,
    "layer_types": ["sliding_attention"],
}


def shrink(name, shape, config):
    """The shape of a tensor when the sizes of its model are SIZES."""
    small = {config[key]: SIZES[key] for key in ("max_position_embeddings", "intermediate_size")}
    small[config["hidden_size"]] = SIZES["hidden_size"]
    if any(part in name for part in ("embed_tokens", "word_embeddings")):
        return [SIZES["vocab_size"], SIZES["hidden_size"]]
    if any(part in name for part in ("k_proj", "v_proj")):
        return [8, 16][: len(shape)]
    if any(part in name for part in ("q_norm", "k_norm")):
        return [8]
    if any(part in name for part in ("q_proj", "o_proj")):
        return [16, 16][: len(shape)]
    return [small.get(size, size) for size in shape]


def write_model(name, folder):
    """A Hugging Face folder of the architecture of tests/golden/tiny/`name`, at SIZES."""
    config = json.loads((GOLDEN / name / "config.json").read_text())
    tensors = json.loads((GOLDEN / name / "golden.json").read_text())["tensors"]
    header, data = {}, b""
    first_layer = {t: e for t, e in tensors.items() if ".1." not in t and ".2." not in t}
    for tensor, (shape, _, offset) in first_layer.items():
        shape = shrink(tensor, shape, config)
        count = shape[0] * (shape[1] if len(shape) == 2 else 1)
        values = [offset + (i * 37 % 17 - 8) / 32 for i in range(count)]
        begin = len(data)
        data += struct.pack("<%df" % count, *values)
        header[tensor] = {"dtype": "F32", "shape": shape, "data_offsets": [begin, len(data)]}
    config.update({key: size for key, size in SIZES.items() if key in config})
    (folder / "config.json").write_text(json.dumps(config))
    text = json.dumps(header).encode()
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + data)


def main(program):
    (ROOT / "om_model").mkdir(exist_ok=True)
    for name in ("bert", "llama_tied", "qwen2", "gemma3"):
        with tempfile.TemporaryDirectory() as folder:
            write_model(name, pathlib.Path(folder))
            output = ROOT / "om_model" / name
            subprocess.run([program, "compile", folder, "-o", output], check=True)


if __name__ == "__main__":
    main(sys.argv[1])
