"""Writes small models with random weights, and broken files, for the tests of the command line.

    python3 make_models.py FOLDER

FOLDER/llama generates, FOLDER/bert embeds; both with the tokenizers of tests/golden. Needs nothing but
the standard library.
"""

import array
import json
import pathlib
import random
import struct
import sys

GOLDEN = pathlib.Path(__file__).resolve().parent.parent / "golden"
CHAT_TEMPLATE = (
    "{% for m in messages %}{{ '<|im_start|>' + m['role'] + ' ' + m['content'] + '\\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant ' }}{% endif %}"
)


def write_safetensors(path, tensors):
    """`tensors`: name -> (shape, scale, offset); elements are offset + scale * gauss."""
    source = random.Random(1)
    header, data = {}, bytearray()
    for name, (shape, scale, offset) in tensors.items():
        count = 1
        for size in shape:
            count *= size
        values = array.array("f", (offset + scale * source.gauss(0, 1) for _ in range(count)))
        begin = len(data)
        data += values.tobytes()
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [begin, len(data)]}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def make_model(folder, golden, tokenizer, embedding, **config):
    """A model of the architecture of tests/golden/tiny/`golden` with a vocabulary for `tokenizer`."""
    folder.mkdir(parents=True)
    words = json.loads((GOLDEN / ("tokenizers_%s.json" % tokenizer)).read_text())
    size = 1 + max([*words["model"]["vocab"].values(), *(t["id"] for t in words["added_tokens"])])
    own = json.loads((GOLDEN / "tiny" / golden / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**own, "vocab_size": size, **config}))
    (folder / "tokenizer.json").write_text(json.dumps(words))
    tensors = json.loads((GOLDEN / "tiny" / golden / "golden.json").read_text())["tensors"]
    tensors[embedding][0][0] = size
    write_safetensors(folder / "model.safetensors", tensors)


def break_files(root):
    """Files that must be refused."""
    (root / "empty.gguf").write_bytes(b"")
    (root / "garbage.gguf").write_bytes(bytes(range(256)) * 8)
    counts = struct.pack("<4sIQQ", b"GGUF", 3, 2**62, 2**62)
    (root / "hostile.gguf").write_bytes(counts)
    config = json.loads((root / "llama/config.json").read_text())
    unknown = json.dumps({**config, "model_type": "mamba", "architectures": ["MambaForCausalLM"]})
    for name, text in (("bad_config", "{"), ("unknown", unknown)):
        (root / name).mkdir()
        (root / name / "config.json").write_text(text)
        (root / name / "model.safetensors").write_bytes((root / "llama/model.safetensors").read_bytes())
    cut = root / "cut"
    cut.mkdir()
    for file in (root / "llama").iterdir():
        content = file.read_bytes()
        (cut / file.name).write_bytes(content[:-1000] if file.suffix == ".safetensors" else content)
    (root / "no_tokenizer").mkdir()
    for name in ("config.json", "model.safetensors"):
        (root / "no_tokenizer" / name).write_bytes((root / "llama" / name).read_bytes())


def make(root):
    """All of it."""
    make_model(
        root / "llama", "llama_tied", "bytelevel", "model.embed_tokens.weight", eos_token_id=1
    )
    config = {"chat_template": CHAT_TEMPLATE, "bos_token": "<s>", "eos_token": "</s>"}
    (root / "llama" / "tokenizer_config.json").write_text(json.dumps(config))
    make_model(root / "bert", "bert", "wordpiece", "embeddings.word_embeddings.weight")
    prompts = {"prompts": {"query": "query: ", "document": "passage: "}}
    (root / "bert" / "config_sentence_transformers.json").write_text(json.dumps(prompts))
    break_files(root)
    write_ids(root / "ids.npy", [5, 6, 7, 8], [4])
    write_ids(root / "batch.npy", [5, 6, 7, 8], [2, 2])
    write_ids(root / "bad_ids.npy", [5, -1], [2])


def write_ids(path, values, shape):
    """An i64 .npy file."""
    header = "{'descr': '<i8', 'fortran_order': False, 'shape': (%s,), }" % ", ".join(map(str, shape))
    header += " " * (-(len(header) + 11) % 64) + "\n"
    start = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode()
    path.write_bytes(start + struct.pack("<%dq" % len(values), *values))


if __name__ == "__main__":
    make(pathlib.Path(sys.argv[1]))
