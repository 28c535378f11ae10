#!/usr/bin/env python3
"""Installs a build, builds the example against the installed tree and runs it.

usage: run.py BUILD_FOLDER [--models FOLDER]
With the real models where FOLDER has them, else with small ones of random weights.
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(SOURCE / "tests" / "cli"))
import make_models  # noqa: E402

REAL = ("SmolLM2-135M-Instruct.Q4_1.gguf", "all-MiniLM-L6-v2")


def run(*command):
    """Standard output of a command that must succeed."""
    words = [str(word) for word in command]
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        sys.exit("%s\nended with %d:\n%s" % (" ".join(words), done.returncode, done.stdout))
    return done.stdout


def check(condition, message):
    if not condition:
        sys.exit("install: " + message)


def check_tree(prefix):
    """The program, the library and the public headers are there, and no others."""
    check((prefix / "bin/tboost").exists(), "no program")
    headers = {str(path.relative_to(prefix / "include")) for path in prefix.rglob("*.h")}
    public = {str(path.relative_to(SOURCE / "include")) for path in SOURCE.glob("include/**/*.h")}
    check(headers == public, "headers are %s, expected %s" % (sorted(headers), sorted(public)))
    check(run(prefix / "bin/tboost", "--version").startswith("tboost "), "no version")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--models", type=pathlib.Path, default=SOURCE / "models")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        root = pathlib.Path(scratch)
        prefix, example = root / "prefix", root / "example"
        run("cmake", "--install", args.build, "--prefix", prefix)
        check_tree(prefix)
        run("cmake", "-S", SOURCE / "examples", "-B", example, "-DCMAKE_PREFIX_PATH=%s" % prefix)
        run("cmake", "--build", example)
        models = [args.models / name for name in REAL]
        if not all(model.exists() for model in models):
            print("NOT RUN on real models: none in %s" % args.models)
            make_models.make(root / "models")
            models = [root / "models" / name for name in ("llama", "bert")]
        lines = run(example / "embed_and_generate", *models).strip().splitlines()
        print("\n".join(lines))
        similarities = [float(line.split()[-1]) for line in lines[-3:]]
        check(abs(similarities[0] - 1) < 1e-3, "a text is not like itself: %s" % similarities)
        if args.models / REAL[0] in models:
            check(similarities[1] > similarities[2], "similarities %s" % similarities)


if __name__ == "__main__":
    main()
