#!/usr/bin/env python3
"""One fit over the ranks of MPI: the same answer, and what it costs.

    bench/ranks.py same [--sets large,yaleb] [--ranks 1,2,3,4]     objective, map and predictions beside those of rlar
    bench/ranks.py weak [--ranks 1,2,3,4] [--each 10000]           so many samples for each rank
    bench/ranks.py hosts [--rate 1gbit]                            four ranks on two hosts: network namespaces, a limited link
    bench/ranks.py solve [--order 6000]                            maps of four ranks that solve together and each alone
    bench/ranks.py table                                           the tables of docs/distributed.md from what was measured,
                                                                   and what the model says of more ranks

Needs build/rlar and build/rlar-mpi (make mpi), NumPy, 2 GB under --scratch, Yale B in the folder RLAR_DATA_DIR, and for
`hosts` root and iproute2. Every rank has one thread. The figures go to docs/results/ranks.json. Where ranks share cores, only CPU seconds mean something.
"""
import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy

import stored

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "reference"))
from read_model import read_model  # noqa: E402  (needs the path above)

FILE = "ranks.json"
ALWAYS = ["--threads", "1", "--json", "-q"]
SETTINGS = ["-p", "solver=paper", "--iters", "30"]
# What is solved together and alone: the program's own solver to its end, a closed form, Algorithm 1. Samples, settings.
SOLVED = {"rlar": (3000, []), "rr": (3000, ["--method", "rr"]), "rlar, paper": (3000, ["-p", "solver=paper", "--iters", "2"]),
          "rlar, paper, eps = 0.001": (3000, ["-p", "solver=paper", "-p", "eps=0.001", "--iters", "2"]),
          "rlar, paper, 9000 samples": (9000, ["-p", "solver=paper", "--iters", "2"])}
# As in tests/mpi/ranks.py: any user, more ranks than cores.
MPI = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
       "OMPI_MCA_hwloc_base_binding_policy": "none", "OMPI_MCA_mpi_yield_when_idle": "1"}
LOOPBACK = {"OMPI_MCA_btl": "self,vader", "OMPI_MCA_oob_tcp_if_include": "lo",
            "OMPI_MCA_btl_vader_backing_directory": "/tmp"}
HOSTS = {"a": "10.99.0.1", "b": "10.99.0.2"}


# ---- Samples ----

def large(folder, samples, features=784, classes=10):
    """Clouds around class centres, a few directions of which tell the classes apart; labels in the last column."""
    path = folder / f"{samples}x{features}.npy"
    if not path.exists():
        rng = numpy.random.default_rng(7)
        centres = rng.normal(size=(classes, features)) * (rng.random(features) < 0.1)
        part = path.with_suffix(".part.npy")
        table = numpy.lib.format.open_memmap(part, "w+", numpy.float64, (samples, features + 1))
        for start in range(0, samples, 5000):
            label = rng.integers(classes, size=min(5000, samples - start))
            table[start:start + len(label), :-1] = centres[label] + rng.normal(size=(len(label), features))
            table[start:start + len(label), -1] = label
        table.flush()
        part.replace(path)
    return path


def data_of(name, folder):
    if name != "yaleb":
        return large(folder, 60000)
    path = Path(os.environ.get("RLAR_DATA_DIR", "")) / "YaleB_32x32.mat"
    if not path.exists():
        sys.exit("bench/ranks.py: YaleB_32x32.mat is not in the folder RLAR_DATA_DIR; set it, or measure --sets large")
    return path


# ---- Runs ----

def watched():
    """On a rank: run the command, and note what it used. `ranks.py --watch FOLDER COMMAND...`"""
    folder, command = sys.argv[2], sys.argv[3:]
    child = subprocess.Popen(command)
    _, status, used = os.wait4(child.pid, 0)
    rank = os.environ.get("OMPI_COMM_WORLD_RANK", "0")
    Path(folder, "used-" + rank).write_text(json.dumps({"cpu": used.ru_utime + used.ru_stime, "kilobytes": used.ru_maxrss}))
    sys.exit(os.waitstatus_to_exitcode(status))


def fit(data, ranks, folder, extra=(), launcher=None, settings=SETTINGS):
    """ranks 0: the plain program. The answer of --json, with what the ranks used."""
    for old in folder.glob("used-*"):
        old.unlink()
    model = folder / "model.rlar"
    program = str(ROOT / "build" / ("rlar-mpi" if ranks else "rlar"))
    command = [sys.executable, str(Path(__file__).resolve()), "--watch", str(folder), program, "fit", str(data),
               "-o", str(model), *settings, *ALWAYS, *extra]
    environment = dict(os.environ, **MPI)
    if ranks and launcher is None:
        environment.update(LOOPBACK)
        command = ["mpirun", "-n", str(ranks)] + command
    elif ranks:
        command = launcher + command
    started = time.monotonic()
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True)
    answer = json.loads(done.stdout)
    used = [json.loads(path.read_text()) for path in sorted(folder.glob("used-*"))]
    return {"seconds": time.monotonic() - started, "fit_seconds": answer["seconds"], "objective": answer["objective"],
            "cpu": sum(one["cpu"] for one in used), "kilobytes": max(one["kilobytes"] for one in used),
            "traffic": answer.get("traffic"), "solve": answer.get("solve"), "n": answer["n"], "d": answer["d"]}


def predictions(folder, data):
    return subprocess.run([str(ROOT / "build" / "rlar"), "predict", str(folder / "model.rlar"), str(data), "-q"],
                          stdout=subprocess.PIPE, check=True).stdout


def note(key, row):
    stored.add(FILE, key, row)
    print(key, json.dumps({k: v for k, v in row.items() if k != "traffic"}), flush=True)


def same(options):
    for name in options.sets.split(","):
        data = data_of(name, options.scratch)
        plain = fit(data, 0, options.scratch)
        model, answers = (options.scratch / "model.rlar").read_bytes(), predictions(options.scratch, data)
        note(f"same {name} 0", plain)
        for ranks in map(int, options.ranks.split(",")):
            row = fit(data, ranks, options.scratch, ["--deterministic"])
            row["same_bytes"] = (options.scratch / "model.rlar").read_bytes() == model
            row["gap"] = abs(row["objective"] - plain["objective"]) / plain["objective"]
            row["same_predictions"] = predictions(options.scratch, data) == answers
            note(f"same {name} {ranks}", row)


def weak(options):
    for ranks in map(int, options.ranks.split(",")):
        data = large(options.scratch, options.each * ranks)
        note(f"weak {ranks}", fit(data, ranks, options.scratch))


# ---- Large systems ----

def solve(options):
    """How far maps are apart that were made with ScaLAPACK and without, relative to the largest entry."""
    for name, (samples, settings) in SOLVED.items():
        data = large(options.scratch, samples, options.order, 4)
        maps, rows = {}, {}
        for how in ("replicated", "distributed"):
            rows[how] = fit(data, 4, options.scratch, ["--solve", how], settings=settings)
            assert rows[how]["solve"] == how, rows[how]
            maps[how] = read_model(options.scratch / "model.rlar")["W"]
        alone = maps["replicated"]
        apart = float(abs(maps["distributed"] - alone).max() / abs(alone).max())
        note(f"solve {options.order} {name}", {"apart": apart, **{how: row["seconds"] for how, row in rows.items()}})


# ---- Two hosts ----

def run_all(commands):
    for command in commands:
        subprocess.run(command.split(), check=True)


def connect(rate):
    """Two network namespaces, joined by a cable of that rate."""
    run_all(f"ip netns add rlar-{h}" for h in HOSTS)
    run_all(["ip link add veth-a netns rlar-a type veth peer name veth-b netns rlar-b"])
    for h, address in HOSTS.items():
        run_all([f"ip -n rlar-{h} link set lo up", f"ip -n rlar-{h} link set veth-{h} up",
                 f"ip -n rlar-{h} addr add {address}/24 dev veth-{h}",
                 f"tc -n rlar-{h} qdisc add dev veth-{h} root tbf rate {rate} burst 1mbit latency 50ms"])


def disconnect():
    for h in HOSTS:
        subprocess.run(["ip", "netns", "del", f"rlar-{h}"], stderr=subprocess.DEVNULL, check=False)


def on_two_hosts(folder):
    """mpirun on the one; what it would do by ssh on the other is done in its namespace, under a name of its own."""
    agent = folder / "agent"
    agent.write_text('#!/bin/sh\nshift\nexec ip netns exec rlar-b unshare --uts sh -c "hostname rlar-b; $*"\n')
    agent.chmod(0o755)
    hosts = ",".join(f"{address}:2" for address in HOSTS.values())
    return ["ip", "netns", "exec", "rlar-a", "unshare", "--uts", "sh", "-c", 'hostname rlar-a; exec "$@"', "sh", "mpirun",
            "--mca", "plm_rsh_agent", str(agent), "--host", hosts, "--mca", "btl", "self,vader,tcp",
            "--mca", "btl_tcp_if_include", "10.99.0.0/24", "--mca", "oob_tcp_if_include", "10.99.0.0/24", "-n", "4"]


def sent_over_the_cable():
    folder = "/sys/class/net/veth-%s/statistics/tx_bytes"
    return sum(int(subprocess.check_output(["ip", "netns", "exec", f"rlar-{h}", "cat", folder % h])) for h in HOSTS)


def hosts(options):
    data = large(options.scratch, options.samples)
    disconnect()
    try:
        connect(options.rate)
        row = fit(data, 4, options.scratch, launcher=on_two_hosts(options.scratch))
        row["cable_bytes"] = sent_over_the_cable()
    finally:
        disconnect()
    note(f"hosts {options.rate} {options.samples}", row)
    note(f"hosts none {options.samples}", fit(data, 4, options.scratch))


# ---- Tables ----

def same_table(rows):
    lines = ["| data | ranks | seconds | CPU s of all | of the plain program's | MB of the largest rank | objective apart | model | predictions |",
             "|---" * 9 + "|"]
    for name, title in (("large", "60000 x 784"), ("yaleb", "Yale B, 2414 x 1024")):
        plain = rows.get(f"same {name} 0")
        for ranks in range(5):
            row = rows.get(f"same {name} {ranks}")
            if row is None:
                continue
            compared = ["", "", ""] if ranks == 0 else [
                "%.1e" % row["gap"], "the same bytes" if row["same_bytes"] else "other digits",
                "the same" if row["same_predictions"] else "others"]
            lines.append("| %s | %s | %.1f | %.1f | %.2f | %.0f | %s |" % (
                title, ranks or "`rlar`", row["seconds"], row["cpu"], row["cpu"] / plain["cpu"], row["kilobytes"] / 1024,
                " | ".join(compared)))
    replace("same", lines)


def replace(mark, lines):
    stored.replace_between(ROOT / "docs" / "distributed.md", f"<!-- {mark} -->", "<!-- end -->", "\n".join(lines))


def solve_table(rows):
    lines = ["| d | fit | maps apart, of the largest entry | seconds, each alone | together |", "|---" * 5 + "|"]
    for key in (key for key in rows if key.startswith("solve ")):
        row, (_, order, name) = rows[key], key.split(" ", 2)
        lines.append("| %s | %s | %.1e | %.1f | %.1f |" % (order, name, row["apart"], row["replicated"], row["distributed"]))
    replace("solve", lines)


def weak_table(rows):
    lines = ["| ranks | samples | seconds | CPU s of all | MB of the largest rank | MB that an iteration moves |", "|---" * 6 + "|"]
    for key in sorted(key for key in rows if key.startswith("weak ")):
        row = rows[key]
        moved = row["traffic"]["bytes_per_iteration"]["all"] / 1e6 if row["traffic"] else 0
        lines.append("| %s | %d | %.1f | %.1f | %.0f | %.1f |" % (
            key.split()[1], row["n"], row["seconds"], row["cpu"], row["kilobytes"] / 1024, moved))
    replace("weak", lines)


def hosts_table(rows):
    lines = ["| link between two hosts of two ranks | samples | seconds | CPU s of all | MB over it |", "|---" * 5 + "|"]
    for key in sorted(key for key in rows if key.startswith("hosts ")):
        row, rate = rows[key], key.split()[1]
        lines.append("| %s | %d | %.1f | %.1f | %s |" % (
            "one host" if rate == "none" else rate, row["n"], row["seconds"], row["cpu"],
            "%.0f" % (row["cable_bytes"] / 1e6) if "cable_bytes" in row else ""))
    replace("hosts", lines)


# Of a rank: operations a second in a factor; bytes a second and seconds of a message.
RATE, BANDWIDTH, LATENCY = 50e9, 1.25e9, 20e-6


def predicted(ranks, share, per_sample, d=784, c=10, k=7):
    """Seconds of an iteration of solver=paper, d x d systems by every rank: work, and what is waited for. Sums go to rank 0
    in log2(ranks) steps and come back in as many. A class lies on ranks / c of them, which fetch samples of each other."""
    work = per_sample * share + d**3 / 3 / RATE
    steps = 2 * numpy.ceil(numpy.log2(ranks))
    sums = steps * (8 * (d * (d + 1) / 2 + 2 * d * c) / BANDWIDTH + 3 * LATENCY)
    return work, sums, 16 * k * d * share * max(0.0, 1 - c / ranks) / BANDWIDTH


def model_table(rows):
    plain = rows["same large 0"]
    per_sample = plain["fit_seconds"] / 30 / plain["n"]
    lines = ["| ranks | 60,000 samples for each: work | sums | fetched | 10 million in all: work | sums | fetched | faster than 16 |",
             "|---" * 8 + "|"]
    first = None
    for ranks in (16, 32, 64, 128, 256, 512, 1024):
        own = predicted(ranks, 60000, per_sample)
        shared = predicted(ranks, 1e7 / ranks, per_sample)
        first = first or sum(shared)
        lines.append("| %d | %.2f s | %.3f s | %.2f s | %.2f s | %.3f s | %.2f s | %.1f x |" % (
            ranks, *own, *shared, first / sum(shared)))
    replace("model", lines)


def table(_):
    rows = stored.load(FILE)
    same_table(rows)
    solve_table(rows)
    weak_table(rows)
    hosts_table(rows)
    model_table(rows)


def main():
    if sys.argv[1:2] == ["--watch"]:
        watched()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["same", "weak", "hosts", "solve", "table"])
    parser.add_argument("--sets", default="large,yaleb")
    parser.add_argument("--ranks", default="1,2,3,4")
    parser.add_argument("--each", type=int, default=10000, help="samples of a rank (weak)")
    parser.add_argument("--samples", type=int, default=20000, help="of all ranks (hosts)")
    parser.add_argument("--order", type=int, default=6000, help="features (solve)")
    parser.add_argument("--rate", default="1gbit")
    parser.add_argument("--scratch", type=Path, default=Path("/tmp/rlar-ranks"))
    options = parser.parse_args()
    options.scratch.mkdir(parents=True, exist_ok=True)
    {"same": same, "weak": weak, "hosts": hosts, "solve": solve, "table": table}[options.what](options)


if __name__ == "__main__":
    main()
