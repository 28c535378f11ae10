"""Writes a BERT encoder with random weights, the very same ones for us and for the peers.

usage: python build_encoder.py SHAPE FOLDER [--forms hf,onnx,ct2...]
SHAPE is minilm, bert-base or bert-large. Forms:
  hf    FOLDER itself as a Hugging Face model: config.json, model.safetensors, vocab.txt and
        tokenizer.json
  onnx  FOLDER/model.onnx, as an eager export writes it
  ct2   FOLDER/ct2, a CTranslate2 encoder
  fused       FOLDER/fused.onnx, the onnx file after onnxruntime's optimiser for BERT
  int8        FOLDER/model_int8.onnx, the onnx file after onnxruntime's dynamic quantisation
  fused_int8  FOLDER/fused_int8.onnx, both
A form that is there already is kept. Weights have a standard deviation of 0.02 as BERT's own
initialisation, LayerNorm gammas lie around 1, biases and betas are small but not zero.
"""

import argparse
import json
import pathlib

import numpy as np

# layers, hidden size, heads, feed-forward size
SHAPES = {
    "minilm": (6, 384, 12, 1536),
    "bert-base": (12, 768, 12, 3072),
    "bert-large": (24, 1024, 16, 4096),
}
VOCABULARY = 30522
POSITIONS = 512
EPSILON = 1e-12
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def linear_shapes(hidden, ffn):
    """(output, input) of the products of one layer, in the order of Hugging Face."""
    return {
        "attention.self.query": (hidden, hidden),
        "attention.self.key": (hidden, hidden),
        "attention.self.value": (hidden, hidden),
        "attention.output.dense": (hidden, hidden),
        "intermediate.dense": (ffn, hidden),
        "output.dense": (hidden, ffn),
    }


def make_weights(shape):
    """All float32 weights under their Hugging Face names; the same on every machine."""
    layers, hidden, _, ffn = SHAPES[shape]
    random = np.random.default_rng(0)
    weights = {}

    def draw(name, dims, mean=0.0, deviation=0.02):
        noise = random.standard_normal(dims, dtype=np.float32)
        weights[name] = noise * np.float32(deviation) + np.float32(mean)

    def norm(name):
        draw(name + ".weight", (hidden,), mean=1.0, deviation=0.05)
        draw(name + ".bias", (hidden,))

    for table, rows in (("word", VOCABULARY), ("position", POSITIONS), ("token_type", 2)):
        draw("embeddings.%s_embeddings.weight" % table, (rows, hidden))
    norm("embeddings.LayerNorm")
    for layer in range(layers):
        prefix = "encoder.layer.%d." % layer
        for name, dims in linear_shapes(hidden, ffn).items():
            draw(prefix + name + ".weight", dims)
            draw(prefix + name + ".bias", dims[:1])
        norm(prefix + "attention.output.LayerNorm")
        norm(prefix + "output.LayerNorm")
    return weights


def vocabulary():
    """The special tokens, then a word for every further id."""
    return SPECIAL + ["w%d" % i for i in range(len(SPECIAL), VOCABULARY)]


def config(shape):
    """The content of config.json."""
    layers, hidden, heads, ffn = SHAPES[shape]
    return {
        "architectures": ["BertModel"],
        "model_type": "bert",
        "vocab_size": VOCABULARY,
        "hidden_size": hidden,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "intermediate_size": ffn,
        "hidden_act": "gelu",
        "max_position_embeddings": POSITIONS,
        "type_vocab_size": 2,
        "layer_norm_eps": EPSILON,
        "pad_token_id": SPECIAL.index("[PAD]"),
        "torch_dtype": "float32",
    }


def tokenizer():
    """The content of a tokenizer.json: WordPiece with [CLS] before a text and [SEP] after it."""
    frame = ["[CLS]", "[SEP]"]
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [
            {
                "id": i,
                "content": token,
                "single_word": False,
                "lstrip": False,
                "rstrip": False,
                "normalized": False,
                "special": True,
            }
            for i, token in enumerate(SPECIAL)
        ],
        "normalizer": {
            "type": "BertNormalizer",
            "clean_text": True,
            "handle_chinese_chars": True,
            "strip_accents": None,
            "lowercase": True,
        },
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [
                {"SpecialToken": {"id": "[CLS]", "type_id": 0}},
                {"Sequence": {"id": "A", "type_id": 0}},
                {"SpecialToken": {"id": "[SEP]", "type_id": 0}},
            ],
            "pair": [],
            "special_tokens": {
                t: {"id": t, "ids": [SPECIAL.index(t)], "tokens": [t]} for t in frame
            },
        },
        "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
        "model": {
            "type": "WordPiece",
            "unk_token": "[UNK]",
            "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100,
            "vocab": {token: i for i, token in enumerate(vocabulary())},
        },
    }


def write_hf(shape, weights, folder):
    from safetensors.numpy import save_file

    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    (folder / "vocab.txt").write_text("\n".join(vocabulary()) + "\n")
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer()))
    (folder / "config.json").write_text(json.dumps(config(shape), indent=2) + "\n")


def write_onnx(shape, weights, folder):
    import encoder_onnx

    encoder_onnx.write(SHAPES[shape], EPSILON, weights, folder / "model.onnx")


def write_ct2(shape, weights, folder):
    import encoder_ct2

    encoder_ct2.write(SHAPES[shape], EPSILON, vocabulary(), weights, folder / "ct2")


def write_fused(shape, weights, folder):
    from onnxruntime.transformers import optimizer
    from onnxruntime.transformers.fusion_options import FusionOptions

    ensure("onnx", shape, weights, folder)
    _, hidden, heads, _ = SHAPES[shape]
    optimized = optimizer.optimize_model(
        str(folder / "model.onnx"),
        model_type="bert",
        num_heads=heads,
        hidden_size=hidden,
        opt_level=0,
        optimization_options=FusionOptions("bert"),
    )
    large = (folder / "model.onnx.data").exists()
    optimized.save_model_to_file(str(folder / "fused.onnx"), use_external_data_format=large)


def quantize(source, folder):
    from onnxruntime.quantization import QuantType, quantize_dynamic

    # the fused file does not say the types of its tensors; 1 is FLOAT
    quantize_dynamic(
        folder / (source + ".onnx"),
        folder / (source + "_int8.onnx"),
        weight_type=QuantType.QInt8,
        extra_options={"DefaultTensorType": 1},
    )


def write_int8(shape, weights, folder):
    ensure("onnx", shape, weights, folder)
    quantize("model", folder)


def write_fused_int8(shape, weights, folder):
    ensure("fused", shape, weights, folder)
    quantize("fused", folder)


# form: the file written last, and the function that writes it
FORMS = {
    "hf": ("config.json", write_hf),
    "onnx": ("model.onnx", write_onnx),
    "ct2": ("ct2/model.bin", write_ct2),
    "fused": ("fused.onnx", write_fused),
    "int8": ("model_int8.onnx", write_int8),
    "fused_int8": ("fused_int8.onnx", write_fused_int8),
}


def missing(form, folder):
    return not (folder / FORMS[form][0]).exists()


def ensure(form, shape, weights, folder):
    if missing(form, folder):
        FORMS[form][1](shape, weights, folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("shape", choices=SHAPES)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--forms", default="hf,onnx,ct2")
    args = parser.parse_args()
    forms = args.forms.split(",")
    if set(forms) - set(FORMS):
        parser.error("forms are " + ", ".join(FORMS))
    args.folder.mkdir(parents=True, exist_ok=True)
    wanted = any(missing(form, args.folder) for form in forms)
    weights = make_weights(args.shape) if wanted else {}
    for form in forms:
        ensure(form, args.shape, weights, args.folder)


if __name__ == "__main__":
    main()
