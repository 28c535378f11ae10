"""A transformers causal model in float64 throughout, to tell how far float32 rounding reaches.

transformers computes RMSNorm and the RoPE angles in float32 whatever the type of the model is, so
both are replaced here. Attention must run as "sdpa", which keeps the type of its input.
"""

import types

import torch


def _norm(module, x):
    gamma = module.weight + (1.0 if "Gemma" in type(module).__name__ else 0.0)
    eps = getattr(module, "variance_epsilon", None) or module.eps
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps) * gamma


def _rotary(module, x, position_ids, layer_type=None):
    parameters = module.config.rope_parameters
    if layer_type is not None:
        parameters = parameters[layer_type]
    if parameters["rope_type"] == "default":
        dim = getattr(module.config, "head_dim", None)
        dim = dim or module.config.hidden_size // module.config.num_attention_heads
        frequencies = parameters["rope_theta"] ** -(torch.arange(0, dim, 2).double() / dim)
    else:
        frequencies = module.inv_freq.double()  # scaled by rules of its own, in float32
    angles = position_ids[..., None].double() * frequencies
    angles = torch.cat((angles, angles), dim=-1)
    return angles.cos(), angles.sin()


def as_double(model):
    """Turns the model into float64, in place."""
    model.double()
    for module in model.modules():
        name = type(module).__name__
        if name.endswith("RMSNorm"):
            module.forward = types.MethodType(_norm, module)
        elif name.endswith("RotaryEmbedding"):
            module.forward = types.MethodType(_rotary, module)
        elif name == "Gemma3TextScaledWordEmbedding":
            module.embed_scale = torch.tensor(module.scalar_embed_scale, dtype=torch.float64)
    return model
