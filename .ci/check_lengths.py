"""Reports long files and functions, and fails on those beyond the limits of CONTRIBUTING.md.

Files: look twice at 600 lines, never over 1000. Functions: 60 lines, 120 for a kernel's body.
"""
import re
import statistics
import subprocess
import sys

FILE_LOOK, FILE_LIMIT = 600, 1000
FUNCTION_LOOK, FUNCTION_LIMIT = 60, 120
def functions(files):
    """(file, first line, name, length) of every function, by Universal Ctags."""
    command = ["ctags", "--fields=+ne", "--c++-kinds=f", "--languages=C++", "--sort=no", "-f", "-"]
    for line in subprocess.check_output(command + files, text=True).splitlines():
        start, end = re.search(r"\bline:(\d+)", line), re.search(r"\bend:(\d+)", line)
        if start and end:
            name, path = line.split("\t")[:2]
            yield path, int(start[1]), name, int(end[1]) - int(start[1]) + 1


def main():
    files = subprocess.check_output(["git", "ls-files", "*.cc", "*.h", "*.py"], text=True).split()
    bad, file_lengths, function_lengths = 0, [], []
    for path in files:
        lines = open(path).read().splitlines()
        file_lengths.append(len(lines))
        if len(lines) > FILE_LOOK:
            print("%s: %d lines" % (path, len(lines)))
            bad += len(lines) > FILE_LIMIT
    for path, start, name, length in functions([f for f in files if not f.endswith(".py")]):
        function_lengths.append(length)
        if length > FUNCTION_LOOK:
            print("%s:%d: %s: %d lines" % (path, start, name, length))
            bad += length > FUNCTION_LIMIT
    p90 = lambda values: sorted(values)[len(values) * 9 // 10]
    print("lengths: %d files, median %d, p90 %d; %d functions, median %d, p90 %d; %d beyond the limits" % (
        len(files), statistics.median(file_lengths), p90(file_lengths), len(function_lengths),
        statistics.median(function_lengths), p90(function_lengths), bad))
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
