"""What transformers computes for the small models of tiny_models.py."""

import copy

import numpy as np
import torch

import tiny_models
from double_oracle import as_double
from golden_io import save_array, save_json, versions


def model_of(config):
    """The transformers model and the prefix its tensors have in a checkpoint.

    Encoders are run without head, as bare models, whatever architecture the checkpoint names.
    """
    import transformers

    parsed = transformers.AutoConfig.for_model(**copy.deepcopy(config))
    if "CausalLM" in config["architectures"][0]:
        return transformers.AutoModelForCausalLM.from_config(parsed).eval(), ""
    bare = config["architectures"][0].endswith("Model")
    model = transformers.AutoModel.from_config(parsed).eval()
    return model, "" if bare else config["model_type"] + "."


def output(model, ids):
    """Logits or the last hidden state of all tokens of a sequence that is run alone."""
    out = model(input_ids=torch.tensor([ids]))
    return (out.logits if "logits" in out else out.last_hidden_state)[0]


def fill(model, prefix, config):
    """Gives the model its weights; returns the table of tensors."""
    tensors, state = {}, {}
    for name, value in model.state_dict().items():
        if name == "lm_head.weight" and config["tie_word_embeddings"]:
            continue
        entry = tiny_models.tensor_entry(prefix + name, list(value.shape), config["model_type"])
        tensors[prefix + name] = entry
        state[name] = torch.from_numpy(tiny_models.tensor_value(prefix + name, *entry))
    model.load_state_dict(state, strict=False)
    model.tie_weights()
    return tensors


def make(name, config):
    model, prefix = model_of(config)
    tensors = fill(model, prefix, config)
    rows = tiny_models.sequences(config)
    result = torch.cat([output(model, ids) for ids in rows]).numpy()
    as_double(model)
    exact = torch.cat([output(model, ids) for ids in rows]).numpy()
    probe = max(tensors, key=lambda t: len(tensors[t][0]))
    save_json("tiny/%s/config.json" % name, config)
    save_array("tiny/%s/output.npy" % name, result)
    save_json(
        "tiny/%s/golden.json" % name,
        {
            "versions": versions("torch", "transformers", "numpy"),
            "largest_difference": {"float64": float(np.abs(exact - result).max())},
            "output": "last_hidden_state"
            if "CausalLM" not in config["architectures"][0]
            else "logits",
            "sequences": rows,
            "probe": {
                "tensor": probe,
                "values": tiny_models.tensor_value(probe, *tensors[probe]).reshape(-1)[:8].tolist(),
            },
            "tensors": tensors,
        },
    )


def make_all():
    for name, config in tiny_models.CONFIGS.items():
        make(name, config)
