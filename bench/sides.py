"""The two sides of a comparison: processes that measure when it is their turn."""

import json
import os
import shlex
import signal
import subprocess
import tempfile
import threading

UNITS = ("med_ms", "tok_s")
TURN_LIMIT_S = 120  # of a turn, or of getting ready for the first


class Failed(Exception):
    """A side that cannot measure, and why."""


def read_records(lines):
    """The figure, its unit and the other facts of a turn: several records are summed up."""
    records = [json.loads(line) for line in lines if line.startswith("{")]
    units = {unit for record in records for unit in UNITS if unit in record}
    if len(units) != 1:
        raise Failed("expected records of one unit, got %d" % len(units))
    (unit,) = units
    result = {"unit": unit, "value": sum(record[unit] for record in records)}
    if all("limit" in record for record in records):
        result["limit"] = sum(record["limit"] for record in records)
    for fact in ("peak_rss_mb", "planned_mb"):
        if fact in records[-1]:
            result[fact] = records[-1][fact]
    return result


class OneShot:
    """A command that runs anew for each turn."""

    def __init__(self, command):
        self.command = shlex.split(command)

    def turn(self, *further):
        command = [*self.command, *further]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=TURN_LIMIT_S)
        except subprocess.TimeoutExpired:
            raise Failed("nothing after %d s" % TURN_LIMIT_S) from None
        if done.returncode:
            raise Failed(last_line(done.stderr) or "exit status %d" % done.returncode)
        return read_records(done.stdout.splitlines())

    def close(self):
        pass


class Served:
    """A process that stays, and is stopped between its turns so that it does not disturb."""

    def __init__(self, command):
        self.errors = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(
            shlex.split(command),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            text=True,
            process_group=0,
        )
        self.await_line()
        self.signal(signal.SIGSTOP)

    def signal(self, number):
        os.killpg(self.process.pid, number)

    def await_line(self):
        watchdog = threading.Timer(TURN_LIMIT_S, self.signal, [signal.SIGKILL])
        watchdog.start()
        try:
            for line in self.process.stdout:
                if line.startswith("{"):
                    return line
        finally:
            watchdog.cancel()
        self.process.wait()
        self.errors.seek(0)
        raise Failed(last_line(self.errors.read()) or "ended")

    def turn(self):
        self.signal(signal.SIGCONT)
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        line = self.await_line()
        self.signal(signal.SIGSTOP)
        return read_records([line])

    def close(self):
        if self.process.poll() is None:
            self.signal(signal.SIGCONT)
            self.process.stdin.close()
            self.process.wait()
        self.errors.close()


def last_line(text):
    """What a program says went wrong: its last line of an error, or its last line."""
    lines = text.strip().splitlines()
    errors = [line for line in lines if "error" in line.lower()]
    return (errors or lines or [""])[-1][:200]
