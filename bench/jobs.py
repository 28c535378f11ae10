"""What bench/compare compares: one record a job, and what each has to reach.

The commands name the places of a machine in braces: {tboost} our program, {models} a folder with
the models, {python} the peers' interpreter, {peers} their scripts, {llama} the programs of
llama.cpp, {lengths} a file with the lengths of the ragged case; {threads}, and {budget}, the
seconds of a turn.
"""

import dataclasses
import fnmatch


@dataclasses.dataclass(frozen=True)
class Figure:
    """A ratio, ours to the best of some peers: at most so much of their time, or at least so many
    times their rate."""

    ratio: float
    peers: str = "*"  # a pattern over the names of peers

    def counts(self, peer):
        return fnmatch.fnmatch(peer, self.peers)


@dataclasses.dataclass(frozen=True)
class Job:
    """One comparison. Ours and the peers print JSON lines with med_ms or tok_s; of several lines
    the sum counts, times `streams` for a rate of one of several streams."""

    name: str
    title: str
    ours: str
    peers: dict = dataclasses.field(default_factory=dict)  # name: command
    figures: tuple = ()  # all must be reached ...
    share: float = 0.85  # ... or this share of the machine's limit; 0: there is nothing to reach
    model: str = ""  # that ours runs: a name in MODELS or an encoder
    forms: tuple = ()  # of an encoder or a GGUF file, that the peers need
    streams: int = 1


# of build_encoder.py
ENCODERS = {
    "bert-base": "BERT-base shape",
    "bert-large": "BERT-large shape",
    "minilm": "MiniLM shape",
}
# name: title and file
MODELS = {
    "smollm2": ("SmolLM2 135M", "SmolLM2-135M-Instruct.Q4_1.gguf"),
    "gemma3": ("Gemma 3 270M", "gemma-3-270m-q4_k_m.gguf"),
}

# backend of encoder.py: the peer's name and the form of the model that it needs
BACKENDS = {
    "ort": ("onnxruntime", "onnx"),
    "ort_fused": ("onnxruntime, its BERT optimiser", "fused"),
    "ov": ("OpenVINO", "onnx"),
    "ct2": ("CTranslate2", "ct2"),
    "torch": ("torch eager", "hf"),
    "ort_int8": ("onnxruntime int8", "int8"),
    "ort_fused_int8": ("onnxruntime int8, its BERT optimiser", "fused_int8"),
    "ct2_int8": ("CTranslate2 int8", "ct2"),
    "ov_bf16": ("OpenVINO bf16", "onnx"),
    "ct2_bf16": ("CTranslate2 bf16", "ct2"),
    "torch_bf16": ("torch bf16", "hf"),
}
F32 = ("ort", "ort_fused", "ov", "ct2")
INT8 = ("ort_int8", "ort_fused_int8", "ct2_int8")
BF16 = ("ov_bf16", "ct2_bf16", "torch_bf16")
# What `tboost bench` takes for a case, and its title.
ENCODER_CASES = {
    "b1s128": ("--batch 1 --seq 128", "1 x 128"),
    "b1s512": ("--batch 1 --seq 512", "1 x 512"),
    "b32s128": ("--batch 32 --seq 128", "32 x 128"),
    "ragged": ("--lengths {lengths}", "64 ragged sentences"),
}
# model, type (that ours is compiled to), backends, and the ratio of each case
ENCODER_JOBS = (
    ("bert-base", "f32", F32, {"b1s128": 0.78, "b1s512": 0.82, "b32s128": 0.74, "ragged": 0.72}),
    ("bert-large", "f32", (*F32, "torch"), {"b1s128": 0.80}),
    ("bert-base", "int8", INT8, {"b1s128": 0.90, "b32s128": 0.80, "ragged": 0.85}),
    ("minilm", "f32", F32, {"b1s128": 0.75, "b32s128": 0.75, "ragged": 0.75}),
    ("minilm", "int8", INT8, {"b1s128": 0.85, "ragged": 0.85}),
    ("bert-base", "bf16", BF16, {"b1s128": 0.78, "b32s128": 0.74, "ragged": 0.72}),
    ("minilm", "bf16", BF16, {"b1s128": 0.75, "ragged": 0.75}),
)
FURTHER_FIGURES = {"bert-large": (Figure(0.60, "torch eager"),)}


def encoder_peers(model, case, backends):
    """Ragged sequences are sorted for the peers, which pad them in batches of 8; those that are
    faster one by one get them so too."""
    command = (
        "{python} {peers}/encoder.py --backend %s --model {models}/%s --case %s --threads {threads}"
        " --budget {budget} --serve"
    )
    for backend in backends:
        name, _ = BACKENDS[backend]
        base = command % (backend, model, case)
        if case != "ragged":
            yield name, base
            continue
        yield name, base + " --lengths {lengths} --group 8"
        if "ct2" not in backend and "torch" not in backend:
            yield name + ", one by one", base + " --lengths {lengths} --group 1"


def encoder_jobs():
    for model, dtype, backends, ratios in ENCODER_JOBS:
        for case, ratio in ratios.items():
            options, title = ENCODER_CASES[case]
            yield Job(
                name="%s/%s/%s" % (model, dtype, case),
                title="%s %s, %s" % (ENCODERS[model], dtype, title),
                ours="{tboost} bench {models}/%s --dtype %s %s" % (model, dtype, options),
                peers=dict(encoder_peers(model, case, backends)),
                figures=(Figure(ratio), *FURTHER_FIGURES.get(model, ())),
                model=model,
                forms=tuple(BACKENDS[backend][1] for backend in backends),
            )


# case: what `tboost bench` takes for it, its title, streams
LANGUAGE_CASES = {
    "tg64": ("--streams 1", "decode, 1 stream", 1),
    "tg64x8": ("--streams 8", "decode, 8 streams", 8),
    "tg64x16": ("--streams 16", "decode, 16 streams", 16),
    "pp128": ("--prompt 128", "prefill of 128", 1),
    "pp512": ("--prompt 512", "prefill of 512", 1),
}
SAME = "llama.cpp, same file"
# model, type, title of the type, the forms that llama.cpp runs (its own, or "" for the same file),
# and the figures of each case
LANGUAGE_JOBS = (
    (
        "smollm2",
        "keep",
        "Q4_1",
        ("", "Q4_0", "F16"),
        {
            "tg64": (Figure(2, SAME), Figure(1, "llama.cpp, Q4_0")),
            "tg64x8": (Figure(3, SAME),),
            "tg64x16": (Figure(3, SAME),),
            "pp128": (Figure(3, SAME), Figure(1, "llama.cpp, F16")),
            "pp512": (Figure(3, SAME), Figure(1, "llama.cpp, F16")),
        },
    ),
    (
        "gemma3",
        "keep",
        "Q4_K_M",
        ("",),
        {"tg64": (Figure(1.6, SAME),), "pp512": (Figure(2, SAME),)},
    ),
    ("smollm2", "bf16", "bf16", ("BF16",), {"tg64": (Figure(1),), "pp512": (Figure(1),)}),
    ("smollm2", "int8", "int8", ("Q8_0",), {"tg64": (Figure(1),), "pp512": (Figure(1),)}),
)


def form_file(file, form):
    """Where llama.cpp's own form of a GGUF file lies, below the models."""
    return "requantised/%s-%s.gguf" % (file.removesuffix(".gguf"), form) if form else file


def language_jobs():
    command = (
        "{python} {peers}/llama_cpp.py --bin {llama} --model {models}/%s --case %s "
        "--threads {threads} --repetitions 2 --serve"
    )
    for model, dtype, type_title, forms, cases in LANGUAGE_JOBS:
        title, file = MODELS[model]
        for case, figures in cases.items():
            options, case_title, streams = LANGUAGE_CASES[case]
            yield Job(
                name="%s/%s/%s" % (model, dtype, case),
                title="%s %s, %s" % (title, type_title, case_title),
                ours="{tboost} bench {models}/%s --dtype %s %s" % (file, dtype, options),
                peers={
                    "llama.cpp, " + (form or "same file"): command % (form_file(file, form), case)
                    for form in forms
                },
                figures=figures,
                model=model,
                forms=tuple(form for form in forms if form),
                streams=streams,
            )


# size, causal, figures, share
ATTENTION_JOBS = (
    ("12x64x1024", False, (), 0.72),
    ("12x64x1024", True, (), 0),
    ("12x64x4096", False, (Figure(1 / 3.2, "torch unfused"),), 0.72),
    ("12x64x4096", True, (Figure(0.75, "torch flash"),), 0.72),
)


def attention_jobs():
    for size, causal, figures, share in ATTENTION_JOBS:
        flag = " --causal" if causal else ""
        peer = (
            "{python} {peers}/attention.py --form %s --size %s --threads {threads} "
            "--budget {budget} --serve" + flag
        )
        heads, dim, tokens = size.split("x")
        kind = "causal" if causal else "full"
        peers = {"torch flash": peer % ("flash", size)}
        if not causal:
            peers["torch unfused"] = peer % ("plain", size)
        yield Job(
            name="attention/%s/%s" % (tokens, kind),
            title="attention alone, %s x %s, %s tokens, %s" % (heads, dim, tokens, kind),
            ours="{tboost} bench --attention %s%s" % (size, flag),
            peers=peers,
            figures=figures,
            share=share,
        )


NK = ((768, 768), (2304, 768), (3072, 768), (768, 3072))  # of BERT-base
MANY_ROWS = (128, 512, 4096)
# type of the weights: share of the read bandwidth
ONE_ROW = {"f32": 0.85, "bf16": 0.85, "int8": 0.85, "q4_1": 0.70}


def product_jobs():
    for m in MANY_ROWS:
        sizes = ["%dx%dx%d" % (m, n, k) for n, k in NK]
        peer = (
            "{python} {peers}/product.py --backend %s --sizes %s --threads {threads} "
            "--budget {budget} --serve"
        )
        yield Job(
            name="product/f32/m%d" % m,
            title="f32 products with bias and GELU, %d rows, N and K of BERT-base" % m,
            ours="{tboost} bench --gelu " + " ".join("--product " + size for size in sizes),
            peers={
                "onnxruntime": peer % ("ort", ",".join(sizes)),
                "OpenVINO": peer % ("ov", ",".join(sizes)),
            },
            share=0.88,
        )
    for dtype, share in ONE_ROW.items():
        sizes = ["1x%dx%d:%s" % (n, k, dtype) for n, k in NK]
        yield Job(
            name="product/%s/m1" % dtype,
            title="%s products of one row, weights from memory" % dtype,
            ours="{tboost} bench --cycle 256 " + " ".join("--product " + size for size in sizes),
            share=share,
        )


def all_jobs():
    """Every comparison there is, as Job records."""
    return [*encoder_jobs(), *language_jobs(), *attention_jobs(), *product_jobs()]
