"""What the machine is, and how busy others keep it."""

import os
import pathlib
import platform
import resource
import time

# the flags of /proc/cpuinfo that decide which kernels can run
ISA_FLAGS = ("avx2", "fma", "avx512f", "avx512_vnni", "avx512_bf16", "avx_vnni", "amx_tile")


def allowed_cpus():
    """Logical CPUs that this process may use."""
    return len(os.sched_getaffinity(0))


def describe():
    """The facts that a figure depends on."""
    text = pathlib.Path("/proc/cpuinfo").read_text()
    pairs = (line.partition(":") for line in text.splitlines())
    info = {key.strip(): value.strip() for key, _, value in pairs}
    flags = set(info.get("flags", "").split())
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return {
        "cpu": "%s (family %s, model %s)"
        % tuple(info.get(key, "unknown") for key in ("model name", "cpu family", "model")),
        "cpus": allowed_cpus(),
        "isa": " ".join(flag for flag in ISA_FLAGS if flag in flags),
        "caches": ", ".join(caches()),
        "memory": "%.0f GiB" % memory,
        "system": platform.platform(),
        "load": "%.2f" % os.getloadavg()[0],
    }


def caches():
    """The data caches of CPU 0, such as L2 1024K."""
    found = []
    for index in sorted(pathlib.Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        names = ("level", "type", "size")
        level, kind, size = ((index / name).read_text().strip() for name in names)
        if kind != "Instruction":
            found.append("L%s %s" % (level, size))
    return found


class BusyMeter:
    """Cores that processes other than this one and its children keep busy from now on."""

    def __init__(self):
        self.start = self._read()

    @staticmethod
    def _read():
        with open("/proc/stat") as file:
            ticks = [int(field) for field in file.readline().split()[1:9]]
        busy = sum(ticks) - ticks[3] - ticks[4]  # without idle and iowait
        own = sum(
            usage.ru_utime + usage.ru_stime
            for usage in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
        )
        return time.monotonic(), busy / os.sysconf("SC_CLK_TCK"), own

    def others(self):
        """The average so far."""
        (start, busy0, own0), (now, busy1, own1) = self.start, self._read()
        return max(0.0, (busy1 - busy0) - (own1 - own0)) / max(1e-9, now - start)
