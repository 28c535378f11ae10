#!/usr/bin/env python3
"""Writes the seed corpora of the file-format fuzzers: tests/fuzz/NAME/*.

Run it after a change of a format and commit what it writes. Standard library only.
"""

import json
import pathlib
import struct

ROOT = pathlib.Path(__file__).parent


def write(fuzzer, name, data):
    folder = ROOT / fuzzer
    folder.mkdir(exist_ok=True)
    (folder / name).write_bytes(data)


def u32(n):
    return struct.pack("<I", n)


def u64(n):
    return struct.pack("<Q", n)


def text(s):
    return u64(len(s)) + s.encode()


def safetensors():
    def file(header, size):
        header = header if isinstance(header, str) else json.dumps(header)
        return text(header) + bytes(size)

    def tensor(dtype, shape, begin, end):
        return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}

    f32 = tensor("F32", [2, 3], 0, 24)
    seeds = {
        "plain": file({"__metadata__": {"format": "pt"}, "a.weight": f32,
                       "b": tensor("BF16", [], 24, 26)}, 26),
        "types": file({d: tensor(d, [0], 0, 0) for d in "F16 I64 I32 I8 U8 BOOL".split()}, 0),
        "dtype": file({"a": tensor("F64", [1], 0, 8)}, 8),
        "dtype_kind": file({"a": tensor(1, [1], 0, 8)}, 8),
        "rank": file({"a": tensor("U8", [1] * 9, 0, 1)}, 1),
        "shape_kind": file({"a": tensor("U8", 1, 0, 1)}, 1),
        "dimension": file({"a": tensor("U8", [-1], 0, 1)}, 1),
        "offsets": file({"a": tensor("U8", [1], 0, "x")}, 1),
        "backwards": file({"a": tensor("U8", [1], 1, 0)}, 1),
        "fields": file({"a": {"dtype": "U8"}}, 0),
        "overflow": file({"a": tensor("U8", [2**32, 2**32], 0, 0)}, 0),
        "size": file({"a": tensor("F32", [2], 0, 4)}, 4),
        "gap": file({"a": tensor("U8", [1], 1, 2)}, 2),
        "overlap": file({"a": tensor("U8", [2], 0, 2), "b": tensor("U8", [2], 1, 3)}, 3),
        "short": file({"a": f32}, 23),
        "long": file({"a": f32}, 25),
        "list": file([], 0),
        "length": u64(2**64 - 1) + b"{}",
        "index": json.dumps({"weight_map": {"a": "model-1.safetensors"}}).encode(),
        "index_map": b'{"weight_map":[]}',
        "index_shard": b'{"weight_map":{"a":1}}',
    }
    for name, data in seeds.items():
        write("safetensors", name, data)


def gguf():
    def entry(key, kind, value):
        return text(key) + u32(kind) + value

    def array(kind, count, payload):
        return u32(kind) + u64(count) + payload

    def tensor(name, ne, kind, offset):
        return text(name) + u32(len(ne)) + b"".join(map(u64, ne)) + u32(kind) + u64(offset)

    def file(entries=(), tensors=(), data=0, version=3, magic=b"GGUF"):
        head = magic + u32(version) + u64(len(tensors)) + u64(len(entries))
        head += b"".join(entries) + b"".join(tensors)
        return head + bytes(-len(head) % 32 + data)

    scalars = [("<B", 0), ("<b", 1), ("<H", 2), ("<h", 3), ("<I", 4), ("<i", 5), ("<f", 6),
               ("<B", 7), ("<Q", 10), ("<q", 11), ("<d", 12)]
    one = [tensor("w", [4], 0, 0)]
    seeds = {
        "scalars": file([entry(f"k{k}", k, struct.pack(f, 1)) for f, k in scalars]),
        "arrays": file([entry(f"k{k}", 9, array(k, 1, struct.pack(f, 1))) for f, k in scalars]),
        "strings": file([entry("general.architecture", 8, text("llama")),
                         entry("tokens", 9, array(8, 2, text("a") + text("")))]),
        "nested": file([entry("n", 9, array(9, 2, array(0, 1, b"x") + array(8, 1, text("y"))))]),
        "deep": file([entry("n", 9, array(9, 1, b"") * 5 + array(0, 0, b""))]),
        "tensors": file([entry("general.alignment", 4, u32(64))],
                        [tensor("a", [32, 2], 2, 0), tensor("b", [3, 2], 0, 64),
                         tensor("c", [], 26, 128)], 192),
        "alignment": file([entry("general.alignment", 4, u32(3))]),
        "twice": file([entry("k", 0, b"1"), entry("k", 0, b"2")]),
        "value_type": file([entry("k", 13, u64(0))]),
        "array_length": file([entry("k", 9, array(8, 2**62, b""))]),
        "type": file([], [tensor("w", [256], 10, 0)], 84),
        "unknown_type": file([], [tensor("w", [4], 99, 0)], 16),
        "rank": file([], [tensor("w", [1] * 5, 0, 0)], 4),
        "dimension": file([], [tensor("w", [2**63], 0, 0)], 4),
        "overflow": file([], [tensor("w", [2**40, 2**40], 0, 0)], 4),
        "ragged": file([], [tensor("w", [5], 2, 0)], 18),
        "offset": file([], [tensor("w", [4], 0, 4)], 32),
        "short": file([], one, 8),
        "version": file(version=1),
        "big_endian": file(version=0x03000000),
        "magic": file(magic=b"GGML"),
        "counts": b"GGUF" + u32(3) + u64(2**62) + u64(2**62),
    }
    for name, data in seeds.items():
        write("gguf", name, data)


def om():
    xxh64 = {b"": 0xEF46DB3751D8E999, b"abc": 0x44BC2CF5AD770999}

    def entry(name, offset, contents):
        return struct.pack("<64sQQQ", name, offset, len(contents), xxh64[contents])

    def file(entries, magic=b"TBOOSTOM", version=1, count=None, size=0, table=None):
        data = b"abc".ljust(64, b"\0")
        records = b"".join(entries)
        at = 64 + len(data) if table is None else table
        total = 64 + len(data) + len(records)
        count = len(entries) if count is None else count
        # The fuzzer makes the checksum of the header right.
        head = struct.pack("<8sHHIQQQ24s", magic, version, 0, count, total + size, at, 0, b"")
        return head + data + records

    good = [entry(b"manifest", 64, b"abc"), entry(b"empty", 128, b"")]
    seeds = {
        "plain": file(good),
        "none": file([]),
        "contents": file([struct.pack("<64sQQQ", b"a", 64, 3, 1)]),
        "magic": file(good, magic=b"NOTANOM!"),
        "version": file(good, version=2),
        "size": file(good, size=1),
        "count": file(good, count=10**6),
        "table": file(good, table=64),
        "name": file([entry(b"a b", 64, b"abc")]),
        "twice": file([entry(b"a", 64, b"abc"), entry(b"a", 128, b"")]),
        "overlap": file([entry(b"a", 64, b"abc"), entry(b"b", 64, b"abc")]),
        "short": file(good)[:63],
    }
    for name, data in seeds.items():
        write("om", name, data)


def npy():
    def file(header, size, version=b"\x01\x00"):
        return b"\x93NUMPY" + version + struct.pack("<H", len(header)) + header + bytes(size)

    def header(descr="'<f4'", order="False", shape="(2, 3)", end="}\n"):
        return f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, {end}".encode()

    seeds = {
        "f4": file(header(), 24),
        "i4": file(header("'<i4'", shape="(3,)"), 12),
        "i8": file(header('"<i8"', shape="()"), 8),
        "descr": file(header("'>f8'"), 48),
        "fortran": file(header(order="True"), 24),
        "order": file(header(order="Maybe"), 24),
        "tuple": file(header(shape="3"), 24),
        "dimension": file(header(shape="(-1,)"), 24),
        "comma": file(header(shape="(1 1)"), 24),
        "rank": file(header(shape="(1,1,1,1,1,1,1,1,1)"), 4),
        "overflow": file(header(shape="(4294967296,4294967296)"), 4),
        "after": file(header(end="} x"), 24),
        "key": file(b"{'x': 1}", 0),
        "colon": file(b"{'descr'}", 0),
        "between": file(b"{'descr': '<f4' 'shape': ()}", 0),
        "lacks": file(b"{'descr': '<f4'}", 0),
        "quote": file(b"{'descr", 0),
        "list": file(b"[]", 0),
        "version": file(header(), 24, b"\x02\x00"),
        "magic": b"PNG-------",
    }
    for name, data in seeds.items():
        write("npy", name, data)


def onnx():
    def varint(n):
        n &= 2**64 - 1
        out = b""
        while n > 127:
            out += bytes([n & 127 | 128])
            n >>= 7
        return out + bytes([n])

    def field(number, value):
        """A varint, a 32-bit float or bytes, by the value's type."""
        if isinstance(value, int):
            return varint(number << 3) + varint(value)
        if isinstance(value, float):
            return varint(number << 3 | 5) + struct.pack("<f", value)
        value = value.encode() if isinstance(value, str) else value
        return varint(number << 3 | 2) + varint(len(value)) + value

    def packed(number, values):
        return field(number, b"".join(map(varint, values)))

    def tensor(kind, dims, data=b"", name="w"):
        return packed(1, dims) + field(2, kind) + field(8, name) + data

    def external(**entries):
        return field(14, 1) + b"".join(field(13, field(1, k) + field(2, v)) for k, v in entries.items())

    def node(attributes=b"", op="If"):
        return field(1, "x") + field(2, "z") + field(3, "n") + field(4, op) + attributes

    def attribute(kind, value):
        return field(5, field(1, "a") + value + field(20, kind))

    def graph(fields):
        return field(2, "g") + fields + field(12, field(1, "y"))

    def model(fields, more=b""):
        opset = field(8, field(1, "ai.onnx") + field(2, 17))
        return field(1, 8) + field(2, "p") + opset + more + field(7, graph(fields))

    def initializer(*arguments):
        return model(field(5, tensor(*arguments)))

    def value(kind):
        return model(field(11, field(1, "x") + field(2, kind)))

    def with_attribute(kind, fields):
        return model(field(1, node(attribute(kind, fields))))

    shape = field(2, field(1, field(1, 3)) + field(1, field(2, "N")) + field(1, field(1, -1)))
    of_tensor = field(1, field(1, 1) + shape)
    byte = tensor(2, [1], field(9, b"b"))
    inner = graph(field(1, node(op="Add")))
    function = field(1, "f") + field(4, "a") + field(5, "b") + field(6, "alpha") + field(7, node())
    function += field(9, field(2, 17)) + field(10, "d") + field(11, field(1, "e") + field(3, 1)) + field(13, "o")
    seeds = {
        "none": b"",
        "text": b"hello",
        "raw": initializer(1, [2], field(9, bytes(8))),
        "raw_size": initializer(1, [2], field(9, bytes(7))),
        "raw_strings": initializer(8, [1], field(9, b"b")),
        "raw_and_typed": initializer(1, [1], field(9, bytes(4)) + field(4, bytes(4))),
        "raw_kind": initializer(1, [1], field(9, 1)),
        "floats": initializer(1, [2], field(4, bytes(8))),
        "floats_single": initializer(1, [2], field(4, 1.0) + field(4, 2.0)),
        "floats_ragged": initializer(1, [2], field(4, bytes(7))),
        "doubles": initializer(11, [1], field(10, bytes(8))),
        "complex": initializer(14, [1], field(4, bytes(8))),
        "ints": initializer(7, [3], packed(7, [1, -1, 2**40])),
        "ints_cut": initializer(7, [1], field(7, b"\x01\x80")),
        "bytes": initializer(3, [3], packed(5, [1, -128, 255])),
        "bytes_range": initializer(3, [1], packed(5, [256])),
        "nibbles": initializer(22, [3], packed(5, [33, 3])),
        "six_bits": initializer(27, [1], packed(5, [1])),
        "unsigned": initializer(12, [1], packed(11, [2**32 - 1])),
        "strings": initializer(8, [2], field(6, "a") + field(6, "")),
        "strings_kind": initializer(8, [1], field(6, 1)),
        "typed_twice": initializer(1, [1], field(4, bytes(4)) + packed(7, [1])),
        "typed_other": initializer(7, [1], field(4, bytes(4))),
        "typed_few": initializer(7, [2], packed(7, [1])),
        "empty": initializer(1, [0, 3]),
        "negative": initializer(1, [-1]),
        "overflow": initializer(1, [2**62, 4]),
        "bits": initializer(11, [2**61]),
        "rank": initializer(1, [1] * 9),
        "unknown": initializer(99, [1]),
        "segment": initializer(1, [1], field(3, b"")),
        "external": initializer(1, [2], external(location="w", offset="4", length="8", checksum="0")),
        "external_twice": model(field(5, tensor(2, [1], external(location="w")))
                                + field(5, tensor(2, [1], external(location="w"), "v"))),
        "external_range": initializer(1, [2**20], external(location="w")),
        "external_length": initializer(1, [1], external(location="w", length="5")),
        "external_number": initializer(1, [1], external(location="w", offset="-1")),
        "external_key": initializer(1, [1], external(location="w", key="x")),
        "external_missing": initializer(1, [1], external(location="v")),
        "external_location": initializer(1, [1], external(offset="1")),
        "external_raw": initializer(1, [1], external(location="w") + field(9, bytes(4))),
        "location": initializer(1, [1], field(14, 2)),
        "sparse": model(field(15, field(1, byte))),
        "twice": model(field(5, byte) + field(5, byte)),
        "node_twice": model(field(1, node()) + field(1, node())),
        "no_op": model(field(1, field(2, "y"))),
        "float": with_attribute(1, field(2, 0.5)),
        "int": with_attribute(2, field(3, -1)),
        "string": with_attribute(3, field(4, "s")),
        "tensor": with_attribute(4, field(5, byte)),
        "tensor_none": with_attribute(4, b""),
        "graph": with_attribute(5, field(6, inner)),
        "floats_attribute": with_attribute(6, field(7, bytes(8)) + field(7, 1.0)),
        "ints_attribute": with_attribute(7, packed(8, [1, 2]) + field(8, 3)),
        "strings_attribute": with_attribute(8, field(9, "s")),
        "tensors": with_attribute(9, field(10, byte) + field(10, byte)),
        "graphs": with_attribute(10, field(11, inner)),
        "sparse_attribute": with_attribute(11, field(22, b"")),
        "type": with_attribute(13, field(14, of_tensor)),
        "types": with_attribute(14, field(15, of_tensor)),
        "reference": with_attribute(4, field(21, "outer")),
        "no_type": model(field(1, node(field(5, field(1, "a") + field(3, 1))))),
        "attribute_twice": model(field(1, node(attribute(2, b"") * 2))),
        "of_tensor": value(of_tensor),
        "of_sequence": value(field(4, field(1, of_tensor)) * 2),
        "of_map": value(field(5, field(1, 8) + field(2, of_tensor))),
        "of_sparse": value(field(8, field(1, 1) + shape)),
        "of_optional": value(field(9, field(1, of_tensor))),
        "of_opaque": value(field(7, field(1, "d"))),
        "function": model(field(1, node(op="f") + field(7, "d") + field(8, "o")),
                          field(25, function) + field(14, field(1, "k") + field(2, "v"))),
        "functions": model(b"", field(25, function) * 2),
        "opsets": model(b"", field(8, field(2, 18))),
        "group": b"\x0b",
        "number": b"\x00",
        "fixed": b"\x09" + bytes(8) + b"\x0d" + bytes(3),
        "long": b"\x08" + b"\xff" * 11,
        "length": b"\x3a" + b"\xff" * 9 + b"\x01",
    }
    deep = inner
    for _ in range(80):
        deep = graph(field(1, node(attribute(5, field(6, deep)))))
    seeds["deep"] = model(field(1, node(attribute(5, field(6, deep)))))
    for name, data in seeds.items():
        write("onnx", name, data)


if __name__ == "__main__":
    safetensors()
    gguf()
    om()
    npy()
    onnx()
