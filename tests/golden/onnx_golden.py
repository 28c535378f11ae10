"""ONNX models and what the `onnx` package reads from them: onnx/NAME.onnx and onnx/NAME.txt.

    pip install onnx==1.23.2
    python tests/golden/onnx_golden.py            # writes tests/golden/onnx/
    python tests/golden/onnx_golden.py FOLDER     # all test models of the package instead

src/formats/onnx/golden_test.cc says the same of what it reads, line for line.
"""

import pathlib
import struct
import sys

import numpy as np
import onnx
from onnx import AttributeProto, TensorProto, helper, numpy_helper

HERE = pathlib.Path(__file__).resolve().parent
# Models of the package that are committed: graphs in attributes, sequences, optionals, a function's
# body, weights in typed fields, a file of an early exporter.
CASES = ["test_if_seq", "test_loop16_seq_none", "test_optional_get_element_optional_sequence",
         "test_gelu_default_1_expanded", "test_rms_normalization_2d_axis0_expanded"]
FILES = ["simple/test_sequence_model5", "pytorch-converted/test_Linear",
         "pytorch-operator/test_operator_params"]


def quoted(text):
    """As src/formats/quoted.h."""
    data = text if isinstance(text, bytes) else text.encode()
    out = "".join(
        ("\\" if c in b'"\\' else "") + chr(c) if 32 <= c <= 126 else f"\\x{c:02x}" for c in data[:100])
    return '"' + out + ("..." if len(data) > 100 else "") + '"'


def domain(name):
    return "" if name == "ai.onnx" else name


def element_bytes(tensor):
    """The elements, packed, little-endian, by onnx's own decoder."""
    if tensor.HasField("raw_data"):
        return tensor.raw_data
    bits = helper.tensor_dtype_to_field(tensor.data_type)
    if bits == "int32_data" and tensor.data_type in (
            TensorProto.INT4, TensorProto.UINT4, TensorProto.FLOAT4E2M1, TensorProto.INT2,
            TensorProto.UINT2):
        return bytes(v & 255 for v in tensor.int32_data)
    return np.ascontiguousarray(numpy_helper.to_array(tensor)).tobytes()


def tensor_text(tensor):
    name = TensorProto.DataType.Name(tensor.data_type)
    head = f"{quoted(tensor.name)} {name} {list(tensor.dims)} "
    if tensor.data_type == TensorProto.STRING:
        return head + " ".join(quoted(s) for s in tensor.string_data)
    return head + element_bytes(tensor).hex()


def type_text(kind):
    which = kind.WhichOneof("value")
    if which is None:
        return "none"
    value = getattr(kind, which)
    if which in ("tensor_type", "sparse_tensor_type"):
        text = f"{which} {value.elem_type}"
        if not value.HasField("shape"):
            return text
        dims = []
        for dim in value.shape.dim:
            dims.append(f"{dim.dim_value if dim.HasField('dim_value') else -1}{quoted(dim.dim_param)}")
        return text + " [" + ", ".join(dims) + "]"
    inner = value.value_type if which == "map_type" else value.elem_type
    return f"{which} ({type_text(inner)})"


def number(value):
    return struct.pack("<f", value).hex()


def attribute_lines(attribute, indent):
    head = f"{indent}attribute {quoted(attribute.name)} {attribute.type} {quoted(attribute.ref_attr_name)}"
    value = helper.get_attribute_value(attribute) if not attribute.ref_attr_name else None
    kind = attribute.type
    if value is None:
        yield head
    elif kind in (AttributeProto.FLOAT, AttributeProto.FLOATS):
        values = [value] if kind == AttributeProto.FLOAT else value
        yield " ".join([head, *(number(v) for v in values)])
    elif kind in (AttributeProto.INT, AttributeProto.INTS):
        values = [value] if kind == AttributeProto.INT else value
        yield " ".join([head, *(str(v) for v in values)])
    elif kind in (AttributeProto.STRING, AttributeProto.STRINGS):
        values = [value] if kind == AttributeProto.STRING else value
        yield " ".join([head, *(quoted(v) for v in values)])
    elif kind in (AttributeProto.TENSOR, AttributeProto.TENSORS):
        yield head
        for tensor in [value] if kind == AttributeProto.TENSOR else value:
            yield f"{indent}  tensor {tensor_text(tensor)}"
    elif kind in (AttributeProto.TYPE_PROTO, AttributeProto.TYPE_PROTOS):
        yield head
        for type_proto in [value] if kind == AttributeProto.TYPE_PROTO else value:
            yield f"{indent}  type {type_text(type_proto)}"
    else:
        yield head
        for graph in [value] if kind == AttributeProto.GRAPH else value:
            yield from graph_lines(graph, indent + "  ")


def node_lines(nodes, indent):
    for node in nodes:
        inputs, outputs = (" ".join(quoted(n) for n in names) for names in (node.input, node.output))
        yield (f"{indent}node {quoted(node.name)} {quoted(domain(node.domain))} {quoted(node.op_type)} "
               f"{quoted(node.overload)}: {inputs} -> {outputs}")
        for attribute in node.attribute:
            yield from attribute_lines(attribute, indent + "  ")


def graph_lines(graph, indent=""):
    yield f"{indent}graph {quoted(graph.name)}"
    indent += "  "
    for label, values in (("input", graph.input), ("output", graph.output), ("value", graph.value_info)):
        for value in values:
            yield f"{indent}{label} {quoted(value.name)} {type_text(value.type)}"
    for tensor in graph.initializer:
        yield f"{indent}initializer {tensor_text(tensor)}"
    yield from node_lines(graph.node, indent)


def opsets(imports):
    return " ".join(f"{quoted(d)}:{v}" for d, v in sorted({(domain(o.domain), o.version) for o in imports}))


def model_lines(model):
    yield f"model {model.ir_version} {quoted(model.producer_name)} {quoted(model.producer_version)}"
    yield f"opsets {opsets(model.opset_import)}"
    for entry in model.metadata_props:
        yield f"metadata {quoted(entry.key)} {quoted(entry.value)}"
    yield from graph_lines(model.graph)
    for function in model.functions:
        yield (f"function {quoted(domain(function.domain))} {quoted(function.name)} "
               f"{quoted(function.overload)} {opsets(function.opset_import)}")
        for label in ("input", "output", "attribute"):
            for name in getattr(function, label):
                yield f"  {label} {quoted(name)}"
        for attribute in function.attribute_proto:
            yield from attribute_lines(attribute, "  ")
        yield from node_lines(function.node, "  ")


def types_model():
    """Six elements of every data type, in the typed field and as raw bytes."""
    initializers = []
    for kind, name in sorted((v, n) for n, v in TensorProto.DataType.items()):
        if kind == TensorProto.UNDEFINED or name.startswith("FLOAT6"):
            continue
        values = [b"a", b"b", b"", b"d", b"e", b"f"] if kind == TensorProto.STRING else [0, 1, 0, 1, 1, 0]
        if kind not in (TensorProto.STRING, TensorProto.BOOL) and "INT2" not in name and "8M0" not in name:
            values = [0, 1, 2, 3, 1.5, -1] if "FLOAT" in name and "UINT" not in name else [0, 1, 2, 3, 4, 5]
        initializers.append(helper.make_tensor(f"typed_{name}", kind, [2, 3], values))
        if kind != TensorProto.STRING:
            raw = TensorProto(name=f"raw_{name}", data_type=kind, dims=[2, 3],
                              raw_data=element_bytes(initializers[-1]))
            initializers.append(raw)
    output = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    node = helper.make_node("Identity", ["typed_FLOAT"], ["y"])
    return helper.make_model(helper.make_graph([node], "types", [], [output], initializers))


def attributes_model():
    """Every kind of attribute, a function with references, values of every kind of type."""
    tensor = numpy_helper.from_array(np.arange(4, dtype=np.int64), "t")
    kinds = [helper.make_tensor_type_proto(TensorProto.FLOAT16, ["batch", 3, None]),
             helper.make_tensor_type_proto(TensorProto.INT64, [])]
    kinds += [helper.make_sequence_type_proto(kinds[0]), helper.make_optional_type_proto(kinds[1]),
              helper.make_map_type_proto(TensorProto.STRING, kinds[0]),
              helper.make_sparse_tensor_type_proto(TensorProto.FLOAT, [2, "n"])]
    inner = helper.make_graph([helper.make_node("Relu", ["x"], ["z"], name='quo"te')], "inner", [],
                              [helper.make_tensor_value_info("z", TensorProto.FLOAT, ["batch"])])
    node = helper.make_node(
        "Everything", ["x", "", "w"], ["y", ""], name="every", domain="local", f=0.1, i=-(2**62), s="ä\n",
        t=tensor, g=inner, floats=[1.0, -0.0, float("inf")], ints=[1, -1, 2**40], strings=["a", "b" * 200],
        tensors=[tensor, tensor], graphs=[inner, inner], tp=kinds[2], type_protos=kinds)
    body = helper.make_node("Gemm", ["a", "b"], ["c"])
    reference = AttributeProto(name="alpha", type=AttributeProto.FLOAT, ref_attr_name="scale")
    body.attribute.append(reference)
    imports = [helper.make_opsetid("", 21), helper.make_opsetid("local", 1)]
    function = helper.make_function("local", "Everything", ["a", "b"], ["c"], [body], imports[:1], ["scale"],
                                    [helper.make_attribute("beta", 2.0)])
    function.overload = "two"
    graph = helper.make_graph(
        [node], "every", [helper.make_value_info(f"x{i}", kind) for i, kind in enumerate(kinds)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)], [tensor],
        value_info=[helper.make_tensor_value_info("y", TensorProto.FLOAT, [1])])
    model = helper.make_model(graph, functions=[function], opset_imports=imports, ir_version=10,
                              producer_name="script", producer_version="1")
    helper.set_model_props(model, {"key": "value"})
    return model


def package_models(everything):
    """Name and bytes of test models of the package."""
    from onnx.backend.test.case.node import collect_testcases
    data = pathlib.Path(onnx.__file__).parent / "backend/test/data"
    files = data.glob("*/*/model.onnx") if everything else (data / name / "model.onnx" for name in FILES)
    for path in sorted(files):
        yield path.parent.name, path.read_bytes()
    for case in collect_testcases(None):
        if case.model is not None and (everything or case.name in CASES):
            yield case.name, case.model.SerializeToString()


def main():
    everything = len(sys.argv) > 1
    folder = pathlib.Path(sys.argv[1]) if everything else HERE / "onnx"
    folder.mkdir(exist_ok=True)
    models = [("types", types_model().SerializeToString()),
              ("attributes", attributes_model().SerializeToString()), *package_models(everything)]
    for name, data in models:
        (folder / f"{name}.onnx").write_bytes(data)
        lines = model_lines(onnx.load_from_string(data))
        (folder / f"{name}.txt").write_text("\n".join(lines) + "\n")
    print(f"wrote {len(models)} models to {folder}")


if __name__ == "__main__":
    main()
