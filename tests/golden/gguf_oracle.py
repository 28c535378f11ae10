"""Runs a GGUF file in torch: dequantised to float32 by gguf-py, computed by transformers.

load_causal(path) returns the model in transformers' own layout, load_tokenizer(path) a function
from text to ids. Two differences between the file and transformers are undone here: the llama rows
of Q and K lie in the file in the order that interleaved RoPE needs, and the norm weights of gemma3
have 1 added.
"""

import re

import gguf
import numpy as np
import torch
from gguf.quants import dequantize

LAYER_NAMES = {
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "attn_norm": "input_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}
# what follows attention and feed-forward differs between the architectures
NORM_NAMES = {
    "llama": {"ffn_norm": "post_attention_layernorm"},
    "gemma3": {
        "attn_q_norm": "self_attn.q_norm",
        "attn_k_norm": "self_attn.k_norm",
        "post_attention_norm": "post_attention_layernorm",
        "ffn_norm": "pre_feedforward_layernorm",
        "post_ffw_norm": "post_feedforward_layernorm",
    },
}


def metadata(reader):
    """All key-value pairs of the file."""
    return {key: field.contents() for key, field in reader.fields.items()}


def hf_name(name, arch):
    """The transformers name of a GGUF tensor."""
    fixed = {"token_embd": "model.embed_tokens", "output_norm": "model.norm", "output": "lm_head"}
    stem = name.removesuffix(".weight")
    if stem in fixed:
        return fixed[stem] + ".weight"
    _, layer, part = stem.split(".")
    part = (LAYER_NAMES | NORM_NAMES[arch])[part]
    return "model.layers.%s.%s.weight" % (layer, part)


def rows_of_halves(weight, heads):
    """Rows in the order of interleaved pairs, back in the order of two halves a head."""
    rows = weight.reshape(heads, weight.shape[0] // heads // 2, 2, -1)
    return rows.swapaxes(1, 2).reshape(weight.shape)


def hf_weights(reader, meta, arch):
    """Every tensor in float32 under its transformers name."""
    heads = {
        "attn_q": meta[arch + ".attention.head_count"],
        "attn_k": meta[arch + ".attention.head_count_kv"],
    }
    weights = {}
    for tensor in reader.tensors:
        value = dequantize(tensor.data, tensor.tensor_type).astype(np.float32)
        part = tensor.name.split(".")[-2]
        if arch == "llama" and part in heads:
            value = rows_of_halves(value, heads[part])
        if arch == "gemma3" and part.endswith("norm"):
            value = value - np.float32(1)
        weights[hf_name(tensor.name, arch)] = torch.from_numpy(np.array(value, order="C"))
    return weights


def hf_config(meta, arch):
    """The transformers configuration that the metadata of the file describe."""
    import transformers

    get = lambda key: meta[arch + "." + key]  # noqa: E731
    common = dict(
        vocab_size=len(meta["tokenizer.ggml.tokens"]),
        hidden_size=get("embedding_length"),
        intermediate_size=get("feed_forward_length"),
        num_hidden_layers=get("block_count"),
        num_attention_heads=get("attention.head_count"),
        num_key_value_heads=get("attention.head_count_kv"),
        max_position_embeddings=get("context_length"),
        rms_norm_eps=get("attention.layer_norm_rms_epsilon"),
        tie_word_embeddings=True,
    )
    base = get("rope.freq_base")
    if arch == "llama":
        rope = {"rope_type": "default", "rope_theta": base}
        return transformers.LlamaConfig(rope_parameters=rope, **common)
    rope = {
        "full_attention": {"rope_type": "default", "rope_theta": base},
        "sliding_attention": {"rope_type": "default", "rope_theta": 10000.0},
    }
    return transformers.Gemma3TextConfig(
        head_dim=get("attention.key_length"),
        query_pre_attn_scalar=get("attention.key_length"),
        sliding_window=get("attention.sliding_window"),
        rope_parameters=rope,
        **common,
    )


def load_causal(path):
    """The float32 model of a llama or gemma3 file."""
    import transformers

    reader = gguf.GGUFReader(path)
    meta = metadata(reader)
    arch = meta["general.architecture"]
    classes = {"llama": transformers.LlamaForCausalLM, "gemma3": transformers.Gemma3ForCausalLM}
    with torch.device("meta"):
        model = classes[arch](hf_config(meta, arch))
    model = model.to_empty(device="cpu")
    # to_empty leaves the computed buffers (RoPE frequencies, embedding scale) without values
    fresh = classes[arch](small(hf_config(meta, arch)))
    for name, value in fresh.named_buffers():
        module, _, leaf = name.rpartition(".")
        setattr(model.get_submodule(module), leaf, value)
    missing, unexpected = model.load_state_dict(hf_weights(reader, meta, arch), strict=False)
    if unexpected or set(missing) - {"lm_head.weight"}:
        raise SystemExit("tensors do not fit: %s, %s" % (missing, unexpected))
    model.tie_weights()
    return model.eval()


def small(config):
    """The same configuration with tables that cost nothing, for the sake of its buffers."""
    config.vocab_size, config.intermediate_size, config.pad_token_id = 8, 8, None
    return config


def load_tokenizer(path):
    """text -> ids: BOS where the file asks for it, control tokens in a text recognised."""
    meta = metadata(gguf.GGUFReader(path))
    kinds = {"gpt2": byte_level_encoder, "llama": sentencepiece_encoder}
    encode = kinds[meta["tokenizer.ggml.model"]](meta)
    bos = [meta["tokenizer.ggml.bos_token_id"]] if meta["tokenizer.ggml.add_bos_token"] else []
    return lambda text: bos + encode(text)


def byte_level_encoder(meta):
    """A `tokenizers` byte-level BPE from the vocabulary and merges of a smollm file."""
    from tokenizers import AddedToken, Tokenizer, models, pre_tokenizers

    if meta["tokenizer.ggml.pre"] != "smollm":
        raise SystemExit("no rule for pre-tokenizer " + meta["tokenizer.ggml.pre"])
    tokens = meta["tokenizer.ggml.tokens"]
    merges = [tuple(merge.split(" ")) for merge in meta["tokenizer.ggml.merges"]]
    bpe = Tokenizer(models.BPE({token: i for i, token in enumerate(tokens)}, merges))
    bpe.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Digits(individual_digits=True),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True),
        ]
    )
    control = gguf.TokenType.CONTROL
    types = meta["tokenizer.ggml.token_type"]
    bpe.add_special_tokens(
        [AddedToken(t, special=True) for t, kind in zip(tokens, types) if kind == control]
    )
    return lambda text: bpe.encode(text, add_special_tokens=False).ids


def sentencepiece_encoder(meta):
    """A sentencepiece BPE model with the file's pieces, scores and types."""
    import sentencepiece
    from sentencepiece import sentencepiece_model_pb2

    proto = sentencepiece_model_pb2.ModelProto()
    proto.trainer_spec.model_type = sentencepiece_model_pb2.TrainerSpec.BPE
    proto.trainer_spec.byte_fallback = True
    for kind in ("unk", "bos", "eos"):
        key = {"unk": "unknown"}.get(kind, kind)
        setattr(proto.trainer_spec, kind + "_id", meta["tokenizer.ggml.%s_token_id" % key])
    proto.normalizer_spec.add_dummy_prefix = meta["tokenizer.ggml.add_space_prefix"]
    proto.normalizer_spec.remove_extra_whitespaces = False
    columns = ("tokens", "scores", "token_type")
    rows = zip(*(meta["tokenizer.ggml." + column] for column in columns))
    control = {}
    for i, (piece, score, kind) in enumerate(rows):
        # the file holds the blanks of user-defined pieces as they stand in a text
        if kind == gguf.TokenType.USER_DEFINED:
            piece = piece.replace(" ", "\u2581")
        proto.pieces.add(piece=piece, score=score, type=kind)
        if kind == gguf.TokenType.CONTROL:
            control[piece] = i
    model = sentencepiece.SentencePieceProcessor(model_proto=proto.SerializeToString())
    splitter = re.compile("(%s)" % "|".join(map(re.escape, control)))

    def encode(text):
        parts = [part for part in splitter.split(text) if part]
        return [i for p in parts for i in ([control[p]] if p in control else model.encode(p))]

    return encode
