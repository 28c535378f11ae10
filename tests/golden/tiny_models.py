"""Small models with random weights, one for each architecture and feature, as both sides make them.

A model is a Hugging Face configuration and a table of tensors: name -> [shape, scale, offset]. With
u = uniform(SEED, name, index) of hash_random.py, index counting in row-major order, an element is
  float32(offset + s * u), s = scale, but OUTLIER * scale in the columns c of a matrix where
  c % 16 == 5.
Scales and offsets are multiples of 1/256, so the sum is exact in double and is rounded once.
"""

import numpy as np

import hash_random

SEED = 1
OUTLIER = 4
LENGTHS = (1, 7, 40)

_BERT = {
    "vocab_size": 120,
    "hidden_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 128,
    "hidden_act": "gelu",
    "max_position_embeddings": 48,
    "type_vocab_size": 2,
    "layer_norm_eps": 1e-12,
    "pad_token_id": 0,
}
_LLAMA = {
    "vocab_size": 160,
    "hidden_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "intermediate_size": 160,
    "hidden_act": "silu",
    "rms_norm_eps": 1e-5,
    "max_position_embeddings": 128,
    "rope_theta": 10000.0,
    "tie_word_embeddings": False,
    "bos_token_id": 1,
    "eos_token_id": 2,
}


def _config(base, architecture, model_type, **changes):
    config = {"architectures": [architecture], "model_type": model_type, **base, **changes}
    return {key: value for key, value in config.items() if value is not ...}


# name: config.json as checkpoints carry it; ... leaves an entry of the base out
CONFIGS = {
    "bert": _config(_BERT, "BertModel", "bert"),
    "roberta": _config(
        _BERT,
        "RobertaForMaskedLM",
        "roberta",
        max_position_embeddings=50,
        type_vocab_size=1,
        layer_norm_eps=1e-5,
        pad_token_id=1,
        bos_token_id=0,
        eos_token_id=2,
    ),
    "distilbert": {
        "architectures": ["DistilBertForMaskedLM"],
        "model_type": "distilbert",
        "vocab_size": 120,
        "dim": 64,
        "n_layers": 2,
        "n_heads": 4,
        "hidden_dim": 128,
        "activation": "gelu",
        "max_position_embeddings": 48,
        "sinusoidal_pos_embds": False,
        "pad_token_id": 0,
    },
    "llama_tied": _config(_LLAMA, "LlamaForCausalLM", "llama", tie_word_embeddings=True),
    "llama_llama3": _config(
        _LLAMA,
        "LlamaForCausalLM",
        "llama",
        num_key_value_heads=1,
        rope_theta=500000.0,
        rope_scaling={
            "rope_type": "llama3",
            "factor": 8.0,
            "low_freq_factor": 1.0,
            "high_freq_factor": 4.0,
            "original_max_position_embeddings": 64,
        },
    ),
    # the older spelling of the scaling's type
    "llama_linear": _config(
        _LLAMA, "LlamaForCausalLM", "llama", rope_scaling={"type": "linear", "factor": 4.0}
    ),
    # transformers 5 writes all of RoPE into one entry
    "llama_parameters": _config(
        _LLAMA,
        "LlamaForCausalLM",
        "llama",
        rope_theta=...,
        rope_parameters={"rope_type": "linear", "factor": 2.0, "rope_theta": 20000.0},
    ),
    "mistral": _config(_LLAMA, "MistralForCausalLM", "mistral", sliding_window=8, head_dim=24),
    "qwen2": _config(
        _LLAMA,
        "Qwen2ForCausalLM",
        "qwen2",
        rms_norm_eps=1e-6,
        rope_theta=1000000.0,
        tie_word_embeddings=True,
        use_sliding_window=False,
        sliding_window=8,
        max_window_layers=2,
    ),
    "gemma3": _config(
        _LLAMA,
        "Gemma3ForCausalLM",
        "gemma3_text",
        num_hidden_layers=3,
        hidden_act=...,
        hidden_activation="gelu_pytorch_tanh",
        head_dim=32,
        query_pre_attn_scalar=24,
        rms_norm_eps=1e-6,
        rope_theta=1000000.0,
        rope_local_base_freq=10000.0,
        sliding_window=8,
        layer_types=["sliding_attention", "full_attention", "sliding_attention"],
        attn_logit_softcapping=None,
        final_logit_softcapping=None,
        tie_word_embeddings=True,
        bos_token_id=2,
        eos_token_id=1,
    ),
}


def tensor_entry(name, shape, model_type):
    """[shape, scale, offset] of a tensor: by what it is, and for products by its inputs."""
    if "norm" in name.lower() and name.endswith("weight"):
        return [shape, 0.25, 0.0 if model_type.startswith("gemma") else 1.0]
    if len(shape) == 1:
        return [shape, 0.25, 0.0]
    if "embed" in name:
        return [shape, 0.5, 0.0]
    # a variance of 1 / inputs
    return [shape, round(256 * (3 / shape[1]) ** 0.5) / 256, 0.0]


def tensor_value(name, shape, scale, offset):
    """The float32 array of a tensor."""
    value = hash_random.uniform(SEED, name, shape).astype(np.float64) * scale
    if len(shape) == 2:
        value[:, 5::16] *= OUTLIER
    return (value + offset).astype(np.float32)


def sequences(config):
    """Three sequences of ids above the special ones."""
    first = 3
    return [
        (first + hash_random.below(SEED, "ids.%d" % n, config["vocab_size"] - first, n)).tolist()
        for n in LENGTHS
    ]
