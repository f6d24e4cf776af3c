"""What the tests of rlar-mpi share: mpirun on this machine, for any user, without a network.

They know the program from its contract, as those of the command line do (tests/cli/support.py).
"""

import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "cli"))

import support  # noqa: E402

PROGRAM = support.PROGRAM + "-mpi"
MPIRUN = shutil.which("mpirun")
TIMEOUT = 180

# Root in a container is all right; as many ranks as asked for, whatever the cores, so one that waits
# inside a solve lets others work; loopback alone.
MPI = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_hwloc_base_binding_policy": "none",
    "OMPI_MCA_mpi_yield_when_idle": "1",
    "OMPI_MCA_btl": "self,vader",
    "OMPI_MCA_oob_tcp_if_include": "lo",
    "OMPI_MCA_btl_vader_backing_directory": "/tmp",
}


def why_not():
    """Why there is nothing to test here, or None."""
    if MPIRUN is None:
        return "no mpirun (scripts/setup mpi installs it)"
    if not os.path.exists(PROGRAM):
        return f"no {PROGRAM} (make mpi builds it)"
    return None


def own_lines(err):
    """What rlar-mpi itself said, without mpirun's own reports."""
    return [line for line in err.splitlines() if line.startswith(("rlar-mpi:", "rlar:"))]


def start(ranks, *args, cwd=None, program=PROGRAM):
    """The program on so many ranks, running, in a process group of its own."""
    return subprocess.Popen([MPIRUN, "-n", str(ranks), program, *map(str, args)], cwd=cwd,
                            env=support.clean_environment(MPI), preexec_fn=support.default_signals,
                            start_new_session=True, stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def finish(process, timeout=TIMEOUT):
    """Its outcome; whoever does not end in time is ended."""
    try:
        out, err = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGTERM)
        process.communicate()
        raise
    return support.Result(process.returncode, out, err.decode("utf-8", "replace"))


def run(ranks, *args, **options):
    return finish(start(ranks, *args, **options))


def of_process(pid):
    """(name, state, parent) of a process; None: it is gone."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    name, rest = text[text.index("(") + 1:text.rindex(")")], text[text.rindex(")") + 2:].split()
    return name, rest[0], int(rest[1])


def rank_processes(launcher):
    """The processes of the ranks that this mpirun has started: {rank: pid}."""
    found = {}
    for entry in Path("/proc").iterdir():
        known = of_process(entry.name) if entry.name.isdigit() else None
        if known is None or known[0] != "rlar-mpi" or known[2] != launcher:
            continue
        try:
            settings = (entry / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        for setting in settings:
            if setting.startswith(b"OMPI_COMM_WORLD_RANK="):
                found[int(setting.split(b"=")[1])] = int(entry.name)
    return found


def is_running(pid):
    """A dead process that nobody has asked about yet is not."""
    known = of_process(pid)
    return known is not None and known[0] == "rlar-mpi" and known[1] not in "ZX"


def catches(pid, number):
    """Has it a handler of its own for this signal?"""
    caught = re.search(r"^SigCgt:\s*(\w+)", Path(f"/proc/{pid}/status").read_text(), re.M).group(1)
    return int(caught, 16) >> (number - 1) & 1 == 1


def end_memory(pid):
    """What it has it keeps; it gets no more."""
    size = int(Path(f"/proc/{pid}/statm").read_text().split()[0]) * resource.getpagesize()
    resource.prlimit(pid, resource.RLIMIT_AS, (size, size))


def end_descriptors(pid, path):
    """Once it has closed this file, the last that it has opened, it can open nothing more."""
    def numbers():
        return [int(entry.name) for entry in Path(f"/proc/{pid}/fd").iterdir() if os.path.realpath(entry) == str(path)]

    if not wait_for(numbers):
        raise TimeoutError(f"{path} is not open")
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (numbers()[0], numbers()[0]))


def open_pipe(path):
    """The writing end of a named pipe, as soon as somebody reads from it."""
    opened = []

    def is_open():
        try:
            opened.append(os.open(path, os.O_WRONLY | os.O_NONBLOCK))
        except OSError:
            return False
        return True

    if not wait_for(is_open):
        raise TimeoutError(f"nobody reads {path}")
    os.set_blocking(opened[0], True)
    return open(opened[0], "wb")


def wait_for(condition, seconds=60):
    """Is it so within this time?"""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if condition():
            return True
        time.sleep(0.05)
    return False


@unittest.skipIf(why_not() is not None, why_not())
class Case(support.Case):
    """A test with a folder of its own, and mpirun."""

    def on_ranks(self, ranks, *args):
        """The run succeeds."""
        result = run(ranks, *args, cwd=self.folder)
        self.assertEqual(result.code, 0, f"{ranks} ranks, {args}\n{result.err}")
        return result

    def fails_on(self, ranks, code, *args, says):
        """The run ends soon with this code and one line that says this, and changes no file."""
        before = support.snapshot(self.folder)
        started = time.monotonic()
        result = run(ranks, *args, cwd=self.folder)
        shown = f"{ranks} ranks, {args}\nexit {result.code}: {result.err}"
        self.assertEqual(result.code, code, shown)
        lines = own_lines(result.err)
        self.assertEqual(len(lines), 1, shown)
        self.assertRegex(lines[0], says, shown)
        self.assertEqual(result.out, b"", shown)
        self.assertEqual(support.snapshot(self.folder), before, "files changed: " + shown)
        self.assertLess(time.monotonic() - started, 30, shown)
