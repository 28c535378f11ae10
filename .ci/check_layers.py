"""Checks the direction of dependencies: a file includes only its own folder, strictly lower levels of
LAYERS, and include/. Tests, benchmarks and fuzzers are exempt. Public headers include public headers alone.
"""
import os
import re
import subprocess
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"')
EXEMPT = re.compile(r"_(test|bench|fuzz)\.cc$")


def read_layers():
    """Folder: level, from the file LAYERS."""
    layers = {}
    for line in open("LAYERS"):
        words = line.split("#")[0].split()
        if words:
            layers[words[1]] = int(words[0])
    return layers


def layer_of(path, layers):
    """The folder of LAYERS that holds `path`."""
    return next((folder for folder in layers if path.startswith(folder + "/")), None)


def complaint(path, included, layers):
    """Why `path` may not include `included`; None if it may."""
    if path.startswith("include/"):
        ok = included.startswith("tboost/")
        return None if ok else "a public header includes an internal one"
    if included.startswith("tboost/"):
        return None
    own, other = layer_of(path, layers), layer_of(included, layers)
    if other is None:
        return "%s is in no folder of LAYERS" % included
    if own == other or layers[other] < layers[own]:
        return None
    return "%s (level %d) is not below %s (level %d)" % (other, layers[other], own, layers[own])


def main():
    layers = read_layers()
    files = subprocess.check_output(["git", "ls-files", "*.cc", "*.h", "*.inc"], text=True).split()
    bad = 0
    for path in files:
        checked = path.startswith("include/") or layer_of(path, layers)
        if not checked or EXEMPT.search(path) or not os.path.exists(path):
            continue
        for number, line in enumerate(open(path), 1):
            match = INCLUDE.match(line)
            why = match and complaint(path, match.group(1), layers)
            if why:
                print("%s:%d: %s" % (path, number, why))
                bad += 1
    print("layers: %d files, %d wrong includes" % (len(files), bad))
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
