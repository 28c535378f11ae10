"""A BERT encoder as an ONNX file, in the operators of an eager export: nothing is fused."""

import os

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

INPUTS = ("input_ids", "attention_mask", "token_type_ids")
# protobuf ends at 2 GiB; the weights of a model over half of that go to a file of their own
EXTERNAL_ABOVE = 1 << 30


class Graph:
    """Nodes and constants of a growing graph. Every node has one output, named as the node."""

    def __init__(self):
        self.nodes = []
        self.constants = {}

    def constant(self, value, name=None):
        """Adds a constant once; without a name it is named after its value."""
        value = np.ascontiguousarray(value)
        name = name or "constant_%s_%s" % (value.dtype, "_".join(map(str, value.reshape(-1))))
        if name not in self.constants:
            self.constants[name] = numpy_helper.from_array(value, name)
        return name

    def ints(self, *values):
        return self.constant(np.array(values, np.int64))

    def real(self, value):
        return self.constant(np.array(value, np.float32))

    def add(self, op, *inputs, **attributes):
        """Adds a node and returns the name of its output."""
        name = "%s_%d" % (op, len(self.nodes))
        self.nodes.append(helper.make_node(op, list(inputs), [name], name=name, **attributes))
        return name


class Encoder:
    """The parts of BERT over a Graph."""

    def __init__(self, shape, epsilon, weights):
        self.layers, self.hidden, self.heads, _ = shape
        self.head_dim = self.hidden // self.heads
        self.epsilon = epsilon
        self.weights = weights
        self.graph = Graph()

    def weight(self, name):
        return self.graph.constant(self.weights[name], name)

    def linear(self, x, name):
        transposed = self.graph.constant(self.weights[name + ".weight"].T, name + ".weight_t")
        product = self.graph.add("MatMul", x, transposed)
        return self.graph.add("Add", product, self.weight(name + ".bias"))

    def norm(self, x, name):
        return self.graph.add(
            "LayerNormalization",
            x,
            self.weight(name + ".weight"),
            self.weight(name + ".bias"),
            axis=-1,
            epsilon=self.epsilon,
        )

    def gelu(self, x):
        g = self.graph
        erf = g.add("Erf", g.add("Div", x, g.real(2**0.5)))
        return g.add("Mul", g.add("Mul", x, g.add("Add", erf, g.real(1))), g.real(0.5))

    def heads_of(self, x, order):
        split = self.graph.add("Reshape", x, self.graph.ints(0, 0, self.heads, self.head_dim))
        return self.graph.add("Transpose", split, perm=order)

    def attention(self, x, mask, prefix):
        g = self.graph
        query = self.heads_of(self.linear(x, prefix + "query"), [0, 2, 1, 3])
        key = self.heads_of(self.linear(x, prefix + "key"), [0, 2, 3, 1])
        value = self.heads_of(self.linear(x, prefix + "value"), [0, 2, 1, 3])
        scores = g.add("Div", g.add("MatMul", query, key), g.real(self.head_dim**0.5))
        weights = g.add("Softmax", g.add("Add", scores, mask), axis=-1)
        mixed = g.add("Transpose", g.add("MatMul", weights, value), perm=[0, 2, 1, 3])
        return g.add("Reshape", mixed, g.ints(0, 0, self.hidden))

    def embeddings(self):
        g = self.graph
        table = lambda name: self.weight("embeddings.%s_embeddings.weight" % name)  # noqa: E731
        length = g.add("Slice", g.add("Shape", "input_ids"), g.ints(1), g.ints(2))
        rows = g.add("Slice", table("position"), g.ints(0), length, g.ints(0))
        words = g.add("Gather", table("word"), "input_ids")
        kinds = g.add("Gather", table("token_type"), "token_type_ids")
        return self.norm(g.add("Add", g.add("Add", words, kinds), rows), "embeddings.LayerNorm")

    def mask(self):
        """0 where a token is, the lowest float32 where padding is, as [batch, 1, 1, seq]."""
        g = self.graph
        real = g.add("Cast", "attention_mask", to=TensorProto.FLOAT)
        lowest = g.real(np.finfo(np.float32).min)
        return g.add("Mul", g.add("Sub", g.real(1), g.add("Unsqueeze", real, g.ints(1, 2))), lowest)

    def build(self):
        """The whole graph; returns the name of the last hidden state."""
        x, mask = self.embeddings(), self.mask()
        for layer in range(self.layers):
            prefix = "encoder.layer.%d." % layer
            mixed = self.attention(x, mask, prefix + "attention.self.")
            mixed = self.linear(mixed, prefix + "attention.output.dense")
            x = self.norm(self.graph.add("Add", mixed, x), prefix + "attention.output.LayerNorm")
            inner = self.gelu(self.linear(x, prefix + "intermediate.dense"))
            inner = self.linear(inner, prefix + "output.dense")
            x = self.norm(self.graph.add("Add", inner, x), prefix + "output.LayerNorm")
        return x


def write(shape, epsilon, weights, path):
    """Writes model.onnx: INPUTS (int64 [batch, seq]) -> last_hidden_state (float32)."""
    encoder = Encoder(shape, epsilon, weights)
    graph = encoder.graph
    last = encoder.build()
    graph.nodes.append(helper.make_node("Identity", [last], ["last_hidden_state"]))
    tensor = helper.make_tensor_value_info
    proto = helper.make_graph(
        graph.nodes,
        "encoder",
        [tensor(n, TensorProto.INT64, ["batch", "seq"]) for n in INPUTS],
        [tensor("last_hidden_state", TensorProto.FLOAT, ["batch", "seq", encoder.hidden])],
        list(graph.constants.values()),
    )
    model = helper.make_model(proto, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    external = sum(w.nbytes for w in weights.values()) > EXTERNAL_ABOVE
    data = path.name + ".data"
    # an existing data file would be appended to
    (path.parent / data).unlink(missing_ok=True)
    temporary = path.with_suffix(".new")
    onnx.save_model(model, temporary, save_as_external_data=external, location=data)
    onnx.checker.check_model(temporary)
    os.replace(temporary, path)
