"""The model file: same bytes for any threads, open to NumPy, and refused when anything is off.

With the tensors of the file alone NumPy must give what `rlar transform` and `rlar predict` give,
for every chain of scalings.
"""

import csv
import json
import os
import socket
import unittest

import numpy as np

import support
from support import MODEL, Case, blobs, read_safetensors, table_text

CHAINS = ("none", "unit", "minmax", "zscore", "minmax,unit", "zscore,unit", "unit,minmax",
          "unit,zscore", "minmax,zscore,unit")
X, Y = blobs(12, 7, 3, seed=2, spread=30)
X[:, 3] = 5  # a constant column must survive every scaling
NEW, NEW_Y = blobs(15, 7, 3, seed=2, spread=60)
NAMES = [f"f{j}" for j in range(1, 8)]


def scale(x, tensors, chain):
    """The scaling of the model file applied to the rows of x."""
    x = np.array(x, dtype=float)
    for step, kind in enumerate([] if chain == "none" else chain.split(",")):
        if kind == "unit":
            norms = np.sqrt((x * x).sum(axis=1, keepdims=True))
            x = np.divide(x, norms, out=np.zeros_like(x), where=norms > 0)
        else:
            x = (x - tensors[f"scale.{step}.shift"]) * tensors[f"scale.{step}.factor"]
    return x


def embed(x, tensors, chain):
    """z = W'x + b, one row per sample; the file holds W as p rows of d numbers."""
    return scale(x, tensors, chain) @ tensors["W"].T + tensors["b"]


def unit(z):
    """Rows of length 1; a zero row stays."""
    norms = np.sqrt((z * z).sum(axis=1, keepdims=True))
    return np.divide(z, norms, out=np.zeros_like(z), where=norms > 0)


def majority(gaps, kinds, k):
    """The class with most of the k nearest; at equal votes the one whose nearest member is nearer."""
    nearest = np.argsort(gaps, kind="stable")[:k]
    votes = np.bincount(kinds[nearest], minlength=kinds.max() + 1)
    return next(kinds[i] for i in nearest if votes[kinds[i]] == votes.max())


class Models(Case):
    def setUp(self):
        super().setUp()
        self.write("t.csv", table_text(X, Y, names=NAMES))
        self.write("new.csv", table_text(NEW, NEW_Y, names=NAMES))

    def fit(self, *options, name="m.rlar"):
        self.ok("fit", "t.csv", "-o", name, *options)
        return self.path(name).read_bytes()


class SameBytes(Models):
    def test_any_threads_and_any_run(self):
        for options in ((), ("--scale", "zscore"), ("-k", "2", "--alpha", "1"), ("-p", "solver=anneal")):
            models = {self.fit("--threads", t, *options) for t in ("1", "2", "1", "2", "3")}
            self.assertEqual(len(models), 1, options)

    def test_as_many_threads_as_there_may_be(self):
        """Their buffers together are more than the machine has, and hardly used."""
        self.assertEqual(self.fit("--threads", "256"), self.fit("--threads", "1"))

    def test_options_that_must_not_matter(self):
        plain = self.fit()
        for options in (["--deterministic"], ["--max-memory", "1G"], ["-v"], ["--seed", "5"], ["--json"]):
            self.assertEqual(self.fit(*options), plain, options)

    def test_larger_fit_on_both_paths(self):
        for n, d in ((60, 40), (15, 150)):
            self.write("big.csv", table_text(*blobs(n, d, 4, seed=d, spread=40)))
            paths, models = set(), set()
            for threads in ("1", "2"):
                report = self.json_of("fit", "big.csv", "-o", "big.rlar", "--threads", threads,
                                      "-p", "solver=paper")
                paths.add(report["path"])
                models.add(self.path("big.rlar").read_bytes())
            self.assertEqual((len(paths), len(models)), (1, 1))
            self.assertEqual(paths, {"primal" if n * 4 > d else "dual"})

    def test_predictions_for_any_threads(self):
        self.fit()
        for verb in ("predict", "transform"):
            outputs = {self.ok(verb, "m.rlar", "new.csv", "--threads", t).out for t in ("1", "2")}
            self.assertEqual(len(outputs), 1)

    def test_name_of_the_data_is_not_in_the_model(self):
        first = self.fit()
        self.write("elsewhere/other.csv", table_text(X, Y, names=NAMES))
        self.ok("fit", "elsewhere/other.csv", "-o", "n.rlar")
        self.assertEqual(self.path("n.rlar").read_bytes(), first)


class Reproduced(Models):
    """NumPy and the file alone give the program's numbers."""

    def transformed(self, data):
        self.ok("transform", "m.rlar", data, "-o", "z.npz")
        with np.load(self.path("z.npz")) as arrays:
            return arrays["X"]

    def test_transform_for_every_chain(self):
        for chain in CHAINS:
            self.fit("--scale", chain)
            tensors, metadata = read_safetensors(self.path("m.rlar"))
            self.assertEqual(metadata["scale"], chain)
            for data, x in (("t.csv", X), ("new.csv", NEW)):
                np.testing.assert_allclose(self.transformed(data), embed(x, tensors, chain), rtol=1e-9,
                                           atol=1e-10, err_msg=chain)

    def test_printed_transform_is_the_same(self):
        self.fit()
        rows = list(csv.reader(self.ok("transform", "m.rlar", "new.csv").lines))
        p = len(read_safetensors(self.path("m.rlar"))[0]["b"])
        self.assertEqual(rows[0][:p], [f"z{i}" for i in range(1, p + 1)])
        printed = np.array([row[:p] for row in rows[1:]], dtype=float)
        np.testing.assert_array_equal(printed, self.transformed("new.csv"))

    def test_nearest_neighbour(self):
        for chain in CHAINS:
            self.fit("--scale", chain)
            tensors, metadata = read_safetensors(self.path("m.rlar"))
            names = json.loads(metadata["classes"])
            z = embed(NEW, tensors, chain)
            gaps = z[:, None, :] - tensors["references"][None, :, :]
            nearest = (gaps * gaps).sum(axis=2).argmin(axis=1)
            expected = [names[tensors["reference_class"][i]] for i in nearest]
            self.assertEqual(self.ok("predict", "m.rlar", "new.csv").lines, expected, chain)

    def test_other_classifiers(self):
        self.fit("--scale", "zscore")
        tensors, metadata = read_safetensors(self.path("m.rlar"))
        names = json.loads(metadata["classes"])
        z = embed(NEW, tensors, "zscore")
        kinds = tensors["reference_class"]
        centres = np.array([tensors["references"][kinds == i].mean(axis=0) for i in range(3)])
        nearest = ((z[:, None, :] - centres) ** 2).sum(axis=2).argmin(axis=1)
        for classifier, chosen in (("centroid", nearest), ("argmax", z.argmax(axis=1))):
            lines = self.ok("predict", "m.rlar", "new.csv", "--classifier", classifier).lines
            self.assertEqual(lines, [names[i] for i in chosen], classifier)

    def test_cosine_classifiers(self):
        """Both sides divided by their length; the centroid is the mean of unit vectors."""
        hard, _ = blobs(40, 7, 3, seed=2, spread=250)  # between the classes, where lengths decide
        self.write("hard.csv", table_text(hard, None, names=NAMES))
        differs = {}
        for chain in CHAINS:
            self.fit("--scale", chain)
            tensors, metadata = read_safetensors(self.path("m.rlar"))
            names = json.loads(metadata["classes"])
            kinds = tensors["reference_class"]
            z, references = unit(embed(hard, tensors, chain)), unit(tensors["references"])
            centres = np.array([references[kinds == i].mean(axis=0) for i in range(3)])
            gaps = ((z[:, None, :] - references) ** 2).sum(axis=2)
            np.testing.assert_allclose(gaps, 2 - 2 * z @ references.T, atol=1e-12)
            far = -((z[:, None, :] - centres) ** 2).sum(axis=2)
            near = -np.array([gaps[:, kinds == i].min(axis=1) for i in range(3)]).T
            votes = np.array([majority(gap, kinds, 5) for gap in gaps])
            shares = np.array([[(kinds[np.argsort(gap, kind="stable")[:5]] == i).mean() for i in range(3)]
                               for gap in gaps])
            for kind, chosen, scores in (("1nn", near.argmax(axis=1), near), ("knn", votes, shares),
                                         ("centroid", far.argmax(axis=1), far)):
                lines = self.ok("predict", "m.rlar", "hard.csv", "--classifier", kind + "-cosine").lines
                self.assertEqual(lines, [names[i] for i in chosen], (chain, kind))
                table = list(csv.reader(self.ok("predict", "m.rlar", "hard.csv", "--scores", "--classifier",
                                                kind + "-cosine").lines))
                np.testing.assert_allclose(np.array([row[1:] for row in table[1:]], dtype=float), scores,
                                           rtol=1e-8, atol=1e-10, err_msg=f"{chain} {kind}")
                plain = self.ok("predict", "m.rlar", "hard.csv", "--classifier", kind).lines
                differs[kind] = differs.get(kind, 0) + (plain != lines)
        self.assertTrue(all(differs.values()), f"never another answer than without scaling: {differs}")

    def test_the_classifier_does_not_touch_the_map(self):
        """transform is the linear map, and a classifier is no part of the model."""
        before = self.fit()
        z = self.transformed("new.csv")
        self.assertGreater(np.abs(np.sqrt((z * z).sum(axis=1)) - 1).max(), 1e-3)
        self.ok("predict", "m.rlar", "new.csv", "--classifier", "1nn-cosine")
        self.assertEqual(self.path("m.rlar").read_bytes(), before)

    def test_references_are_the_training_samples(self):
        self.fit()
        tensors, _ = read_safetensors(self.path("m.rlar"))
        np.testing.assert_allclose(tensors["references"], embed(X, tensors, "zscore,rms"), rtol=1e-9, atol=1e-10)
        np.testing.assert_array_equal(tensors["reference_class"], Y - 1)

    def test_scalings_are_those_of_the_training_part(self):
        for chain, shift, width in (("minmax", X.min(axis=0), X.max(axis=0) - X.min(axis=0)),
                                    ("zscore", X.mean(axis=0), X.std(axis=0))):
            self.fit("--scale", chain)
            tensors, _ = read_safetensors(self.path("m.rlar"))
            factor = np.divide(1.0, width, out=np.zeros_like(width, dtype=float), where=width > 0)
            np.testing.assert_allclose(tensors["scale.0.shift"], shift, rtol=1e-12)
            np.testing.assert_allclose(tensors["scale.0.factor"], factor, rtol=1e-9)

    def test_metadata(self):
        self.fit("--alpha", "0.25")
        _, metadata = read_safetensors(self.path("m.rlar"))
        self.assertEqual(metadata["method"], "rlar")
        self.assertEqual(json.loads(metadata["classes"]), ["1", "2", "3"])
        self.assertEqual(json.loads(metadata["features"]), NAMES)
        self.assertEqual(float(json.loads(metadata["params"])["alpha"]), 0.25)
        self.assertTrue(all(isinstance(v, str) for v in metadata.values()))

    def test_missing_values_are_filled_with_the_training_means(self):
        self.fit("--scale", "zscore")
        lines = table_text(NEW, NEW_Y, names=NAMES).splitlines()
        cells = lines[1].split(",")
        cells[2] = "?"
        lines[1] = ",".join(cells)
        self.write("holed.csv", "\n".join(lines) + "\n")
        self.ok("transform", "m.rlar", "holed.csv", "--missing", "mean", "-o", "h.npz")
        filled = NEW.astype(float)
        filled[0, 2] = X[:, 2].mean()
        tensors, _ = read_safetensors(self.path("m.rlar"))
        np.testing.assert_allclose(tensors["fill"], X.mean(axis=0), rtol=1e-12)
        with np.load(self.path("h.npz")) as arrays:
            np.testing.assert_allclose(arrays["X"], embed(filled, tensors, "zscore"), rtol=1e-9, atol=1e-10)


class Damaged(Models):
    """Whatever is done to the bytes, the answer is exit 4 and one line."""

    def refused(self, raw, says=()):
        self.write("bad.rlar", raw)
        self.fails(MODEL, "predict", "bad.rlar", "new.csv", says=(r"bad\.rlar", *says))

    def test_truncated_at_many_lengths(self):
        whole = self.fit()
        sizes = sorted({0, 1, 7, 8, 9, 16, 63, 64, *range(100, len(whole), len(whole) // 25),
                        len(whole) - 8, len(whole) - 1})
        for size in sizes:
            self.refused(whole[:size])
        for verb in ("info", "rank"):
            self.fails(MODEL, verb, "bad.rlar", says=r"bad\.rlar")

    def test_longer_than_promised(self):
        whole = self.fit()
        for tail in (b"\0", b"\0" * 8, whole):
            self.refused(whole + tail)

    def test_bit_flips(self):
        whole = self.fit()
        rng = np.random.RandomState(11)
        header = 8 + int.from_bytes(whole[:8], "little")
        places = [*range(8), *rng.randint(8, header, 30), *rng.randint(header, len(whole), 30)]
        for place in places:
            damaged = bytearray(whole)
            damaged[place] ^= 1 << rng.randint(8)
            self.refused(bytes(damaged))

    def test_no_model_at_all(self):
        for content in (b"", b"hello", b"\0" * 4096, b"\xff" * 4096, b"{}", table_text(X, Y).encode(),
                        (2).to_bytes(8, "little") + b"{}", (2 ** 63).to_bytes(8, "little") + b"{}"):
            self.refused(content, says=[r"model"])

    def test_foreign_safetensors(self):
        header = b'{"weight":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}'
        self.refused(len(header).to_bytes(8, "little") + header + b"\0" * 8)


class FromStandardInput(Models):
    """The open descriptor is read, as it stands: by its name some kinds cannot be opened again."""

    def setUp(self):
        super().setUp()
        self.fit()
        self.printed = self.ok("predict", "m.rlar", "new.csv").out

    def predict(self, descriptor):
        process = support.start("predict", "-", "new.csv", cwd=self.folder, stdin=descriptor)
        out, err = process.communicate(timeout=support.TIMEOUT)
        self.assertEqual((process.returncode, out), (0, self.printed), err)

    def test_a_socket(self):
        ours, theirs = socket.socketpair()
        with ours, theirs:
            ours.sendall(self.path("m.rlar").read_bytes())  # fits into the buffer
            ours.shutdown(socket.SHUT_WR)
            self.predict(theirs)

    def test_a_file_of_which_some_was_read(self):
        self.write("behind.bin", b"a line before\n" + self.path("m.rlar").read_bytes())
        with open(self.path("behind.bin"), "rb") as file:
            os.lseek(file.fileno(), len(b"a line before\n"), os.SEEK_SET)
            self.predict(file)

    def test_limit_of_memory(self):
        model = self.path("m.rlar").read_bytes()
        self.fails(support.MEMORY, "rank", "-", "--max-memory", "1k", stdin=model, says=r"<stdin>.*--max-memory")

    def test_what_is_no_model(self):
        self.fails(MODEL, "rank", "-", stdin=self.path("new.csv").read_bytes(), says="<stdin>: not an rlar model")


class OtherColumns(Models):
    def setUp(self):
        super().setUp()
        self.fit()

    def test_count(self):
        self.write("plain.csv", table_text(X, Y))
        self.ok("fit", "plain.csv", "-o", "plain.rlar")
        for d in (1, 5, 9, 20):
            x = np.ones((4, d))
            self.write("other.csv", table_text(x, [1, 2, 3, 1]))
            for verb in ("predict", "transform"):
                self.fails(MODEL, verb, "plain.rlar", "other.csv", says=(r"other\.csv", r"\b7\b"))

    def test_first_name_that_differs_is_told(self):
        names = list(NAMES)
        names[4], names[6] = "height", "width"
        self.write("other.csv", table_text(NEW, NEW_Y, names=names))
        result = self.fails(MODEL, "predict", "m.rlar", "other.csv", says=(r"other\.csv", r"\bf5\b"))
        self.assertNotIn("width", result.err)

    def test_columns_to_spare_are_ignored_where_names_decide(self):
        extra = np.column_stack([NEW[:, :2], NEW[:, 0] * 3, NEW[:, 2:]])
        self.write("extra.csv", table_text(extra, NEW_Y, names=["f1", "f2", "spare", *NAMES[2:]]))
        self.assertEqual(self.ok("predict", "m.rlar", "extra.csv").out,
                         self.ok("predict", "m.rlar", "new.csv").out)

    def test_labels_the_model_does_not_know(self):
        labels = ["unseen"] * 5 + list(NEW_Y[5:])
        self.write("odd.csv", table_text(NEW, labels, names=NAMES))
        result = self.ok("predict", "m.rlar", "odd.csv")
        self.assertEqual(result.out, self.ok("predict", "m.rlar", "new.csv").out)


if __name__ == "__main__":
    unittest.main()
