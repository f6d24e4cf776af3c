"""The processes that are measured: the driver (the library) and the peers (Python), each kept alive
and asked over pipes, one line per question and answer."""
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


class BenchError(Exception):
    """A partner could not do what it was asked."""


class Partner:
    def __init__(self, command, environment):
        self.name = os.path.basename(command[-1])
        self.process = subprocess.Popen(command, env={**os.environ, **environment}, text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def exchange(self, line):
        try:
            self.process.stdin.write(line + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # the reading below finds the end
        answer = self.process.stdout.readline()
        if not answer:
            raise BenchError("%s died at: %s" % (self.name, line[:200]))
        answer = json.loads(answer)
        if "error" in answer:
            raise BenchError("%s: %s (at: %s)" % (self.name, answer["error"], line[:200]))
        return answer

    def cpu_seconds(self):
        """Of the whole life of the process, with its ended children."""
        try:
            with open("/proc/%d/stat" % self.process.pid, encoding="ascii") as file:
                fields = file.read().rpartition(")")[2].split()
        except OSError:
            return 0.0
        return sum(int(field) for field in fields[11:15]) / os.sysconf("SC_CLK_TCK")

    def close(self):
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass
        self.process.stdout.close()
        self.process.wait()


class Driver(Partner):
    """bench/driver.c: driver("fit", data="x", method="rr")."""

    def __init__(self, program):
        super().__init__([program], {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"})

    def __call__(self, verb, **words):
        line = " ".join([verb] + ["%s=%s" % pair for pair in words.items() if pair[1] is not None])
        if any(len(str(value).split()) > 1 for value in words.values()):
            raise BenchError("the driver's words have no blanks: %s" % line)
        return self.exchange(line)


def peer_environment(kernel, threads):
    """What makes a peer's BLAS run our kernel on so many threads."""
    environment = {"OPENBLAS_NUM_THREADS": str(threads), "OMP_NUM_THREADS": str(threads)}
    return {**environment, "OPENBLAS_CORETYPE": kernel} if kernel else environment


class Peers(Partner):
    """bench/peers.py in that environment."""

    def __init__(self, kernel, threads):
        super().__init__([sys.executable, os.path.join(HERE, "peers.py")],
                         peer_environment(kernel, threads))

    def __call__(self, verb, **words):
        return self.exchange(json.dumps({"do": verb, **words}))
