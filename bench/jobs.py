"""What bench/compare compares: one record a job.

The commands name the places of a machine in braces: {tboost} our program, {models} a folder with
the models, {python} the peers' interpreter, {peers} their scripts, {llama} the programs of
llama.cpp, {lengths} a file with the lengths of the ragged case; and {threads}.
"""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Job:
    """One comparison: two commands that print JSON lines, of which the one for `case` counts."""

    model: str
    case: str
    peer_name: str
    ours: str
    peer: str
    default: bool = False

    @property
    def name(self):
        return "%s/%s/%s" % (self.model, self.case, self.peer_name)


ENCODERS = ("minilm", "bert-base", "bert-large")
LANGUAGE_MODELS = {
    "smollm2": "SmolLM2-135M-Instruct.Q4_1.gguf",
    "gemma3": "gemma-3-270m-q4_k_m.gguf",
}
ENCODER_PEERS = {"ort": "onnxruntime", "ov": "openvino", "ct2": "ctranslate2"}
# case: what `tboost bench` takes for it
ENCODER_CASES = {
    "b1s128": "--batch 1 --seq 128",
    "b32s128": "--batch 32 --seq 128",
    "ragged": "--lengths {lengths}",
}
LANGUAGE_CASES = {"pp512": "--prompt 512", "tg64": "--streams 1", "tg64x8": "--streams 8"}


def all_jobs():
    """Every comparison there is, as Job records."""
    for model in ENCODERS:
        for case, options in ENCODER_CASES.items():
            for backend, peer in ENCODER_PEERS.items():
                lengths = " --lengths {lengths}" if case == "ragged" else ""
                yield Job(
                    model,
                    case,
                    peer,
                    "{tboost} bench {models}/%s %s --threads {threads}" % (model, options),
                    "{python} {peers}/encoder.py --backend %s --model {models}/%s --case %s%s "
                    "--threads {threads}" % (backend, model, case, lengths),
                    default=backend == "ort" and model != "bert-large" and case != "ragged",
                )
    for model, file in LANGUAGE_MODELS.items():
        for case, options in LANGUAGE_CASES.items():
            yield Job(
                model,
                case,
                "llama.cpp",
                "{tboost} bench {models}/%s %s --threads {threads}" % (file, options),
                "{python} {peers}/llama_cpp.py --bin {llama} --model {models}/%s --case %s "
                "--threads {threads}" % (file, case),
                default=model == "smollm2" and case != "tg64x8",
            )
