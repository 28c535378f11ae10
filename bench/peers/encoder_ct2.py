"""A BERT encoder as a CTranslate2 model in float32."""

import numpy as np
from ctranslate2.specs import common_spec, transformer_spec


def write(shape, epsilon, vocabulary, weights, folder):
    """Writes the model folder."""
    layers, _, heads, _ = shape
    encoder = transformer_spec.TransformerEncoderSpec(
        layers,
        heads,
        pre_norm=False,
        activation=common_spec.Activation.GELU,
        layernorm_embedding=True,
        num_source_embeddings=2,
        embeddings_merge=common_spec.EmbeddingsMerge.ADD,
    )
    encoder.scale_embeddings = False

    def linear(spec, *names):
        spec.weight = np.concatenate([weights[name + ".weight"] for name in names])
        spec.bias = np.concatenate([weights[name + ".bias"] for name in names])

    def norm(spec, name):
        spec.gamma, spec.beta = weights[name + ".weight"], weights[name + ".bias"]

    table = lambda name: weights["embeddings.%s_embeddings.weight" % name]  # noqa: E731
    encoder.embeddings[0].weight, encoder.embeddings[1].weight = table("word"), table("token_type")
    encoder.position_encodings.encodings = table("position")
    norm(encoder.layernorm_embedding, "embeddings.LayerNorm")
    for i, layer in enumerate(encoder.layer):
        prefix = "encoder.layer.%d." % i
        attention = prefix + "attention."
        projections = [attention + "self." + part for part in ("query", "key", "value")]
        linear(layer.self_attention.linear[0], *projections)
        linear(layer.self_attention.linear[1], attention + "output.dense")
        norm(layer.self_attention.layer_norm, attention + "output.LayerNorm")
        linear(layer.ffn.linear_0, prefix + "intermediate.dense")
        linear(layer.ffn.linear_1, prefix + "output.dense")
        norm(layer.ffn.layer_norm, prefix + "output.LayerNorm")

    spec = transformer_spec.TransformerEncoderModelSpec(encoder, pooling_layer=False)
    spec.register_vocabulary(vocabulary)
    spec.config.unk_token = "[UNK]"
    spec.config.layer_norm_epsilon = epsilon
    spec.validate()
    spec.optimize()
    folder.mkdir(parents=True, exist_ok=True)
    spec.save(str(folder))
