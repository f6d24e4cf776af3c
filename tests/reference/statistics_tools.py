"""Ask the library for a test of a comparison, and the same tests literally, for test_statistics.py.

Environment: RLAR_STATISTICS_DRIVER is the program built from statistics_driver.c.
"""
import json
import os
import subprocess
import warnings

import numpy as np
from scipy import stats

DRIVER = os.environ.get("RLAR_STATISTICS_DRIVER")
TIMEOUT = 120


def ask(requests):
    """The answers to (word, number, number or array, ...) requests: arrays, or texts where refused."""
    lines = []
    for word, *parts in requests:
        numbers = [repr(v) for part in parts for v in np.ravel(part).tolist()]
        lines.append(" ".join([word, *numbers]))
    done = subprocess.run([DRIVER], input="\n".join(lines) + "\n", capture_output=True, text=True,
                          timeout=TIMEOUT)
    if done.returncode != 0:
        raise AssertionError(f"{DRIVER}: exit {done.returncode}: {done.stderr}")
    replies = [json.loads(line.replace("inf", "Infinity")) if line[0] == "[" else json.loads(line)
               for line in done.stdout.splitlines()]
    if len(replies) != len(requests):
        raise AssertionError(f"{len(requests)} requests, {len(replies)} answers")
    return [np.array(reply) if isinstance(reply, list) else reply for reply in replies]


def wilcoxon(x, y):
    """SciPy's default: it warns where it takes the normal distribution for few pairs."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = stats.wilcoxon(x, y)
    return np.array([result.statistic, result.pvalue])


def holm(p):
    """The smallest p times m, the next times m - 1, ...; never less than the one before."""
    order = np.argsort(p, kind="stable")
    stepped = np.minimum(1, np.asarray(p)[order] * np.arange(len(p), 0, -1))
    adjusted = np.empty(len(p))
    adjusted[order] = np.maximum.accumulate(stepped)
    return adjusted


def friedman(table):
    """[statistic, p] by SciPy; F and its p as a two-way analysis of variance of the ranks; ranks."""
    n, k = table.shape
    statistic, p = stats.friedmanchisquare(*table.T)
    ranks = stats.rankdata(-table, axis=1)
    mean = ranks.mean(axis=0)
    between = n * np.sum((mean - (k + 1) / 2) ** 2)
    rest = np.sum((ranks - mean) ** 2)  # all blocks have the mean (k + 1) / 2
    f = (between / (k - 1)) / (rest / ((k - 1) * (n - 1)))
    return np.concatenate([[statistic, p, f, stats.f.sf(f, k - 1, (k - 1) * (n - 1))], mean])


def rank_unit(n, k):
    """What one unit of the range of k normal numbers is worth in average ranks over n blocks."""
    return np.sqrt(k * (k + 1) / (6 * n)) / np.sqrt(2)


def range_tail(q, k):
    """SciPy's own integral: within 1e-12 of Gauss-Legendre quadrature with 5400 points, k to 200."""
    return stats.studentized_range.sf(q, k, np.inf)


def nemenyi(ranks, n):
    q = np.abs(np.subtract.outer(ranks, ranks)) / rank_unit(n, len(ranks))
    values, place = np.unique(q, return_inverse=True)  # each is an integral
    return range_tail(values, len(ranks))[place].reshape(q.shape)
