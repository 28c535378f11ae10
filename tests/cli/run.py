#!/usr/bin/env python3
"""Runs the command lines of the tables beside this file and compares what they do.

usage: run.py PROGRAM [--models FOLDER] [TABLE ...]

A table is blocks of lines, a blank line between them; "#" begins a comment.
  $ tboost ...          the command, run in a scratch folder with the models of make_models.py
  needs NAME            a file of FOLDER, linked into the scratch folder; absent: NOT RUN
  stdin TEXT            standard input, with \\n for a newline (default: empty)
  memory MB             limit of the address space
  interrupt SECONDS     SIGINT after so long
  exit N                the exit status (default 0)
  stdout|stderr TEXT    appears there
  stdout~ PATTERN       a regular expression that matches all of standard output
  same N                standard output equals that of the command N places above
  json KEYS             every line of standard output is an object with these keys, in this order
  lines N               so many lines of standard output
  writes FILE ...       exactly these files are new or changed
A command without "writes" must write nothing.
"""

import argparse
import json
import os
import pathlib
import re
import resource
import shlex
import signal
import subprocess
import sys
import tempfile
import time

import make_models

HERE = pathlib.Path(__file__).resolve().parent
TIMEOUT_S = 120


def read_table(path):
    """The blocks of a table: lists of (key, value)."""
    for block in re.split(r"\n\s*\n", path.read_text()):
        lines = [line.strip() for line in block.splitlines()]
        entries = [tuple(line.partition(" ")[::2]) for line in lines if line and line[0] != "#"]
        if entries:
            yield entries


def snapshot(folder):
    """What the files in a folder look like: path -> (size, time)."""
    stats = {path: path.stat() for path in folder.rglob("*") if path.is_file()}
    return {str(p.relative_to(folder)): (s.st_size, s.st_mtime_ns) for p, s in stats.items()}


class Case:
    """One command of a table and what it should do."""

    def __init__(self, entries):
        self.command = shlex.split(dict(entries)["$"])
        self.entries = [entry for entry in entries if entry[0] != "$"]

    def value(self, key, default=None):
        return dict(self.entries).get(key, default)

    def execute(self, program, folder):
        """Runs the command; fills status, stdout, stderr, written."""
        memory = self.value("memory")
        limit = int(memory) << 20 if memory else None
        limits = (lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit))) if limit else None
        before = snapshot(folder)
        interrupt = self.value("interrupt")
        process = subprocess.Popen(
            [program if word == "tboost" else word for word in self.command],
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            preexec_fn=limits,
        )
        if interrupt:
            time.sleep(float(interrupt))
            process.send_signal(signal.SIGINT)
        given = self.value("stdin", "").replace("\\n", "\n").encode()
        try:
            out, err = process.communicate(given, timeout=TIMEOUT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
        self.status = process.returncode
        self.stdout = out.decode(errors="replace")
        self.stderr = err.decode(errors="replace")
        after = snapshot(folder)
        self.written = {path for path in after if after[path] != before.get(path)}

    def problems(self, earlier):
        """What is not as it should be; `earlier`: the commands before this one."""
        if self.status != int(self.value("exit", 0)):
            yield "exit status %d, expected %s" % (self.status, self.value("exit", 0))
        if self.written != set(shlex.split(self.value("writes", ""))):
            yield "wrote %s" % sorted(self.written)
        if self.status and not self.stderr.startswith("tboost: error: ") and self.status != 130:
            yield "a failure without a message"
        for key, value in self.entries:
            check = getattr(self, "check_" + key.replace("~", "_pattern"), None)
            if check and not check(value, earlier):
                yield "%s %s" % (key, value)

    def check_stdout(self, text, _):
        return text in self.stdout

    def check_stderr(self, text, _):
        return text in self.stderr

    def check_stdout_pattern(self, pattern, _):
        return re.fullmatch(pattern, self.stdout, re.DOTALL)

    def check_same(self, number, earlier):
        return self.stdout == earlier[-int(number)].stdout

    def check_lines(self, count, _):
        return self.stdout.count("\n") == int(count)

    def check_json(self, keys, _):
        records = [json.loads(line) for line in self.stdout.splitlines()]
        return records and all(list(record) == keys.split() for record in records)


def run_table(path, program, models, folder):
    """Runs the commands of a table; returns how many failed."""
    failed, done = 0, []
    for entries in read_table(path):
        case = Case(entries)
        done.append(case)
        needed = models / case.value("needs", "")
        if not needed.exists():
            print("NOT RUN (no %s): %s" % (needed, shlex.join(case.command)))
            continue
        if case.value("needs") and not (folder / needed.name).exists():
            (folder / needed.name).symlink_to(needed.resolve())
        case.execute(program, folder)
        problems = list(case.problems(done))
        failed += bool(problems)
        for problem in problems:
            print("FAILED %s: $ %s\n  %s" % (path.name, shlex.join(case.command), problem))
        if problems:
            print("  stdout: %r\n  stderr: %r" % (case.stdout[:600], case.stderr[:600]))
    print("%s: %d commands, %d failed" % (path.name, len(done), failed))
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("--models", type=pathlib.Path, default=HERE.parent.parent / "models")
    parser.add_argument("tables", nargs="*", type=pathlib.Path)
    args = parser.parse_args()
    failed = 0
    for table in args.tables or sorted(HERE.glob("*.txt")):
        with tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(scratch)
            make_models.make(folder)
            failed += run_table(table, args.program.resolve(), args.models, folder)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
