#!/usr/bin/env python3
"""Compares docs/cli.md with the help of the program: commands, options, exit codes.

usage: docs.py PROGRAM
"""

import pathlib
import re
import subprocess
import sys

DOCS = pathlib.Path(__file__).resolve().parent.parent.parent / "docs" / "cli.md"


def help_of(program, *command):
    done = subprocess.run([program, *command, "--help"], stdout=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit("%s --help ended with %d" % (" ".join(command), done.returncode))
    return done.stdout


def options(text):
    return set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", text))


def main():
    program = sys.argv[1]
    docs = DOCS.read_text()
    # told once for all commands that run a model
    common = options(docs.partition("\n## ")[0]) | {"--help", "--version"}
    problems = []
    overview = help_of(program)
    codes = re.findall(r"^  (\d+) +(.*)$", overview.partition("Exit codes:")[2], re.MULTILINE)
    table = re.findall(r"^\| (\d+) \| (.*) \|$", docs, re.MULTILINE)
    if not codes or codes != table:
        problems.append("exit codes: the program has %s, the page %s" % (codes, table))
    listed = overview.partition("Subcommands:")[2].partition("\n\n")[0]
    commands = re.findall(r"^  ([a-z]+) ", listed, re.MULTILINE)
    sections = dict(re.findall(r"^## (\w+)\n(.*?)(?=^## |\Z)", docs, re.MULTILINE | re.DOTALL))
    if set(commands) != set(sections) - {"Exit"} or len(commands) < 10:
        problems.append("commands: %s in the program, %s in the page" % (commands, list(sections)))
    for command in commands:
        text = help_of(program, command)
        if "Examples:\n  " not in text or "tboost " + command not in text:
            problems.append("%s --help has no example" % command)
        real = options(text.partition("Examples:")[0]) - common
        told = options(sections.get(command, "")) - common
        for option in sorted(real - told):
            problems.append("%s %s is not in the page" % (command, option))
        for option in sorted(told - real):
            problems.append("%s %s is only in the page" % (command, option))
    print("\n".join(problems) or "docs/cli.md agrees with the program")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
