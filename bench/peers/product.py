"""Times matrix products with bias and GELU in one peer: one JSON line of their sum.

usage: python product.py --backend ort|ov --sizes MxNxK,MxNxK... [--threads 2] [--budget 2] [--serve]
"""

import argparse

from measure import add_arguments, limit_threads, repeat, report

parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
parser.add_argument("--backend", choices=("ort", "ov"), required=True)
parser.add_argument("--sizes", required=True)
add_arguments(parser)
args = parser.parse_args()
limit_threads(args.threads)

import statistics  # noqa: E402

import numpy as np  # noqa: E402


def onnxruntime_runner(x, w, bias):
    import onnxruntime
    from onnx import TensorProto, helper, numpy_helper

    constants = {"w": w.T, "bias": bias, "root": 2**0.5, "one": 1, "half": 0.5}
    nodes = [
        ("MatMul", "x", "w", "product"),
        ("Add", "product", "bias", "sum"),
        ("Div", "sum", "root", "scaled"),
        ("Erf", "scaled", "erf"),
        ("Add", "erf", "one", "shifted"),
        ("Mul", "sum", "shifted", "twice"),
        ("Mul", "twice", "half", "y"),
    ]
    tensor = helper.make_tensor_value_info
    graph = helper.make_graph(
        [helper.make_node(op, list(names[:-1]), [names[-1]]) for op, *names in nodes],
        "product",
        [tensor("x", TensorProto.FLOAT, x.shape)],
        [tensor("y", TensorProto.FLOAT, (x.shape[0], w.shape[0]))],
        [
            numpy_helper.from_array(np.ascontiguousarray(value, np.float32), name)
            for name, value in constants.items()
        ],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = args.threads
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    binding = session.io_binding()
    binding.bind_cpu_input("x", x)
    binding.bind_output("y")
    return lambda: session.run_with_iobinding(binding)


def openvino_runner(x, w, bias):
    import openvino
    from openvino import opset13 as ops

    parameter = ops.parameter(list(x.shape), np.float32)
    product = ops.matmul(parameter, ops.constant(w), False, True)
    result = ops.gelu(ops.add(product, ops.constant(bias)), "ERF")
    settings = {
        "INFERENCE_NUM_THREADS": args.threads,
        "PERFORMANCE_HINT": "LATENCY",
        "INFERENCE_PRECISION_HINT": "f32",
    }
    model = openvino.Model([result], [parameter])
    request = openvino.Core().compile_model(model, "CPU", settings).create_infer_request()
    request.set_input_tensor(openvino.Tensor(x))
    return request.infer


def main():
    make = {"ort": onnxruntime_runner, "ov": openvino_runner}[args.backend]
    random = np.random.default_rng(0)
    runners = []
    for size in args.sizes.split(","):
        m, n, k = map(int, size.split("x"))
        x, w, bias = (random.standard_normal(dims, np.float32) for dims in ((m, k), (n, k), n))
        runners.append(make(x, w, bias))
        runners[-1]()
    budget = args.budget / len(runners)

    def total():
        return [sum(statistics.median(repeat(run, budget)) for run in runners)]

    report(args, "product", args.sizes, "med_ms", total)


if __name__ == "__main__":
    main()
