"""Blocks of every quantised format and their values, as the gguf package dequantises them.

Writes quant_blocks.npy (uint8, all formats one after another, in the order of FORMATS, BLOCKS blocks
each) and quant_values.npy (float32, likewise). Made with gguf 0.19.0, numpy 2.4.6.
Run: python make_quant_goldens.py
"""

import pathlib

import numpy as np
from gguf import GGML_QUANT_SIZES, GGMLQuantizationType
from gguf.quants import dequantize

FORMATS = ["Q8_0", "Q4_0", "Q4_1", "Q5_0", "Q4_K", "Q6_K"]
BLOCKS = 3
# Bytes of a block that are f16 numbers, which random bytes would make NaN.
SCALES = {"Q8_0": [0], "Q4_0": [0], "Q4_1": [0, 2], "Q5_0": [0], "Q4_K": [0, 2], "Q6_K": [208]}


def main():
    rng = np.random.default_rng(20240607)
    blocks, values = [], []
    for name in FORMATS:
        kind = GGMLQuantizationType[name]
        block = rng.integers(0, 256, (BLOCKS, GGML_QUANT_SIZES[kind][1]), dtype=np.uint8)
        for at in SCALES[name]:
            scale = rng.normal(0, 0.1, (BLOCKS, 1)).astype(np.float16)
            block[:, at : at + 2] = scale.view(np.uint8)
        blocks.append(block.reshape(-1))
        values.append(dequantize(block, kind).astype(np.float32).reshape(-1))
    folder = pathlib.Path(__file__).parent
    np.save(folder / "quant_blocks.npy", np.concatenate(blocks))
    np.save(folder / "quant_values.npy", np.concatenate(values))


if __name__ == "__main__":
    main()
