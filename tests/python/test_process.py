"""Threads, Ctrl-C, forks, memory: the package as a guest in a Python process."""
import ctypes
import gc
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

import rlar
from support import IRIS, WINE, TestCase, model_bytes

CYCLES = 10_000
OPENMP = Path("/usr/lib/x86_64-linux-gnu/openblas-openmp/libopenblas.so.0")


def resident():
    """Bytes of memory that the process holds."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class MallocInfo(ctypes.Structure):
    """glibc's struct mallinfo2."""
    _fields_ = [(name, ctypes.c_size_t) for name in (
        "arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost")]


def allocated():
    """Bytes that malloc has given out and not got back, exactly; None without glibc 2.33.

    Python's own small objects are not among them: sys.getallocatedblocks counts those.
    """
    info = getattr(ctypes.CDLL(None), "mallinfo2", None)
    if info is None:
        return None
    info.restype = MallocInfo
    found = info()
    return found.uordblks + found.hblkhd


def blobs(n, d, classes):
    random = np.random.default_rng(0)
    y = np.arange(n) % classes
    return random.normal(size=(n, d)) + y[:, None], y


def fit_wine(_=None):
    return model_bytes(rlar.RLAR(n_jobs=2).fit(*WINE))


class Threads(TestCase):
    def test_fits_at_once_give_the_same(self):
        estimators = [rlar.RLAR(), rlar.LFDA(), rlar.RFS(n_jobs=2), rlar.MPDA()]
        alone = [model_bytes(e.fit(*WINE)) for e in estimators]
        for _ in range(5):
            with ThreadPoolExecutor(4) as pool:
                together = list(pool.map(lambda e: model_bytes(e.fit(*WINE)), estimators))
            self.assertEqual(together, alone)

    def test_one_model_for_many_threads(self):
        X, y = WINE
        fitted = rlar.RLAR().fit(X, y)
        want = fitted.decision_function(X)
        with ThreadPoolExecutor(4) as pool:
            for scores in pool.map(lambda _: fitted.decision_function(X), range(200)):
                np.testing.assert_array_equal(scores, want)

    def test_other_threads_run_during_a_fit(self):
        """The GIL is released: another thread counts while one call into the library is under way."""
        X, y = blobs(1500, 600, 5)
        ticks = []
        done = threading.Event()

        def tick():
            while not done.wait(0.002):
                ticks.append(time.monotonic())

        ticker = threading.Thread(target=tick)
        ticker.start()
        begin = time.monotonic()
        rlar.RLAR(iters=10).fit(X, y)
        end = time.monotonic()
        done.set()
        ticker.join()
        within = [t for t in ticks if begin < t < end]
        self.assertGreater(len(within), 0.05 * (end - begin) / 0.002)

    def test_models_keep_no_threads(self):
        before = len(os.listdir("/proc/self/task"))
        models = [rlar.RLAR(n_jobs=4).fit(*WINE) for _ in range(10)]
        self.assertEqual(len(os.listdir("/proc/self/task")), before)
        del models

    def test_fork(self):
        want = fit_wine()
        with multiprocessing.get_context("fork").Pool(2) as pool:
            self.assertEqual(pool.map(fit_wine, range(4)), [want] * 4)


# A model, and what it was made with.
ALONE = """
import sys
import rlar
X, y = rlar.datasets.load_wine(return_X_y=True)
model = rlar.RLAR().fit(X, y)
used = rlar.blas()
sys.stdout.buffer.write(model._model.to_bytes() + "|".encode() + " ".join((used["library"], used["chosen"], used["kernel"])).encode())
"""
# The same in a process that has loaded the OpenMP build itself, on top of the pthread build that NumPy came with.
BESIDE = "import ctypes, sys\nimport numpy\nctypes.CDLL(sys.argv[1])" + ALONE


# Kernels for processors that have AVX2; the host's may be another of them than ours, and is as fast.
MODERN = ("Haswell", "Zen", "SkylakeX", "Cooperlake", "Sapphirerapids")


class Blas(TestCase):
    def test_right_kernel_beside_numpy(self):
        found = rlar.blas()
        if found["chosen"] == "rlar":
            self.assertEqual(found["kernel"], found["wanted"])

    @unittest.skipUnless(OPENMP.exists(), "the OpenMP build of OpenBLAS is not installed")
    def test_beside_a_loaded_openmp_build(self):
        """It can be used as it is: other copies would be, with the host's threads. Where OpenBLAS does not know the
        processor the host's copy has a slow kernel: that is told, and the bits are those of that kernel."""
        done = subprocess.run([sys.executable, "-c", BESIDE, OPENMP], check=True, capture_output=True)
        model, used = done.stdout.rsplit(b"|", 1)
        library, chosen, kernel = used.decode().split()
        self.assertEqual((library, chosen), (rlar.blas()["library"], "host"))
        slow = rlar.blas()["wanted"] and kernel not in MODERN
        (self.assertIn if slow else self.assertNotIn)(f"runs its {kernel} kernel", done.stderr.decode())
        own = subprocess.run([sys.executable, "-W", "ignore", "-c", ALONE], check=True, capture_output=True,
                             env=dict(os.environ, OPENBLAS_CORETYPE=kernel))
        self.assertEqual(own.stdout.rsplit(b"|", 1)[1].split()[2].decode(), kernel)
        self.assertTrue(own.stdout.rsplit(b"|", 1)[0] == model, "other bits")


class Interrupt(TestCase):
    def test_control_c_ends_a_fit(self):
        X, y = blobs(2000, 800, 4)
        estimator = rlar.RLAR(solver="paper", iters=100000)  # which does not end by itself
        timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
        old = signal.signal(signal.SIGINT, signal.default_int_handler)
        self.addCleanup(signal.signal, signal.SIGINT, old)
        self.addCleanup(timer.cancel)
        timer.start()
        begin = time.monotonic()
        with self.assertRaises(KeyboardInterrupt):
            estimator.fit(X, y)
        self.assertLess(time.monotonic() - begin, 30)
        self.assertFalse(hasattr(estimator, "classes_"))

    def test_an_exception_in_the_progress_ends_a_fit(self):
        class Stubborn(rlar.RLAR):
            def _show_progress(self, done, total, objective):
                raise LookupError("enough after %d" % done)

        with self.assertRaisesRegex(LookupError, "enough after 1"):
            Stubborn(verbose=1).fit(*IRIS)


class Memory(TestCase):
    def assert_flat(self, cycle, cycles, limit):
        """The bytes of a block for every tenth cycle are a leak; so are limit bytes more of the process."""
        for _ in range(cycles // 10):
            cycle()
        gc.collect()
        before = resident(), allocated(), sys.getallocatedblocks()
        for _ in range(cycles):
            cycle()
        gc.collect()
        self.assertLess(resident() - before[0], limit)
        if before[1] is not None:
            self.assertLess(allocated() - before[1], 2 * cycles)  # the smallest block has 24 bytes
        self.assertLess(sys.getallocatedblocks() - before[2], 500 + cycles // 10)  # caches take some hundred

    def test_no_leak_in_fit_and_predict(self):
        X, y = IRIS
        for estimator, cycles in ((rlar.LDA(), CYCLES), (rlar.RLAR(solver="paper", iters=2), CYCLES // 5)):
            with self.subTest(estimator=estimator):
                self.assert_flat(lambda: estimator.fit(X, y).predict(X), cycles, 1 << 20)

    def test_no_leak_elsewhere(self):
        X, y = IRIS
        fitted = rlar.RLAR(iters=3).fit(X, y)
        path = self.folder / "model.rlar"

        def everything():
            rlar.RLAR(iters=3).fit(X, y).transform(X)
            fitted.save(path)
            rlar.load(path).decision_function(X)
            fitted.components_, fitted.feature_scores_, fitted._model.params
            for bad in (lambda: rlar.RLAR(alpha=-1).fit(X, y), lambda: fitted.predict(X * np.nan),
                        lambda: rlar.RLAR(max_memory=1000).fit(X, y)):
                try:
                    bad()
                except (ValueError, MemoryError):
                    pass

        self.assert_flat(everything, 500, 1 << 20)

    def test_no_copy_of_the_samples(self):
        """A view of 200 MB is predicted with the memory of a block, and survives the estimator."""
        X, y = blobs(1000, 100, 3)
        fitted = rlar.LDA().fit(X, y)
        large = np.zeros((250_000, 100))
        large[:] = X[0]
        before = resident()
        fitted.predict(large)
        self.assertLess(resident() - before, large.nbytes // 4)


if __name__ == "__main__":
    unittest.main()
