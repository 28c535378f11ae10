"""The records of bench/compare as Markdown tables, and in documents that have a place for them."""

import re
import statistics

BUSY_ABOVE = 0.1  # cores
ALLOWANCE_MB = 25  # what a process may take beyond its weights and its plan

# A document's place for a table: <!-- compare: full --> ... <!-- compare: end -->
PLACE = re.compile(r"(<!-- compare: (full|short) -->\n).*?(<!-- compare: end -->)", re.DOTALL)


def is_time(record):
    return record["unit"] == "med_ms"


def number(value):
    """Three digits at least."""
    return "%.*f" % (2 if value < 10 else 1 if value < 100 else 0, value)


def spread(values):
    """median (smallest..largest)"""
    return "%s (%s..%s)" % tuple(map(number, (statistics.median(values), min(values), max(values))))


def best_peer(record, counts=lambda peer: True):
    """The name of the fastest of the peers that count, or None."""
    medians = {
        name: statistics.median(side["values"])
        for name, side in record["peers"].items()
        if side.get("values") and counts(name)
    }
    return (min if is_time(record) else max)(medians, key=medians.get) if medians else None


def ratio(record, peer):
    """Ours to the peer's, turn by turn: median, least and greatest."""
    theirs = record["peers"][peer]["values"]
    ratios = [a / b for a, b in zip(record["ours"]["values"], theirs)]
    return statistics.median(ratios), min(ratios), max(ratios)


def share(record):
    """Of the machine's limit, or None."""
    if not record.get("limit") or not record["ours"].get("values"):
        return None
    ours = statistics.median(record["ours"]["values"])
    return record["limit"] / ours if is_time(record) else ours / record["limit"]


def meets(record, value, figure):
    return value <= figure if is_time(record) else value >= figure


def reached(record, figures, least_share):
    """yes, no, or - where there is nothing to reach."""
    if not record["ours"].get("values"):
        return "no"
    achieved = share(record)
    if least_share and achieved is not None and achieved >= least_share:
        return "yes"
    if not figures:
        return "no" if least_share else "-"
    for figure in figures:
        peer = best_peer(record, figure.counts)
        if not peer or not meets(record, ratio(record, peer)[0], figure.ratio):
            return "no"
    return "yes"


def ratios_cell(record, figures):
    """The ratio to the best peer, or those that have a figure."""
    cells = []
    for figure in figures or (None,):
        peer = best_peer(record, figure.counts if figure else lambda peer: True)
        if not peer:
            continue
        middle, least, most = ratio(record, peer)
        where = " to " + peer if figure and figure.peers != "*" else ""
        cells.append("%.2f (%.2f..%.2f)%s" % (middle, least, most, where))
    return "; ".join(cells) or "-"


def to_reach_cell(record, figures, least_share):
    sign = "<=" if is_time(record) else ">="
    cells = ["%s %.2f" % (sign, figure.ratio) for figure in figures]
    cells = ["; ".join(cells)] if cells else []
    if least_share:
        cells.append("%d %% of the limit" % round(100 * least_share))
    return " or ".join(cells) or "-"


def memory_cells(record):
    """Ours with what it may take, and the best peer's."""
    ours = record["ours"]
    cell = "%d" % ours["peak_rss_mb"] if "peak_rss_mb" in ours else "-"
    if "planned_mb" in ours:
        cell += " (%d)" % (ours["planned_mb"] + ALLOWANCE_MB)
    peers = [side["peak_rss_mb"] for side in record["peers"].values() if "peak_rss_mb" in side]
    return cell, "%d" % min(peers) if peers else "-"


COLUMNS = {
    "full": (
        "job",
        "unit",
        "ours",
        "best peer",
        "ratio",
        "to reach",
        "limit here",
        "share of it",
        "reached",
        "peak MB (allowed)",
        "least peer's",
    ),
    "short": ("job", "unit", "ours", "best peer", "ratio", "share of the limit", "reached"),
}


def cells(record, job):
    """All columns of a row, by name."""
    busy = " (busy)" if record["other_cpus"] > BUSY_ABOVE else ""
    row = {"job": job.title + busy, "unit": "ms" if is_time(record) else "tok/s"}
    ours = record["ours"]
    row["ours"] = spread(ours["values"]) if ours.get("values") else "failed: " + ours["error"]
    peer = best_peer(record)
    row["best peer"] = (
        "%s: %s" % (peer, spread(record["peers"][peer]["values"])) if peer else "-"
    )
    measured = bool(ours.get("values"))
    row["ratio"] = ratios_cell(record, job.figures) if measured else "-"
    row["to reach"] = to_reach_cell(record, job.figures, job.share)
    row["limit here"] = number(record["limit"]) if record.get("limit") else "-"
    achieved = share(record)
    row["share of it"] = "%d %%" % round(100 * achieved) if achieved else "-"
    row["share of the limit"] = row["share of it"]
    row["reached"] = reached(record, job.figures, job.share)
    row["peak MB (allowed)"], row["least peer's"] = memory_cells(record)
    return row


def row(record, job, kind="full"):
    found = cells(record, job)
    return "| " + " | ".join(found[column] for column in COLUMNS[kind]) + " |"


def heading(kind="full"):
    columns = COLUMNS[kind]
    return "| " + " | ".join(columns) + " |\n|" + "---|" * len(columns)


def table(result, known, kind):
    """The rows of a result in the order of the jobs, and what the machine is."""
    facts = ", ".join("%s: %s" % item for item in result["machine"].items())
    rows = [
        row(result["jobs"][job.name], job, kind) for job in known if job.name in result["jobs"]
    ]
    return "\n".join(["Measured on %s.\n" % facts, heading(kind), *rows]) + "\n"


def write_into(path, result, known):
    """Replaces the tables of a document; whether it has any."""
    text = path.read_text()
    new, count = PLACE.subn(
        lambda place: place[1] + table(result, known, place[2]) + place[3], text
    )
    if new != text:
        path.write_text(new)
    return count > 0
