"""Writes the goldens of the models; README.md says what each file is.

usage: python make_model_goldens.py [--models FOLDER] [minilm smollm2 gemma3 tiny]

Needs the packages of bench/peers/requirements-torch.txt. FOLDER (default: models/ of the
repository) holds the real models; the tiny ones have random weights and need no file.
"""

import argparse
import pathlib

import torch

from golden_io import REPOSITORY


def minilm(models):
    import minilm_golden

    minilm_golden.make(models / "all-MiniLM-L6-v2")


def smollm2(models):
    import causal_golden

    causal_golden.make("smollm2", models / "SmolLM2-135M-Instruct.Q4_1.gguf")


def gemma3(models):
    import causal_golden

    causal_golden.make("gemma3", models / "gemma-3-270m-q4_k_m.gguf")


def tiny(_):
    import tiny_golden

    tiny_golden.make_all()


MAKERS = {"minilm": minilm, "smollm2": smollm2, "gemma3": gemma3, "tiny": tiny}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--models", type=pathlib.Path, default=REPOSITORY / "models")
    parser.add_argument("which", nargs="*", metavar="NAME", help=", ".join(MAKERS))
    args = parser.parse_args()
    unknown = set(args.which) - set(MAKERS)
    if unknown:
        parser.error("unknown: " + ", ".join(sorted(unknown)))
    torch.set_grad_enabled(False)
    for name in args.which or MAKERS:
        MAKERS[name](args.models)


if __name__ == "__main__":
    main()
