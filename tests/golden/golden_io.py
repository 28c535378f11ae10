"""Writes golden files: plain .npy arrays and JSON, beside this file."""

import importlib.metadata
import json
import pathlib

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
REPOSITORY = HERE.parent.parent


def versions(*packages):
    """What the goldens were computed with."""
    return {name: importlib.metadata.version(name) for name in packages}


def save_array(path, array):
    """A little-endian C-order .npy file: float32 for reals, int32 for whole numbers."""
    array = np.asarray(array)
    kind = np.float32 if array.dtype.kind == "f" else np.int32
    path = HERE / path
    path.parent.mkdir(parents=True, exist_ok=True)
    np.save(path, np.ascontiguousarray(array, kind), allow_pickle=False)
    print("wrote", path.relative_to(REPOSITORY), array.shape)


def save_json(path, value):
    """JSON in which lists of plain values, and short lists of any, keep to one line."""
    path = HERE / path
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(_layout(value) + "\n", encoding="utf-8")
    print("wrote", path.relative_to(REPOSITORY))


def _layout(value, indent=""):
    line = json.dumps(value, ensure_ascii=False)
    nested = isinstance(value, list) and any(isinstance(v, (dict, list)) for v in value)
    if not value or not (isinstance(value, dict) or nested and len(line) > 80):
        return line
    inner = indent + " "
    if isinstance(value, dict):
        items = [json.dumps(k) + ": " + _layout(v, inner) for k, v in value.items()]
    else:
        items = [_layout(v, inner) for v in value]
    return line[0] + "\n" + inner + (",\n" + inner).join(items) + "\n" + indent + line[-1]
