"""Reading and writing data: one table in every format gives the same model, byte for byte.

The table holds whole numbers 0..255, so text, float64, bytes of an image and MATLAB arrays hold it
exactly. Formats without column names are compared with a CSV without a header, ARFF with a CSV
that has one.
"""

import io
import re
import struct
import unittest
import warnings
import zipfile
import zlib
from pathlib import Path

import numpy as np

import support
from support import DATA, FAILED, MODEL, USAGE, Case, blobs, gz, table_text

X, Y = blobs(10, 6, 3, seed=0)
NAMES = [f"f{j}" for j in range(1, 7)]


def npy(array):
    out = io.BytesIO()
    np.save(out, array)
    return out.getvalue()


def npz(compressed=False, **arrays):
    out = io.BytesIO()
    (np.savez_compressed if compressed else np.savez)(out, **arrays)
    return out.getvalue()


def libsvm(x, y):
    rows = []
    for row, label in zip(x, y):
        cells = [f"{j + 1}:{int(v)}" for j, v in enumerate(row) if v != 0]
        rows.append(" ".join([str(label), *cells]))
    return "\n".join(rows) + "\n"


def arff(x, y, names):
    head = ["% a comment", "@RELATION blobs", ""]
    head += [f"@ATTRIBUTE {name} NUMERIC" for name in names]
    head += ["@ATTRIBUTE class {" + ",".join(sorted({str(c) for c in y})) + "}", "", "@DATA"]
    return "\n".join(head) + "\n" + table_text(x, y)


# ---- MATLAB level 5, from its description: a header, then tagged elements ----

MI_INT8, MI_INT32, MI_UINT32, MI_DOUBLE, MI_MATRIX, MI_COMPRESSED = 1, 5, 6, 9, 14, 15
MX_CELL, MX_STRUCT, MX_OBJECT, MX_CHAR, MX_SPARSE = 1, 2, 3, 4, 5
MX_DOUBLE, MX_UINT8, MX_FUNCTION, MX_OPAQUE = 6, 9, 16, 17


def mat_element(kind, payload):
    return struct.pack("<II", kind, len(payload)) + payload + b"\0" * (-len(payload) % 8)


def mat_head(kind, name, rows=1, columns=1, flags=0):
    return (mat_element(MI_UINT32, struct.pack("<II", kind | flags << 8, 0)) +
            mat_element(MI_INT32, struct.pack("<ii", rows, columns)) + mat_element(MI_INT8, name.encode()))


def mat_opaque(name):
    """A table, a text in double quotes: no sizes, but the name, the kind of objects, the class, where the data are."""
    body = mat_element(MI_UINT32, struct.pack("<II", MX_OPAQUE, 0))
    for text in (name, "MCOS", "table"):
        body += mat_element(MI_INT8, text.encode())
    data = mat_head(MX_DOUBLE, "") + mat_element(MI_DOUBLE, struct.pack("<d", 1))
    return mat_element(MI_MATRIX, body + mat_element(MI_MATRIX, data))


def mat_foreign():
    """Variables that are not read: name, bytes. What is in a function handle or an object is MATLAB's own."""
    number = mat_element(MI_MATRIX, mat_head(MX_DOUBLE, "") + mat_element(MI_DOUBLE, struct.pack("<d", 1)))
    field = mat_element(MI_INT32, struct.pack("<i", 8)) + mat_element(MI_INT8, b"field".ljust(8, b"\0"))
    own = mat_element(MI_INT8, b"inline")
    yield "t", mat_opaque("t")
    yield "f", mat_element(MI_MATRIX, mat_head(MX_FUNCTION, "f") + mat_opaque(""))
    yield "s", mat_element(MI_MATRIX, mat_head(MX_STRUCT, "s") + field + number)
    yield "o", mat_element(MI_MATRIX, mat_head(MX_OBJECT, "o") + own + field + number)
    yield "c", mat_element(MI_MATRIX, mat_head(MX_CELL, "c", 1, 2) + number + mat_opaque(""))
    yield "", mat_element(MI_MATRIX, mat_head(MX_UINT8, "", 1, 8) + mat_element(2, b"MCOS\0IM\0"))


MI_VALUES = {"i1": 1, "u1": 2, "i2": 3, "u2": 4, "i4": 5, "u4": 6, "f4": 7, "f8": 9, "i8": 12, "u8": 13}


def mat_sparse(name, array, kind, flags=0, claimed=None, places=MI_INT32):
    """The rows of what is not 0, where each column starts among them, the values."""
    array = np.asarray(array)
    columns, rows = np.nonzero(array.T)
    starts = np.searchsorted(columns, np.arange(array.shape[1] + 1))
    body = mat_head(MX_SPARSE, name, *array.shape, flags)
    body += mat_element(places, rows.astype("<i4").tobytes()) + mat_element(MI_INT32, starts.astype("<i4").tobytes())
    values = array[rows, columns].astype("<" + kind).tobytes()
    return mat_element(MI_MATRIX, body + mat_element(claimed or MI_VALUES[kind], values))


def mat_matrix(name, array, compressed):
    """Of a matrix, or of the bytes of a variable."""
    whole = array
    if not isinstance(array, bytes):
        array = np.atleast_2d(np.asarray(array, dtype=float))
        whole = mat_element(MI_MATRIX, mat_head(MX_DOUBLE, name, *array.shape) +
                            mat_element(MI_DOUBLE, array.tobytes(order="F")))
    if not compressed:
        return whole
    packed = zlib.compress(whole)
    return struct.pack("<II", MI_COMPRESSED, len(packed)) + packed


def mat(compressed=False, **arrays):
    text = b"MATLAB 5.0 MAT-file, written by a test".ljust(116)
    head = text + b"\0" * 8 + struct.pack("<H", 0x0100) + b"IM"
    return head + b"".join(mat_matrix(n, a, compressed) for n, a in arrays.items())


def mat_level_4(name, array, big=False, **changed):
    """Level 4 is a list of matrices: five numbers, the name, the values."""
    array = np.atleast_2d(np.asarray(array, dtype=float))
    order = ">" if big else "<"
    head = dict(type=1000 * big, rows=array.shape[0], columns=array.shape[1], imaginary=0, length=len(name) + 1)
    head.update(changed)
    return (struct.pack(order + "5I", *head.values()) + name.encode() + b"\0" +
            array.astype(order + "f8").tobytes(order="F"))


def column(values):
    return np.asarray(values, dtype=float).reshape(-1, 1)


class SameTable(Case):
    """The same samples through every reader."""

    def setUp(self):
        super().setUp()
        self.write("plain.csv", table_text(X, Y))
        self.expected = self.model("plain.csv")
        self.predictions = self.predicted("plain.csv")
        # The nearest neighbour of a training sample is itself.
        self.assertEqual(self.predictions.decode().split(), [str(c) for c in Y])

    def model(self, name, *options):
        self.ok("fit", name, "-o", "m.rlar", *options)
        return self.path("m.rlar").read_bytes()

    def predicted(self, name, *options):
        self.ok("fit", "plain.csv", "-o", "base.rlar")
        return self.ok("predict", "base.rlar", name, *options).out

    def same(self, name, content, *options):
        self.write(name, content)
        self.assertEqual(self.model(name, *options), self.expected, f"model from {name}")
        self.assertEqual(self.predicted(name, *options), self.predictions, f"prediction of {name}")

    def both(self, name, content, *options):
        """As it is and gzipped."""
        self.same(name, content, *options)
        self.same(name + ".gz", gz(content), *options)

    def test_tsv(self):
        self.both("t.tsv", table_text(X, Y, "\t"))

    def test_semicolons(self):
        self.both("t.csv", table_text(X, Y, ";"))

    def test_csv_variants(self):
        text = table_text(X, Y)
        self.both("unix.csv", text)
        self.same("windows.csv", text.replace("\n", "\r\n"))
        self.same("bom.csv", b"\xef\xbb\xbf" + text.encode())
        self.same("end.csv", text.rstrip("\n"))
        self.same("blanks.csv", text.replace(",", " , "))
        self.same("quoted.csv", "".join(",".join(f'"{c}"' for c in line.split(",")) + "\n"
                                        for line in text.splitlines()))
        self.same("floats.csv", "".join(",".join(f"{float(c):.3e}" for c in line.split(",")) + "\n"
                                        for line in text.splitlines()))

    def test_libsvm(self):
        self.both("t.svm", libsvm(X, Y))
        self.both("t.libsvm", libsvm(X, Y))

    def test_npy_with_labels_in_the_last_column(self):
        whole = np.column_stack([X, Y])
        self.both("t.npy", npy(whole))
        self.same("fortran.npy", npy(np.asfortranarray(whole)))
        for kind in ("<f4", ">f8", "<i4", "<i8", "<i2", "u1"):
            self.same("kind.npy", npy(whole.astype(kind)))

    def test_npy_with_labels_in_a_file(self):
        self.write("y.npy", npy(Y))
        self.write("y.txt", "".join(f"{c}\n" for c in Y))
        self.both("x.npy", npy(X), "--labels", "y.npy")
        self.same("x.npy", npy(X), "--labels", "y.txt")

    def test_npz(self):
        for compressed in (False, True):
            self.both("t.npz", npz(compressed, X=X, y=Y))
            self.same("reversed.npz", npz(compressed, y=Y, X=X))

    def test_npz_with_a_member_twice(self):
        """NumPy takes the last, others the first: it is not guessed."""
        self.write("t.npz", npz(X=X, y=Y))
        with warnings.catch_warnings(), zipfile.ZipFile(self.path("t.npz"), "a") as file:
            warnings.simplefilter("ignore")
            file.writestr("X.npy", npy(X + 100))
        self.fails(DATA, "info", "t.npz", says="t.npz: the member X.npy is there twice; save the arrays again")

    def test_folder_of_images(self):
        for index, (row, label) in enumerate(zip(X, Y)):
            pixels = row.astype(np.uint8).tobytes()
            self.write(f"pictures/{label}/{index:03d}.pgm", b"P5\n# note\n3 2\n255\n" + pixels)
            self.write(f"zipped/{label}/{index:03d}.pgm.gz", gz(b"P5 3 2 255\n" + pixels))
            text = " ".join(str(int(v)) for v in row)
            self.write(f"plain/{label}/{index:03d}.pgm", f"P2\n3 2\n255\n{text}\n")
        for folder in ("pictures", "zipped", "plain"):
            self.assertEqual(self.model(folder), self.expected, folder)
            self.assertEqual(self.predicted(folder), self.predictions, folder)

    def test_mat(self):
        for compressed in (False, True):
            self.both("t.mat", mat(compressed, fea=X, gnd=column(Y)))
            self.same("turned.mat", mat(compressed, gnd=column(Y), fea=X))
            self.same("xy.mat", mat(compressed, X=X, Y=column(Y)))
            self.same("row.mat", mat(compressed, X=X, y=column(Y).T))
            self.same("level4.mat", mat_level_4("fea", X, compressed) + mat_level_4("gnd", column(Y), compressed))
            self.same("own.mat", mat(compressed, other=column([7]), A=X, t=column(Y)),
                      "--mat-vars", "A,t")

    def test_sparse_mat(self):
        """Values are packed into the smallest type that holds them; logical ones are bytes and called doubles."""
        for compressed in (False, True):
            for kind in MI_VALUES.keys() - {"i1"}:
                self.same("t.mat", mat(compressed, X=mat_sparse("X", X, kind), y=column(Y)))
            self.same("turned.mat", mat(compressed, X=mat_sparse("X", X.T, "u1"), y=column(Y)))
        self.write("signed.csv", table_text(X - 128, Y))
        self.write("t.mat", mat(X=mat_sparse("X", X - 128, "i1"), y=column(Y)))
        self.assertEqual(self.model("t.mat"), self.model("signed.csv"))
        self.write("logical.csv", table_text(X > 100, Y))
        expected = self.model("logical.csv")
        for claimed in (MI_VALUES["u1"], MI_DOUBLE):
            self.write("t.mat", mat(X=mat_sparse("X", X > 100, "u1", 2, claimed), y=column(Y)))
            self.assertEqual(self.model("t.mat"), expected)
        self.write("t.mat", mat(X=mat_sparse("X", 0 * X, "u1"), y=column(Y)))
        self.assertEqual(self.json_of("info", "t.mat")["n"], 30)

    def test_mat_beside_what_is_not_read(self):
        """Structs, function handles and objects, which matio does not get, do not matter to matrices."""
        for compressed in (False, True):
            for name, content in mat_foreign():
                self.same("before.mat", mat(compressed, a=content, fea=X, gnd=column(Y)))
                self.same("between.mat", mat(compressed, fea=X, a=content, gnd=column(Y)))
                self.same("behind.mat", mat(compressed, fea=X, gnd=column(Y), a=content))
            every = {f"v{i}": content for i, (_, content) in enumerate(mat_foreign())}
            self.both("all.mat", mat(compressed, **every, fea=X, z=column([7]), gnd=column(Y)))

    def test_mat_by_name_and_from_a_pipe(self):
        for name in ("T.MAT", "t.Mat.gz"):
            self.same(name, mat_level_4("fea", X) + mat_level_4("gnd", column(Y)))
        whole = mat(fea=X, gnd=column(Y))
        self.ok("fit", "-", "--format", "mat", "-o", "m.rlar", stdin=whole)
        self.fails(FAILED, "info", "-", stdin=whole, says=(r"a MATLAB file", r"--format mat"))

    def test_arff(self):
        self.write("named.csv", table_text(X, Y, names=NAMES))
        expected = self.model("named.csv")
        for name, content in (("t.arff", arff(X, Y, NAMES)), ("t.arff.gz", gz(arff(X, Y, NAMES)))):
            self.write(name, content)
            self.assertEqual(self.model(name), expected, name)
            self.assertEqual(self.predicted(name), self.predictions, name)

    def test_format_by_content_where_the_ending_says_nothing(self):
        self.same("gzipped.csv", gz(table_text(X, Y)))
        self.same("numpy.bin", npy(np.column_stack([X, Y])))

    def test_named_format_beats_the_ending(self):
        self.same("table.dat", table_text(X, Y), "--format", "csv")
        self.same("table.txt", libsvm(X, Y), "--format", "libsvm")

    def test_order_of_classes_in_the_file_does_not_matter(self):
        order = np.argsort(np.arange(len(Y)) % 10, kind="stable")
        self.write("mixed.csv", table_text(X[order], Y[order]))
        self.assertEqual(self.model("mixed.csv"), self.expected)


class Convert(Case):
    """convert IN OUT and back keeps the table."""

    def setUp(self):
        super().setUp()
        x = X.astype(float)
        x[0, 0], x[1, 1], x[2, 2] = 0.1, 1e-300, -1234567.890123456789
        self.write("in.csv", table_text(x, Y, names=NAMES))
        self.ok("fit", "in.csv", "-o", "in.rlar")

    def numbers(self, name):
        self.ok("convert", name, "numbers.npy")
        return np.load(self.path("numbers.npy"))

    def test_round_trips(self):
        expected = self.numbers("in.csv")
        self.assertEqual(expected.shape, (30, 7))
        self.assertEqual(expected[0, 0], 0.1)
        for ending in ("csv", "tsv", "svm", "libsvm", "npy", "npz", "arff"):
            for name in (f"out.{ending}", f"out.{ending}.gz"):
                self.ok("convert", "in.csv", name)
                np.testing.assert_array_equal(self.numbers(name), expected, name)

    def test_names_survive_where_the_format_has_them(self):
        for ending in ("csv", "tsv", "arff"):
            self.ok("convert", "in.csv", f"out.{ending}")
            self.ok("fit", f"out.{ending}", "-o", "out.rlar")
            self.assertEqual(self.path("out.rlar").read_bytes(), self.path("in.rlar").read_bytes())

    def test_gzip_is_deterministic(self):
        self.ok("convert", "in.csv", "a.csv.gz")
        self.ok("convert", "in.csv", "b.csv.gz")
        self.assertEqual(self.path("a.csv.gz").read_bytes(), self.path("b.csv.gz").read_bytes())

    def test_text_labels_and_separators_are_quoted(self):
        names = np.array(["red, dark", 'the "best"', "plain"])[Y - 1]
        quoted = ['"' + n.replace('"', '""') + '"' for n in names]
        self.write("text.csv", table_text(X, quoted, names=NAMES))
        before = self.json_of("fit", "text.csv", "-o", "a.rlar")
        self.ok("convert", "text.csv", "again.csv")
        self.ok("convert", "text.csv", "again.arff")
        for name in ("again.csv", "again.arff"):
            self.ok("fit", name, "-o", "b.rlar")
            self.assertEqual(self.path("a.rlar").read_bytes(), self.path("b.rlar").read_bytes(), name)
        self.assertEqual(before["classes"], 3)

    def test_numpy_reads_what_convert_writes(self):
        self.ok("convert", "in.csv", "out.npz")
        with np.load(self.path("out.npz")) as arrays:
            self.assertLessEqual({"X", "y"}, set(arrays.files))
            self.assertEqual(arrays["X"].shape, (30, 6))
            np.testing.assert_array_equal(arrays["y"].astype(float), Y)


class Labels(Case):
    """Which column is the label, what a class is called, how classes are ordered."""

    def classes(self, *args):
        """Class names in order, from the columns of the scores."""
        self.ok("fit", *args, "-o", "m.rlar")
        data = args[0]
        return self.ok("predict", "m.rlar", data, *args[1:], "--scores").lines[0].split(",")[1:]

    def table(self, labels, position=6, names=NAMES, label="label"):
        rows = [[support.number(v) for v in row] for row in X]
        for row, text in zip(rows, labels):
            row.insert(position, str(text))
        if names:
            head = list(names)
            head.insert(position, label)
            rows.insert(0, head)
        return "".join(",".join(row) + "\n" for row in rows)

    def test_label_column_found_by_name(self):
        for label in ("label", "class", "target", "y", "Class", "TARGET", "Y"):
            for position in (0, 3, 6):
                self.write("t.csv", self.table(Y, position, label=label))
                info = self.json_of("fit", "t.csv")
                self.assertEqual((info["d"], info["classes"]), (6, 3), (label, position))

    def test_last_column_otherwise(self):
        self.write("t.csv", self.table(Y, label="kind"))
        self.assertEqual(self.json_of("fit", "t.csv")["classes"], 3)

    def test_label_by_name_and_by_position(self):
        self.write("end.csv", self.table(Y, label="kind"))
        self.ok("fit", "end.csv", "-o", "end.rlar")
        expected = self.path("end.rlar").read_bytes()
        for position, choices in ((0, ("1", "-7")), (2, ("3", "-5")), (6, ("7", "-1"))):
            self.write("t.csv", self.table(Y, position, label="kind"))
            for choice in (*choices, "kind"):
                self.ok("fit", "t.csv", "--label", choice, "-o", "m.rlar")
                self.assertEqual(self.path("m.rlar").read_bytes(), expected, (position, choice))

    def test_label_column_of_a_format_that_has_none_is_refused(self):
        self.write("t.svm", libsvm(X, Y))
        self.write("t.npz", npz(X=X, y=Y))
        for label in ("1", "-1", "kind"):
            for name in ("t.svm", "t.npz"):
                self.fails(USAGE, "fit", name, "--label", label, says=rf"{name}: there is no label column '{label}'")
        for name in ("t.svm", "t.npz"):
            self.assertEqual(self.json_of("info", name, "--label", "none")["classes"], 0)
        self.write("x.npz", npz(X=np.column_stack([X, Y])))
        self.assertEqual(self.json_of("info", "x.npz", "--label", "-1")["classes"], 3)

    def test_label_zero_is_refused(self):
        self.write("t.csv", self.table(Y))
        self.fails(USAGE, "fit", "t.csv", "--label", "0", says=r"\b0\b")

    def test_numbers_sort_as_numbers(self):
        labels = np.array([10, 2, 1])[Y - 1]
        self.write("t.csv", self.table(labels))
        self.assertEqual(self.classes("t.csv"), ["1", "2", "10"])

    def test_large_numbers_of_arrays_are_not_rounded(self):
        y = 2 ** 53 + np.array([0, 1, 0, 1])
        table = np.column_stack([np.arange(4), [3, 1, 2, 5], y])
        names = [str(2 ** 53), str(2 ** 53 + 1)]
        self.write("y.npy", npy(y))
        for name, content, labels in (("t.npy", npy(table), ()), ("t.npz", npz(X=table), ()),
                                      ("u.npz", npz(X=table[:, :2], y=y), ()),
                                      ("x.npy", npy(table[:, :2]), ("--labels", "y.npy"))):
            self.write(name, content)
            self.assertEqual(self.json_of("info", name, *labels)["class_names"], names, name)

    def test_text_sorts_as_text(self):
        self.write("t.csv", self.table(np.array(["b10", "b2", "a"])[Y - 1]))
        self.assertEqual(self.classes("t.csv"), ["a", "b10", "b2"])

    def test_one_number_is_one_class(self):
        labels = [{1: "1", 2: "2", 3: "3"}[c] + (".0" if i % 2 else "") for i, c in enumerate(Y)]
        self.write("t.csv", self.table(labels))
        self.assertEqual(self.classes("t.csv"), ["1", "2", "3"])

    def test_text_labels_come_back_as_written(self):
        labels = np.array(["Iris setosa", "versicolour", "Größe"])[Y - 1]
        self.write("t.csv", self.table(labels))
        self.ok("fit", "t.csv", "-o", "m.rlar")
        self.assertEqual(set(self.ok("predict", "m.rlar", "t.csv").lines), set(labels))

    def test_header_rule(self):
        self.write("plain.csv", self.table(Y, names=None))
        self.write("named.csv", self.table(Y))
        self.assertEqual(self.json_of("fit", "plain.csv")["n"], 30)
        self.assertEqual(self.json_of("fit", "plain.csv", "--header", "no")["n"], 30)
        self.assertEqual(self.json_of("fit", "plain.csv", "--header", "yes")["n"], 29)
        self.assertEqual(self.json_of("fit", "named.csv")["n"], 30)
        self.assertEqual(self.json_of("fit", "named.csv", "--header", "yes")["n"], 30)
        self.fails(DATA, "fit", "named.csv", "--header", "no", says=r"named\.csv:")

    def test_columns_are_found_by_name(self):
        self.write("t.csv", self.table(Y))
        self.ok("fit", "t.csv", "-o", "m.rlar")
        expected = self.ok("predict", "m.rlar", "t.csv").out
        order = [3, 0, 5, 1, 4, 2]
        self.write("turned.csv", table_text(X[:, order], Y, names=[NAMES[j] for j in order]))
        self.assertEqual(self.ok("predict", "m.rlar", "turned.csv").out, expected)

    def test_prediction_needs_no_labels(self):
        self.write("t.csv", self.table(Y))
        self.ok("fit", "t.csv", "-o", "m.rlar")
        expected = self.ok("predict", "m.rlar", "t.csv").out
        self.write("bare.csv", table_text(X, None, names=NAMES))
        bare = self.ok("predict", "m.rlar", "bare.csv")
        self.assertEqual(bare.out, expected)
        self.assertNotIn("accuracy", bare.err)


class Missing(Case):
    """Missing values: an error, the mean, or without the sample."""

    def setUp(self):
        super().setUp()
        self.rows = table_text(X, Y).splitlines()

    def holed(self, token):
        rows = [row.split(",") for row in self.rows]
        rows[4][2] = rows[9][0] = rows[9][1] = token
        return "".join(",".join(row) + "\n" for row in rows)

    def test_every_spelling_is_an_error_by_default(self):
        for token in ("", "?", "NA", "nan", "NaN", "na"):
            self.write("t.csv", self.holed(token))
            self.fails(DATA, "fit", "t.csv", says=(r"t\.csv:5:3", r"\b3\b", "mean", "drop"))

    def test_drop_is_the_table_without_the_rows(self):
        self.write("t.csv", self.holed("?"))
        self.write("less.csv", "\n".join(r for i, r in enumerate(self.rows) if i not in (4, 9)) + "\n")
        self.ok("fit", "t.csv", "--missing", "drop", "-o", "a.rlar")
        self.ok("fit", "less.csv", "-o", "b.rlar")
        a, _ = support.read_safetensors(self.path("a.rlar"))
        b, _ = support.read_safetensors(self.path("b.rlar"))
        np.testing.assert_array_equal(a["W"], b["W"])
        self.assertEqual(self.json_of("fit", "t.csv", "--missing", "drop")["n"], 28)

    def test_mean_is_the_mean_of_the_known(self):
        self.write("t.csv", self.holed("NA"))
        filled = X.astype(float)
        for i, j in ((4, 2), (9, 0), (9, 1)):
            known = [k for k in range(len(X)) if k not in ((4,) if j == 2 else (9,))]
            filled[i, j] = np.mean(X[known, j])
        self.write("filled.csv", table_text(filled, Y))
        self.ok("fit", "t.csv", "--missing", "mean", "-o", "a.rlar")
        self.ok("fit", "filled.csv", "-o", "b.rlar")
        a, _ = support.read_safetensors(self.path("a.rlar"))
        b, _ = support.read_safetensors(self.path("b.rlar"))
        np.testing.assert_allclose(a["W"], b["W"], rtol=1e-6, atol=1e-9)

    def test_missing_label_is_an_error(self):
        rows = [row.split(",") for row in self.rows]
        rows[3][-1] = "?"
        self.write("t.csv", "".join(",".join(row) + "\n" for row in rows))
        self.fails(DATA, "fit", "t.csv", says=(r"t\.csv:4", r"label"))


    def test_mat_is_treated_as_csv(self):
        """By each rule the same table, or a refusal in the same words but for the place."""
        nan, inf = np.nan, np.inf
        cases = {"label": [(2, 6)], "both": [(2, 6), (4, 1)], "values": [(0, 1), (7, 3)],
                 "column": [(i, 1) for i in range(30)], "all": [(i, i % 6) for i in range(30)]}
        for name, holes in cases.items():
            table = np.column_stack([X.astype(float), Y])
            for i, j in holes:
                table[i, j] = nan
            self.write("t.mat", mat(X=table[:, :6], y=column(table[:, 6])))
            self.write("t.csv", table_text(table[:, :6], ["" if np.isnan(v) else int(v) for v in table[:, 6]]))
            for rule in ([], ["--missing", "drop"], ["--missing", "mean"]):
                runs = [self.run_rlar("fit", f"t.{ending}", *rule, "-o", f"{ending}.rlar") for ending in ("mat", "csv")]
                self.assertEqual(runs[0].code, runs[1].code, (name, rule, runs[0].err, runs[1].err))
                if runs[0].code == 0:
                    self.assertEqual(self.path("mat.rlar").read_bytes(), self.path("csv.rlar").read_bytes())
                else:
                    place = r"^rlar: t\.(csv:[\d:]*|mat: (sample \d+(, feature \d+)?:)?)| \(.*"
                    said = [re.sub(place, "", run.err).strip() for run in runs]
                    self.assertEqual(said[0], said[1], (name, rule))
        self.write("t.mat", mat(X=X, y=column([nan, *Y[1:]])))
        self.fails(DATA, "fit", "t.mat", says=r"t\.mat: sample 1: the label is missing")
        self.write("t.mat", mat(X=X, y=column([*Y[:-1], -inf])))
        self.fails(DATA, "fit", "t.mat", says=r"t\.mat: sample 30: the label '-inf' is not finite")
        x = X.astype(float)
        for transposed in (False, True):
            x[3, 2] = inf
            self.write("t.mat", mat(X=x.T if transposed else x, y=column(Y)))
            self.fails(DATA, "fit", "t.mat", "-q", says=r"t\.mat: sample 4, feature 3: 'inf' is not finite")
            x[3, 2] = nan
            self.write("t.mat", mat(X=x.T if transposed else x, y=column(Y)))
            self.fails(DATA, "fit", "t.mat", "-q", says=r"t\.mat: sample 4, feature 3: the value is missing")
            self.assertEqual(self.json_of("fit", "t.mat", "--missing", "drop")["n"], 29)

    def test_mat_texts_without_a_label(self):
        texts = [("", "a", "b")[i % 3] for i in range(30)]
        cells = b"".join(mat_element(MI_MATRIX, mat_head(MX_CHAR, "", len(text), len(text)) +
                                     mat_element(16, text.encode())) for text in texts)
        self.write("t.mat", mat(X=X, y=mat_element(MI_MATRIX, mat_head(MX_CELL, "y", 30, 1) + cells)))
        self.fails(DATA, "fit", "t.mat", says=r"t\.mat: sample 1: the label is missing")
        self.assertEqual(self.json_of("fit", "t.mat", "--missing", "drop")["n"], 20)


class ClassesCalledLikeMissingValues(Case):
    """na, nan, ? and names with blanks at their ends: what the program writes it reads back."""

    CLASSES = ["na", "NaN", "?", " a", "a"]

    def setUp(self):
        super().setUp()
        self.x, y = support.blobs(classes=len(self.CLASSES), spread=3)
        self.y = [self.CLASSES[i - 1] for i in y]
        self.write("in.csv", table_text(self.x, [f'"{c}"' for c in self.y]))
        self.before = self.json_of("fit", "in.csv", "-o", "m.rlar")
        self.assertEqual(self.before["classes"], len(self.CLASSES))

    def test_convert(self):
        self.ok("fit", "in.csv", "--label", "-1", "-o", "a.rlar")
        for name in ("out.csv", "out.tsv", "out.arff", "out.csv.gz"):
            self.ok("convert", "in.csv", name)
            self.ok("convert", name, "back.csv")
            self.ok("convert", "in.csv", "once.csv")
            self.assertEqual(self.path("back.csv").read_bytes(), self.path("once.csv").read_bytes())
        for name in ("out.npz", "out.svm"):  # no quotes there
            self.fails(USAGE, "convert", "in.csv", name, says=("cannot be written", "csv"))

    def test_folders_to_a_table(self):
        for name in self.CLASSES:
            for i in range(2):
                self.write(f"faces/{name}/{i}.pgm", b"P5 2 1 255 " + bytes([60 + i, 65]))
        before = self.json_of("info", "faces")
        self.ok("convert", "faces", "faces.csv")
        self.assertEqual(self.json_of("info", "faces.csv")["classes"], before["classes"])

    def test_predictions_are_labels(self):
        result = self.ok("predict", "m.rlar", "in.csv", "-o", "labels.txt")
        self.assertIn("accuracy 100.0 %", result.err)
        self.write("x.csv", table_text(self.x, None))
        again = self.ok("predict", "m.rlar", "x.csv", "--labels", "labels.txt")
        self.assertIn("accuracy 100.0 % (50 of 50)", again.err)
        self.assertEqual(self.json_of("predict", "m.rlar", "in.csv")["predictions"], self.y)

    def test_scores_and_embedding(self):
        self.ok("predict", "m.rlar", "in.csv", "--scores", "-o", "scores.csv")
        self.ok("transform", "m.rlar", "in.csv", "-o", "z.csv")
        for name, label in (("scores.csv", "prediction"), ("z.csv", "class")):
            classes = self.json_of("info", name, "--label", label)["classes"]
            self.assertEqual(classes, self.json_of("info", "in.csv")["classes"])

    def test_a_missing_label_in_a_file_of_labels(self):
        """As in a column: dropped where that is asked for, and no matter for predictions."""
        self.write("x.csv", table_text(self.x, None))
        self.write("labels.txt", "na\n" + "".join(f'"{c}"\n' for c in self.y[1:]))
        self.fails(DATA, "info", "x.csv", "--labels", "labels.txt", says=r"labels\.txt:1:1: .*--missing drop")
        about = self.json_of("info", "x.csv", "--labels", "labels.txt", "--missing", "drop")
        self.assertEqual(about["n"], len(self.y) - 1)
        again = self.ok("predict", "m.rlar", "x.csv", "--labels", "labels.txt")
        self.assertIn("accuracy 100.0 % (49 of 49)", again.err)

    def test_a_class_unknown_to_the_model_stays_missing(self):
        self.write("new.csv", table_text(self.x, ["other"] + [f'"{c}"' for c in self.y[1:]]))
        self.ok("transform", "m.rlar", "new.csv", "-o", "z.csv")
        self.assertTrue(self.path("z.csv").read_text().splitlines()[1].endswith(",?"))
        self.fails(DATA, "fit", "z.csv", says=r"z\.csv:2:\d: the label is missing")
        result = self.ok("transform", "m.rlar", "new.csv", "-o", "z.npz")
        self.assertIn("1 samples have no class that the model knows", result.err)
        with np.load(self.path("z.npz")) as arrays:
            self.assertNotIn("y", arrays.files)


class BadMat(Case):
    """MATLAB files that cannot be used."""

    def test_without_the_variables(self):
        self.write("t.mat", mat(False, A=X, t=column(Y)))
        self.fails(DATA, "fit", "t.mat", says=(r"t\.mat", r"fea", r"--mat-vars"))
        self.fails(DATA, "fit", "t.mat", "--mat-vars", "A,nope", says=r"nope")
        # matio is opened when it is needed; a file that is no library stands for one that is absent.
        name = re.search(rb"libmatio\.so[.\d]*", Path(support.PROGRAM).read_bytes()).group().decode()
        self.write(name, "")
        env = {"LD_LIBRARY_PATH": str(self.folder)}
        if self.run_rlar("--version", env=env).code == 0:  # else it is linked
            self.fails(FAILED, "fit", "t.mat", "--mat-vars", "A,t", env=env,
                       says=(r"t\.mat", r"matio", r"install"))
        self.fails(USAGE, "fit", "t.mat", "--mat-vars", "A,b,c", says=r"mat-vars")

    def test_labels_of_another_length(self):
        self.write("t.mat", mat(False, fea=X, gnd=column(Y[:-1])))
        self.fails(DATA, "fit", "t.mat", says=(r"\b29\b", r"\b30\b"))

    def test_truncated(self):
        for compressed in (False, True):
            whole = mat(compressed, fea=X, gnd=column(Y))
            for size in (10, 127, 140, len(whole) - 200, len(whole) - 30):
                self.write("t.mat", whole[:size])
                self.fails(DATA, "fit", "t.mat", says=r"t\.mat")
                # Samples without their labels would be a loss that nobody notices.
                self.fails(DATA, "convert", "t.mat", "out.csv", says=r"t\.mat")

    def test_damaged(self):
        """Compressed elements carry a checksum; a wrong one must not pass for data."""
        whole = mat(True, fea=X, gnd=column(Y))
        for place in (200, 300, 400, len(whole) - 40, len(whole) - 2):
            damaged = bytearray(whole)
            damaged[place] ^= 0x10
            self.write("t.mat", bytes(damaged))
            self.fails(DATA, "convert", "t.mat", "out.csv", says=r"t\.mat")


    def test_parts_that_do_not_fit_their_variable(self):
        """matio would take memory for what a part promises, and leave unset what is not there."""
        for compressed in (False, True):
            for size in (8 * X.size - 8, 8 * X.size + 8, 2**30):
                body = mat_element(MI_UINT32, struct.pack("<II", MX_DOUBLE, 0))
                body += mat_element(MI_INT32, struct.pack("<ii", *X.shape))
                body += mat_element(MI_INT8, b"fea")
                body += struct.pack("<II", MI_DOUBLE, size) + X.tobytes(order="F")[:size]
                whole = mat_element(MI_MATRIX, body)
                if compressed:
                    packed = zlib.compress(whole)
                    whole = struct.pack("<II", MI_COMPRESSED, len(packed)) + packed
                self.write("t.mat", mat(False) + whole)
                self.fails(DATA, "convert", "t.mat", "out.csv", says=(r"t\.mat: damaged", r"part"))

    def test_variables_that_are_not_read(self):
        for compressed in (False, True):
            for name, content in mat_foreign():
                if not name:
                    continue
                whole = mat(compressed, X=X, v=content)
                self.write("t.mat", whole)
                self.ok("info", "t.mat")
                for names in (f"X,{name}", name):
                    self.fails(DATA, "info", "t.mat", "--mat-vars", names,
                               says=(r"t\.mat", f"'{name}'", r"function handle", r"-v7"))
                self.fails(DATA, "info", "t.mat", "--mat-vars", "Z", says=f"there are: X; not read: {name}")
                self.write("t.mat", whole[:-9])
                self.fails(DATA, "info", "t.mat", says=r"t\.mat: (cut short|damaged)")
            # Labels are not to be lost because nobody can read them.
            self.write("t.mat", mat(compressed, X=X, y=mat_opaque("y")))
            self.fails(DATA, "convert", "t.mat", "out.csv", says=(r"t\.mat", r"'y'", r"function handle"))
        # Nor where their class is damaged: numbers do not have the parts of an object.
        damaged = bytearray(mat(False, X=X, y=column(Y)))
        damaged[damaged.rindex(struct.pack("<II", MX_DOUBLE, 0))] = MX_OPAQUE
        self.write("t.mat", bytes(damaged))
        self.fails(DATA, "convert", "t.mat", "out.csv", says=r"t\.mat: damaged")
        self.write("t.mat", mat(False, t=mat_opaque("t"), X=np.zeros((64, 64))))
        self.fails(support.MEMORY, "info", "t.mat", "--max-memory", "20K", says=r"--max-memory")

    def test_cells(self):
        """As many as the sizes say, and matrices: matio would take memory for any number of them."""
        text = mat_element(MI_MATRIX, mat_head(MX_CHAR, "", 1, 1) + mat_element(16, b"a"))
        for count, inside in ((31, 30 * text), (2**28, 30 * text), (30, 29 * text + mat_element(MI_INT8, b"a"))):
            self.write("t.mat", mat(X=X, y=mat_element(MI_MATRIX, mat_head(MX_CELL, "y", count, 1) + inside)))
            self.fails(DATA, "convert", "t.mat", "out.csv", says=r"t\.mat: damaged")
        # A matrix in the place of numbers is none, whatever its own parts are.
        inner = mat_element(MI_MATRIX, mat_head(MX_DOUBLE, "", *X.shape) + mat_element(MI_DOUBLE, bytes(8 * X.size)))
        self.write("t.mat", mat(X=mat_element(MI_MATRIX, mat_head(MX_DOUBLE, "X", *X.shape) + inner)))
        self.fails(DATA, "convert", "t.mat", "out.csv", says=r"t\.mat: damaged")

    def test_sparse(self):
        """Logical values as doubles, which matio takes for bytes; parts that it would run past; fewer values."""
        self.write("t.mat", mat(X=mat_sparse("X", X > 100, "f8", 2), y=column(Y)))
        self.fails(DATA, "convert", "t.mat", "out.csv", says=(r"t\.mat", r"sparse", r"double\(X\)"))
        whole = mat_sparse("X", X, "f8")
        for wrong in (mat_sparse("X", X, "f8", places=MI_INT8), mat_sparse("X", X, "f8", places=MI_DOUBLE),
                      mat_sparse("X", X, "u1", claimed=16)):
            self.write("t.mat", mat(X=wrong, y=column(Y)))
            self.fails(DATA, "convert", "t.mat", "out.csv", says=r"t\.mat: damaged")
        body = whole[8:-8 - 8 * np.count_nonzero(X)]  # no values: those of the next variable would be taken
        self.write("t.mat", mat(X=mat_element(MI_MATRIX, body), y=column(Y)))
        self.fails(DATA, "convert", "t.mat", "out.csv", says=r"t\.mat: damaged")
        less = body + mat_element(MI_DOUBLE, bytes(8))
        self.write("t.mat", mat(X=mat_element(MI_MATRIX, less), y=column(Y)))
        self.fails(DATA, "convert", "t.mat", "out.csv", says=r"t\.mat: variable 'X' is damaged")

    def test_sparse_size(self):
        """A few bytes do not become a large table: 1000 times as many and 64 MiB, as of sparse text."""
        parts = mat_element(MI_INT32, struct.pack("<i", 5)) + mat_element(MI_INT32, struct.pack("<ii", 0, 1))
        whole = mat_head(MX_SPARSE, "X", 10_000_000) + parts + mat_element(MI_DOUBLE, struct.pack("<d", 1))
        self.write("t.mat", mat(X=mat_element(MI_MATRIX, whole)))
        self.fails(DATA, "info", "t.mat", says=(r"t\.mat", r"'X' of 10000000 x 1", r"from 20 bytes", r"64 MiB"))

    def test_level_4(self):
        """The sizes must fit into the file before matio is asked: it would take memory for them."""
        good = mat_level_4("gnd", column(Y))
        for wrong in (dict(length=2**30), dict(rows=2**31), dict(rows=2**32 - 1, columns=2**32 - 1), dict(type=60)):
            self.write("t.mat", good + mat_level_4("fea", X, **wrong))
            self.fails(DATA, "convert", "t.mat", "out.csv", says=(r"t\.mat", r"level-4"))
        self.write("t.mat", (mat_level_4("fea", X) + good)[:-5])
        self.fails(DATA, "convert", "t.mat", "out.csv", says=r"t\.mat")
        self.write("t.mat", b"no matrix at all, but more than twenty bytes")
        self.fails(DATA, "convert", "t.mat", "out.csv", says=r"not a MATLAB file")


class ModelColumns(Case):
    def test_prediction_refuses_other_columns(self):
        self.write("t.csv", table_text(X, Y, names=NAMES))
        self.ok("fit", "t.csv", "-o", "m.rlar")
        self.write("less.csv", table_text(X[:, :4], Y, names=NAMES[:4]))
        self.fails(MODEL, "predict", "m.rlar", "less.csv", says=r"f5")


if __name__ == "__main__":
    unittest.main()
