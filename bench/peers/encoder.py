"""Times one encoder case in one peer and prints it as a JSON line.

usage: python encoder.py --backend BACKEND --model FOLDER --case b1s128|b32s128|ragged
       [--threads 2] [--lengths FILE] [--group 8] [--budget 2] [--serve]
Backends: ort, ort_fused, ort_int8, ort_fused_int8 (onnxruntime: the plain file, the one its BERT
optimiser rewrites, and their dynamic quantisation), ov, ov_bf16 (OpenVINO), ct2, ct2_int8, ct2_bf16
(CTranslate2), torch, torch_bf16 (transformers, eager).
FOLDER is written by build_encoder.py. bBsS is B sequences of S tokens; ragged is one sequence for
each line of FILE, the longest first, in padded batches of --group sequences.
"""

import argparse
import pathlib
import re

from measure import add_arguments, limit_threads, time_and_report

parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
parser.add_argument("--backend", required=True)
parser.add_argument("--model", type=pathlib.Path, required=True)
parser.add_argument("--case", required=True)
parser.add_argument("--lengths", type=pathlib.Path)
parser.add_argument("--group", type=int, default=8)
add_arguments(parser)
args = parser.parse_args()
limit_threads(args.threads)

import numpy as np  # noqa: E402


def feeds(names, ids, mask):
    full = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
    return {name: full[name] for name in names}


def onnxruntime_runner(file):
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = args.threads
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
    session = onnxruntime.InferenceSession(
        args.model / file, options, providers=["CPUExecutionProvider"]
    )
    names = [i.name for i in session.get_inputs()]
    return lambda ids, mask: session.run(None, feeds(names, ids, mask))[0]


def openvino_runner(precision):
    import openvino

    settings = {
        "INFERENCE_NUM_THREADS": args.threads,
        "PERFORMANCE_HINT": "LATENCY",
        "INFERENCE_PRECISION_HINT": precision,
    }
    model = openvino.Core().compile_model(args.model / "model.onnx", "CPU", settings)
    request = model.create_infer_request()
    names = [i.get_any_name() for i in model.inputs]

    def run(ids, mask):
        request.infer(feeds(names, ids, mask), share_inputs=True)
        return request.get_output_tensor(0).data

    return run


def ctranslate2_runner(compute_type):
    import ctranslate2

    encoder = ctranslate2.Encoder(
        str(args.model / "ct2"),
        compute_type=compute_type,
        inter_threads=1,
        intra_threads=args.threads,
    )

    def run(ids, mask):
        rows = [row[:n] for row, n in zip(ids.tolist(), mask.sum(1).tolist())]
        return encoder.forward_batch(rows).last_hidden_state

    return run


def torch_runner(dtype):
    import torch
    import transformers

    torch.set_num_threads(args.threads)
    torch.set_grad_enabled(False)
    model = transformers.BertModel.from_pretrained(
        args.model, add_pooling_layer=False, dtype=getattr(torch, dtype)
    ).eval()

    def run(ids, mask):
        full = bool(mask.all())  # a mask that hides nothing costs torch time
        extra = {} if full else {"attention_mask": torch.from_numpy(mask)}
        return model(input_ids=torch.from_numpy(ids), **extra).last_hidden_state

    return run


# backend: how to make its runner, from what
RUNNERS = {
    "ort": (onnxruntime_runner, "model.onnx"),
    "ort_fused": (onnxruntime_runner, "fused.onnx"),
    "ort_int8": (onnxruntime_runner, "model_int8.onnx"),
    "ort_fused_int8": (onnxruntime_runner, "fused_int8.onnx"),
    "ov": (openvino_runner, "f32"),
    "ov_bf16": (openvino_runner, "bf16"),
    "ct2": (ctranslate2_runner, "float32"),
    "ct2_int8": (ctranslate2_runner, "int8"),
    "ct2_bf16": (ctranslate2_runner, "bfloat16"),
    "torch": (torch_runner, "float32"),
    "torch_bf16": (torch_runner, "bfloat16"),
}


def padded(lengths, random):
    """ids and mask of one batch of random tokens."""
    ids = np.zeros((len(lengths), max(lengths)), np.int64)
    for row, length in zip(ids, lengths):
        row[:length] = random.integers(5, 30000, length)
    return ids, (ids != 0).astype(np.int64)


def batches():
    """The batches of the case."""
    random = np.random.default_rng(0)
    fixed = re.fullmatch(r"b(\d+)s(\d+)", args.case)
    if fixed:
        count, length = map(int, fixed.groups())
        return [padded([length] * count, random)]
    if args.case != "ragged" or not args.lengths:
        parser.error("the case is bBsS, or ragged with --lengths")
    lengths = sorted(map(int, args.lengths.read_text().split()), reverse=True)
    groups = [lengths[i : i + args.group] for i in range(0, len(lengths), args.group)]
    return [padded(group, random) for group in groups]


def main():
    if args.backend not in RUNNERS:
        parser.error("backends are " + ", ".join(RUNNERS))
    make, source = RUNNERS[args.backend]
    run = make(source)
    work = batches()
    time_and_report(args, "encoder", args.case, lambda: [run(*batch) for batch in work])


if __name__ == "__main__":
    main()
