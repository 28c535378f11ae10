"""Times one case in llama.cpp and prints it as a JSON line.

usage: python llama_cpp.py --bin FOLDER --model FILE.gguf --case pp512|tg64|tg64x8 [--threads 2]
       [--repetitions 3] [--serve]
ppN: prefill of N tokens. tgN: N tokens decoded after a context of 64. tgNxS: the same in S streams
at once, where the rate is that of one stream.
"""

import argparse
import json
import pathlib
import re
import resource
import subprocess

from measure import add_arguments, report

CONTEXT = 64
PREFILL = re.compile(r"pp(\d+)")
DECODE = re.compile(r"tg(\d+)")
STREAMS = re.compile(r"tg(\d+)x(\d+)")


def records(program, *options):
    """The JSON lines that a program of llama.cpp prints."""
    done = subprocess.run(
        [str(program), *map(str, options)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode or not lines:
        raise SystemExit("%s ended with %d and no result" % (program.name, done.returncode))
    return [json.loads(line) for line in lines]


def rates(args):
    """Tokens per second of one stream, one value a repetition."""
    common = ["-m", args.model, "-t", args.threads]
    bench = [*common, "-r", args.repetitions, "-o", "jsonl"]
    if match := PREFILL.fullmatch(args.case):
        return records(args.bin / "llama-bench", *bench, "-p", match[1], "-n", 0)[0]["samples_ts"]
    if match := DECODE.fullmatch(args.case):
        found = records(args.bin / "llama-bench", *bench, "-p", 0, "-n", match[1], "-d", CONTEXT)
        return found[0]["samples_ts"]
    if match := STREAMS.fullmatch(args.case):
        new, streams = map(int, match.groups())
        found = records(
            args.bin / "llama-batched-bench",
            *common,
            "-tb",
            args.threads,
            "-npp",
            CONTEXT,
            "-ntg",
            new,
            "-npl",
            streams,
            "-c",
            streams * (CONTEXT + new),
            "--output-format",
            "jsonl",
        )
        return [found[0]["speed_tg"] / streams]
    raise SystemExit("unknown case " + args.case)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("--model", type=pathlib.Path, required=True)
    parser.add_argument("--case", required=True)
    parser.add_argument("--repetitions", type=int, default=3)
    add_arguments(parser)
    args = parser.parse_args()
    who = resource.RUSAGE_CHILDREN
    report(args, args.model.stem, args.case, "tok_s", lambda: rates(args), who)


if __name__ == "__main__":
    main()
