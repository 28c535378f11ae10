"""The main job on two real models: compile, answer a prompt, embed sentences, and what it took.

usage: demo.py TBOOST     (the program; run from the root of the checkout)
"""
import json
import math
import os
import subprocess
import sys
import tempfile

GENERATOR = ("models/SmolLM2-135M-Instruct.Q4_1.gguf", "out/smollm2.om")
EMBEDDER = ("models/all-MiniLM-L6-v2", "out/minilm.om")
PROMPT = "Name three planets and say one thing about each."
SENTENCES = [
    "A cat sleeps on the warm windowsill.",
    "The kitten is napping in the sun.",
    "Interest rates rose by a quarter point.",
    "The central bank tightened its policy.",
    "She plays the violin in an orchestra.",
]


def say(text):
    print("\n\033[1m%s\033[0m\n" % text if sys.stdout.isatty() else "\n%s\n" % text, flush=True)


def run(*command, text=None):
    """Runs the program and returns what it prints."""
    return subprocess.run(command, input=text, check=True, text=True, stdout=subprocess.PIPE).stdout


def compile_model(program, source, target):
    """Compiles unless the .om is newer than the program and the model."""
    files = [program, source]
    if os.path.exists(target) and all(os.path.getmtime(f) < os.path.getmtime(target) for f in files):
        print("%s is up to date" % target)
        return
    subprocess.run([program, "compile", source, "-o", target], check=True)


def similarity_table(vectors):
    for i, row in enumerate(vectors):
        cells = "".join("%7.2f" % sum(a * b for a, b in zip(row, other)) for other in vectors)
        print("  %d %-42s%s" % (i + 1, SENTENCES[i], cells))


def bench(program, model, *arguments):
    """The JSON lines of `tboost bench`, by case."""
    lines = run(program, "bench", model, *arguments).splitlines()
    return {record["case"]: record for record in map(json.loads, lines)}


def predicted_mb(program, model, tokens):
    memory = json.loads(run(program, "inspect", model, "--json"))["memory"]
    pages = math.ceil(tokens / memory["kv_page_tokens"]) if memory["kv_page"] else 0
    total = memory["weights"] + memory["working"] + memory["fixed"] + pages * memory["kv_page"]
    return total / 2**20


def report(program):
    """What running took, beside what was predicted."""
    load = bench(program, EMBEDDER[1], "--load")["load"]
    embed = bench(program, EMBEDDER[1], "--batch", "32", "--seq", "32")["b32s32"]
    rate = 32e3 / embed["med_ms"]
    print("  %-28s load %6.1f ms   %7.1f sentences/s of 32 tokens   peak %4.0f MB, predicted %4.0f MB" % (
        EMBEDDER[1], load["med_ms"], rate, embed["peak_rss_mb"], predicted_mb(program, EMBEDDER[1], 0)))
    load = bench(program, GENERATOR[1], "--load")["load"]
    text = bench(program, GENERATOR[1], "--prompt", "128", "--streams", "1")
    print("  %-28s load %6.1f ms   %7.1f tokens/s, prompt %7.1f tokens/s   peak %4.0f MB, predicted %4.0f MB" % (
        GENERATOR[1], load["med_ms"], text["tg64"]["tok_s"], text["pp128"]["tok_s"],
        text["tg64"]["peak_rss_mb"], predicted_mb(program, GENERATOR[1], 192)))


def main():
    program = sys.argv[1]
    os.makedirs("out", exist_ok=True)
    say("1. Compile each model to one file")
    for source, target in (EMBEDDER, GENERATOR):
        compile_model(program, source, target)
    say("2. Ask %s: %s" % (GENERATOR[1], PROMPT))
    subprocess.run([program, "generate", GENERATOR[1], "--chat", "-p", PROMPT, "--max-tokens", "96"],
                   check=True)
    say("3. Embed %d sentences with %s: how alike they are" % (len(SENTENCES), EMBEDDER[1]))
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write("\n".join(SENTENCES) + "\n")
        file.flush()
        lines = run(program, "embed", EMBEDDER[1], file.name).splitlines()
    similarity_table([json.loads(line)["embedding"] for line in lines])
    say("4. What it took")
    report(program)


if __name__ == "__main__":
    main()
