"""Odd inputs and what the program must do with each: the table behind test_errors.py and docs/errors.md.

An Odd has the files to lay down, the command line, the exit code, and patterns that standard
error must contain. Commands run inside the folder of the files, so messages name no machine paths.
"""

import io
import struct
import zipfile
from typing import NamedTuple

import numpy as np

import support
from support import DATA, FAILED, IO, MEMORY, MODEL, NUMERIC, OK, USAGE, blobs, gz, table_text


class Odd(NamedTuple):
    name: str  # what the input is, in a few words
    argv: str  # the command line without the program's name
    code: int
    says: tuple = ()  # patterns that standard error must match
    files: dict = {}  # name -> text or bytes; None: an empty folder
    model: str = None  # needs good.rlar, made from good.csv with these options of fit
    cut: int = 0  # bytes missing at the end of the model
    stdin: bytes = b""


NAMES = ["a", "b", "c", "d"]
X, Y = blobs(8, 4, 3, seed=3)
GOOD = table_text(X, Y, names=NAMES)


def edited(row, column, cell):
    """GOOD with one cell replaced; row 0 is the header, columns count from 0."""
    lines = [line.split(",") for line in GOOD.splitlines()]
    lines[row][column] = cell
    return "".join(",".join(line) + "\n" for line in lines)


def relabelled(y, x=X):
    return table_text(x, y, names=NAMES)


def scaled(factor):
    lines = ["a,b,c,d,label"]
    for row, label in zip(X / 256.0, Y):
        lines.append(",".join(repr(float(v * factor)) for v in row) + f",{label}")
    return "\n".join(lines) + "\n"


def constant_column():
    x = X.copy()
    x[:, 1] = 7
    return relabelled(Y, x)


def npy(array):
    out = io.BytesIO()
    np.save(out, array, allow_pickle=True)
    return out.getvalue()


def npy_header(shape, dtype="<f8"):
    """An NPY file that declares a shape and has a handful of bytes."""
    text = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}"
    text += " " * (63 - (10 + len(text)) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode() + b"\0" * 64


def pgm(width, height, value=100):
    return f"P5\n{width} {height}\n255\n".encode() + bytes([value]) * (width * height)


def npz_of_bzip2():
    """A container that is legal, but packed by a method that hardly anyone uses."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_BZIP2) as pack:
        pack.writestr(zipfile.ZipInfo("X.npy"), npy(X), zipfile.ZIP_BZIP2)
        pack.writestr(zipfile.ZipInfo("y.npy"), npy(Y), zipfile.ZIP_BZIP2)
    return out.getvalue()


TABLE = npy(np.column_stack([X, Y]))
JUNK = bytes(np.random.RandomState(5).randint(128, 256, size=4096, dtype=np.uint8))
CSV = {"good.csv": GOOD}
JSON = {"good.json": '{"results": [{"data": "good", "method": "rlar", "train_per_class": 5, "accuracy": {"mean": 0.9},'
        ' "classes": ["a", "b"], "confusion": [[9, 1], [1, 9]]}]}'}


def data_errors():
    yield Odd("empty file", "fit empty.csv", DATA, (r"empty\.csv", r"empty|no samples|no rows|no data"),
              {"empty.csv": ""})
    yield Odd("header only", "fit header.csv", DATA, (r"header\.csv", r"no (samples|rows|data)"),
              {"header.csv": "a,b,c,d,label\n"})
    yield Odd("one class", "fit one.csv", DATA, (r"one class|1 class|two classes|2 classes",),
              {"one.csv": relabelled([1] * len(Y))})
    yield Odd("text in a number column", "fit text.csv", DATA, (r"text\.csv:4:2", r"abc", r"number"),
              {"text.csv": edited(3, 1, "abc")})
    yield Odd("names and numbers in the first line", "fit genes.csv", DATA, (r"genes\.csv:1:1", r"--header yes"),
              {"genes.csv": GOOD.replace("a,b,c,d,label", "gene,2,3,4,kind")})
    yield Odd("NaN cell", "fit nan.csv", DATA, (r"nan\.csv:4:2", r"missing", r"--missing"),
              {"nan.csv": edited(3, 1, "nan")})
    yield Odd("two missing cells", "fit missing.csv", DATA,
              (r"missing\.csv:3:1", r"\b2\b", r"--missing"),
              {"missing.csv": edited(2, 0, "").replace("\n" + GOOD.splitlines()[5] + "\n",
                                                        "\n1,2,?,4,1\n")})
    yield Odd("infinite cell", "fit inf.csv", DATA, (r"inf\.csv:4:2", r"inf"),
              {"inf.csv": edited(3, 1, "inf")})
    yield Odd("row with a cell too few", "fit ragged.csv", DATA,
              (r"ragged\.csv:6", r"\b4\b", r"\b5\b"),
              {"ragged.csv": GOOD.replace("\n" + GOOD.splitlines()[5] + "\n", "\n1,2,3,1\n")})
    yield Odd("row with a cell too many", "fit ragged.csv", DATA,
              (r"ragged\.csv:6", r"\b6\b|more", r"\b5\b"),
              {"ragged.csv": GOOD.replace("\n" + GOOD.splitlines()[5] + "\n", "\n1,2,3,4,5,1\n")})
    yield Odd("quote that never ends", "fit quote.csv", DATA, (r"quote\.csv:3", r"quot"),
              {"quote.csv": edited(2, 4, '"1')})
    yield Odd("one column", "fit column.csv", DATA, (r"column\.csv", r"column|feature"),
              {"column.csv": "1\n2\n1\n2\n"})
    yield Odd("binary junk as CSV", "fit junk.csv", DATA, (r"junk\.csv",), {"junk.csv": JUNK})
    yield Odd("NUL bytes in CSV", "fit nul.csv", DATA, (r"nul\.csv:4", r"NUL|zero byte|0x00|binary"),
              {"nul.csv": edited(3, 1, "1\0")})
    yield Odd("number beyond double", "fit huge.csv", DATA, (r"huge\.csv:4:2", r"1e999"),
              {"huge.csv": edited(3, 1, "1e999")})
    yield Odd("folder without images", "fit pictures", DATA, (r"pictures", r"image|PGM|PNG"),
              {"pictures": None})
    yield Odd("images of two sizes", "fit pictures", DATA, (r"2\.pgm", r"4.{1,4}3", r"5.{1,4}3"),
              {"pictures/x/1.pgm": pgm(4, 3), "pictures/x/2.pgm": pgm(5, 3),
               "pictures/y/3.pgm": pgm(4, 3), "pictures/y/4.pgm": pgm(4, 3)})
    yield Odd("images of another shape in another folder", "fit wide tall", DATA, (r"tall", r"3 x 4", r"4 x 3"),
              {**{f"wide/{name}.pgm": pgm(4, 3) for name in ("x/1", "y/1")},
               **{f"tall/{name}.pgm": pgm(3, 4) for name in ("x/1", "y/1")}})
    yield Odd("truncated image", "fit pictures", DATA, (r"1\.pgm", r"truncated|ends|short|bytes"),
              {"pictures/x/1.pgm": pgm(4, 3)[:-5], "pictures/y/3.pgm": pgm(4, 3)})
    yield Odd("truncated gzip", "fit cut.csv.gz", DATA, (r"cut\.csv\.gz", r"gzip|compressed|truncated"),
              {"cut.csv.gz": gz(GOOD)[:-20]})
    yield Odd("damaged gzip", "fit bad.csv.gz", DATA, (r"bad\.csv\.gz", r"gzip|compressed|damaged|corrupt"),
              {"bad.csv.gz": gz(GOOD)[:60] + b"\xff\xff\xff" + gz(GOOD)[63:]})
    yield Odd("truncated NPY", "fit cut.npy", DATA, (r"cut\.npy", r"truncated|ends|bytes"),
              {"cut.npy": TABLE[:-100]})
    yield Odd("NPY that declares a huge shape", "fit huge.npy", DATA, (r"huge\.npy", r"1000000000000|bytes"),
              {"huge.npy": npy_header((1000000000000, 1000))})
    yield Odd("NPY whose shape overflows", "fit over.npy", DATA, (r"over\.npy",),
              {"over.npy": npy_header((4611686018427387904, 8))})
    yield Odd("NPY of three dimensions", "fit cube.npy", DATA, (r"cube\.npy", r"2|two|dimension"),
              {"cube.npy": npy(np.zeros((4, 3, 2)))})
    yield Odd("NPY of Python objects", "fit objects.npy", DATA, (r"objects\.npy", r"\|O|object|type"),
              {"objects.npy": npy(np.array([["a", 1]], dtype=object))})
    yield Odd("LIBSVM index 10^12", "fit far.svm", DATA, (r"far\.svm:2", r"1000000000000"),
              {"far.svm": "1 1:1 2:2\n2 1:3 1000000000000:4\n1 1:2\n2 2:1\n"})
    yield Odd("LIBSVM index 0", "fit zero.svm", DATA, (r"zero\.svm:2", r"\b0\b", r"\b1\b"),
              {"zero.svm": "1 1:1 2:2\n2 0:3 1:4\n"})
    yield Odd("LIBSVM indices that fall", "fit fall.svm", DATA, (r"fall\.svm:2", r"increas|order|ascend"),
              {"fall.svm": "1 1:1 2:2\n2 2:3 1:4\n"})
    yield Odd("ARFF without data", "fit bare.arff", DATA, (r"bare\.arff",),
              {"bare.arff": "@relation r\n@attribute a numeric\n@attribute class {x,y}\n"})
    yield Odd("label file of the wrong length", "fit x.npy --labels y.txt", DATA,
              (r"y\.txt|labels", r"\b23\b", r"\b24\b"),
              {"x.npy": npy(X), "y.txt": "".join(f"{c}\n" for c in Y[:-1])})
    yield Odd("no labels", "fit good.csv --label none", DATA, (r"good", r"--label"), CSV)
    yield Odd("values of 1e308 without scaling", "fit large.csv --scale none", DATA,
              (r"large", r"sample 1\b", r"--scale"), {"large.csv": scaled(1e308)})
    yield Odd("class name of two lines", "fit lines.csv", DATA, (r"lines\.csv", r"line|newline"),
              {"lines.csv": edited(3, 4, '"two\nlines"')})
    yield Odd("more training samples than a class has",
              "evaluate good.csv --methods rlar --train-per-class 8 --trials 2", DATA,
              (r"good", r"\b8\b", r"class"), CSV)


def usage_errors():
    yield Odd("unknown verb", "fitt good.csv", USAGE, (r"fitt", r"\bfit\b"), CSV)
    yield Odd("unknown option", "fit good.csv --metod rlar", USAGE, (r"--metod", r"--method"), CSV)
    yield Odd("option without its value", "fit good.csv -o", USAGE, (r"-o", r"value|FILE|MODEL|needs"), CSV)
    yield Odd("label column that does not exist", "fit good.csv --label colour", USAGE,
              (r"colour", r"\ba\b.*\blabel\b"), CSV)
    yield Odd("label index beyond the columns", "fit good.csv --label 9", USAGE, (r"\b9\b", r"\b5\b"), CSV)
    yield Odd("label column of a format without columns", "fit good.svm --label 1", USAGE,
              (r"good\.svm", r"--label none"), {"good.svm": "1 1:1 2:3\n2 1:4\n"})
    yield Odd("label index 0", "fit good.csv --label 0", USAGE, (r"\b0\b", r"\b5\b"), CSV)
    yield Odd("output without a name", "fit good.csv -o ''", USAGE, (r"-o|--output", r"name|empty"), CSV)
    yield Odd("no data", "fit", USAGE, (r"DATA|data",))
    yield Odd("two data files", "tune good.csv good.csv", USAGE, (r"good\.csv|one", r"DATA|argument|data"), CSV)
    yield Odd("standard input among several files", "fit good.csv -", USAGE, (r"standard input",), CSV)
    yield Odd("standard input named twice", "predict - -", USAGE, (r"standard input", r"once"))
    yield Odd("a picture that is read again and again", "reproduce uci --occluder -", USAGE, (r"--occluder -", r"name a file"))
    yield Odd("ranks of one process", "fit good.csv --solve distributed", USAGE, (r"--solve distributed", r"rlar-mpi"),
              CSV)
    yield Odd("means of several files", "fit good.csv good.csv --missing mean", USAGE, (r"--missing mean",), CSV)
    yield Odd("one list of labels for several files", "fit good.csv good.csv --labels good.csv", USAGE,
              (r"--labels",), CSV)
    yield Odd("unknown method", "fit good.csv --method ldaa", USAGE, (r"ldaa", r"did you mean lda\?", r"\brlar\b"), CSV)
    yield Odd("two methods as near", "fit good.csv --method rlr", USAGE, (r"rlr", r"did you mean rlar or rr\?", r"\blda\b"), CSV)
    yield Odd("method in capitals", "evaluate good.csv --methods LFDA --train-per-class 3", USAGE,
              (r"LFDA", r"did you mean lfda\?"), CSV)
    yield Odd("method unlike any", "fit good.csv --method svm", USAGE, (r"svm", r"; there are: rlar, rr"), CSV)
    yield Odd("unknown parameter", "fit good.csv -p gamma=1", USAGE, (r"gamma", r"alpha.*beta"), CSV)
    yield Odd("parameter without a value", "fit good.csv -p alpha", USAGE, (r"alpha", r"NAME=VALUE|="), CSV)
    yield Odd("alpha = -1", "fit good.csv --alpha -1", USAGE, (r"alpha", r"-1", r"1e-12"), CSV)
    yield Odd("alpha = abc", "fit good.csv -p alpha=abc", USAGE, (r"alpha", r"abc", r"number"), CSV)
    yield Odd("alpha = nan", "fit good.csv -p alpha=nan", USAGE, (r"alpha", r"nan"), CSV)
    yield Odd("k = -1", "fit good.csv -k -1", USAGE, (r"\bk\b", r"-1", r"\b0\b"), CSV)
    yield Odd("k = 2.5", "fit good.csv -p k=2.5", USAGE, (r"\bk\b", r"2\.5", r"whole|integer"), CSV)
    yield Odd("iters = 0", "fit good.csv --iters 0", USAGE, (r"iters", r"\b0\b", r"\b1\b"), CSV)
    yield Odd("a seed of 23 digits", "fit good.csv --seed 12345678901234567890123", USAGE, (r"--seed", r"2\^63"), CSV)
    yield Odd("unknown solver", "fit good.csv -p solver=magic", USAGE, (r"magic", r"paper.*anneal"), CSV)
    yield Odd("unknown preset", "fit good.csv --preset best", USAGE, (r"best", r"paper"), CSV)
    yield Odd("unknown scaling", "fit good.csv --scale log", USAGE, (r"log", r"unit.*minmax.*zscore"), CSV)
    yield Odd("unknown format", "fit good.csv --format xls", USAGE, (r"xls", r"csv"), CSV)
    yield Odd("unknown rule for missing values", "fit good.csv --missing zero", USAGE,
              (r"zero", r"mean.*drop"), CSV)
    yield Odd("unknown header rule", "fit good.csv --header maybe", USAGE, (r"maybe", r"auto.*yes.*no"), CSV)
    yield Odd("threads that are no number", "fit good.csv --threads many", USAGE, (r"threads", r"many"), CSV)
    yield Odd("more threads than there can be", "fit good.csv --threads 257", USAGE, (r"--threads", r"257", r"256"), CSV)
    yield Odd("memory that is no size", "fit good.csv --max-memory lots", USAGE, (r"max-memory", r"lots"), CSV)
    yield Odd("two kinds of splits",
              "evaluate good.csv --methods rlar --train-per-class 3 --folds 3", USAGE,
              (r"--train-per-class", r"--folds"), CSV)
    yield Odd("no kind of split", "evaluate good.csv --methods rlar", USAGE,
              (r"--train-per-class", r"--train-fraction", r"--folds"), CSV)
    yield Odd("a share above 1", "evaluate good.csv --methods rlar --train-fraction 1.5", USAGE,
              (r"train-fraction", r"1\.5"), CSV)
    yield Odd("unknown tuning", "evaluate good.csv --methods rlar --train-per-class 3 --tune best", USAGE,
              (r"best", r"none.*cv.*oracle"), CSV)
    yield Odd("from coarse to fine, but nothing to search",
              "evaluate good.csv --methods rlar --train-per-class 3 --coarse", USAGE, (r"--coarse", r"--tune"), CSV)
    yield Odd("going on from a file that is no journal",
              "evaluate good.csv --methods rlar --train-per-class 3 --resume good.csv", DATA,
              (r"^rlar: good\.csv: not a journal",), CSV)
    yield Odd("a table that the paper has not", "reproduce tables", USAGE, (r"tables", r"--list"), {})
    yield Odd("tables without data", "reproduce uci", USAGE, (r"--data-dir", r"RLAR_DATA_DIR"), {})
    yield Odd("an unknown column of the tables", "reproduce uci --columns best", USAGE,
              (r"best", r"preset.*default.*oracle.*cv"), {})
    yield Odd("grid over an unknown name",
              "evaluate good.csv --methods rlar --train-per-class 3 --tune cv --grid gamma=1,2", USAGE,
              (r"gamma", r"alpha"), CSV)
    yield Odd("grid with a value out of range",
              "evaluate good.csv --methods rlar --train-per-class 3 --tune cv --grid alpha=1,-2", USAGE,
              (r"alpha", r"-2"), CSV)
    yield Odd("grid with a value given twice", "tune good.csv --grid alpha=0.1,1,0.1", USAGE,
              (r"alpha=0\.1,1,0\.1", r"twice"), CSV)
    yield Odd("grid with a number written in two ways", "tune good.csv --grid alpha=0.1,1e-1", USAGE,
              (r"0\.1", r"1e-1", r"same number"), CSV)
    yield Odd("method given twice", "evaluate good.csv --methods rlar,rlar --train-per-class 3", USAGE,
              (r"rlar is given twice",), CSV)
    yield Odd("training size given twice", "evaluate good.csv --train-per-class 3,5,3", USAGE,
              (r"3 is given twice",), CSV)
    yield Odd("data given twice", "evaluate good.csv good.csv --train-per-class 3", USAGE,
              (r"good\.csv is given twice",), CSV)
    yield Odd("one file by two names", "evaluate good.csv ./good.csv --train-per-class 3", USAGE,
              (r"good\.csv and \./good\.csv are the same file",), CSV)
    yield Odd("tuning two methods at once", "tune good.csv --method rlar,lda", USAGE,
              (r"rlar,lda", r"one method", r"evaluate"), CSV)
    yield Odd("tuning over a classifier that the method cannot use",
              "tune good.csv --method lda --grid classifier=1nn,argmax", USAGE, (r"argmax", r"lda"), CSV)
    yield Odd("no trials", "evaluate good.csv --methods rlar --train-per-class 3 --trials 0", USAGE,
              (r"trials", r"\b0\b"), CSV)
    yield Odd("unknown classifier", "predict good.rlar good.csv --classifier svm", USAGE,
              (r"svm", r"1nn.*knn.*centroid.*argmax.*1nn-cosine.*knn-cosine.*centroid-cosine"), CSV,
              model="")
    yield Odd("figure of an unknown kind", "plot pie good.json -o pie.svg", USAGE, (r"pie", r"heatmap"), JSON)
    yield Odd("figure without an output", "plot heatmap good.json", USAGE, (r"-o FIG\.svg",), JSON)
    yield Odd("figure in an unknown format", "plot heatmap good.json -o good.jpg", USAGE,
              (r"good\.jpg", r"\.svg, \.pdf or \.png"), JSON)
    yield Odd("image of another size", "plot features good.rlar --image 3x3 -o good.svg", USAGE,
              (r"3x3", r"4 features"), CSV, model="")
    yield Odd("figure over the input", "plot heatmap good.svg -o good.svg", USAGE, (r"overwritten",),
              {"good.svg": JSON["good.json"]})
    yield Odd("predictions over an image that is read", "predict good.rlar faces -o faces/x/1.pgm", USAGE,
              (r"faces/x/1\.pgm", r"images of faces"), {**CSV, "faces/x/1.pgm": pgm(2, 2)}, model="")
    yield Odd("unknown method to describe", "methods ldaa", USAGE, (r"ldaa", r"\brlar\b"))


def figure_errors():
    yield Odd("result that is not JSON", "plot heatmap good.csv -o good.svg", DATA,
              (r"good\.csv:1:", r"not JSON", r"evaluate --json"), CSV)
    yield Odd("JSON that is no result", "plot heatmap other.json -o good.svg", DATA, (r'"results"',),
              {"other.json": '{"a": 1}'})
    yield Odd("result without a grid", "plot heatmap good.json -o good.svg", DATA, (r'"grid"', r"--tune cv"), JSON)
    yield Odd("result without a comparison", "plot ranks good.json -o good.svg", DATA,
              (r'"comparison"', r"three methods"), JSON)
    yield Odd("result without matrices", "plot matrices good.json -o good.svg", DATA, (r'"matrices"',), JSON)
    yield Odd("one training size", "plot sizes good.json -o good.svg", DATA, (r"--train-per-class",), JSON)
    yield Odd("table that is no trace", "plot convergence good.csv -o good.svg", DATA, (r"iteration", r"--trace"), CSV)
    yield Odd("figure of data given as a model", "plot features good.csv -o good.svg", MODEL, (r"good\.csv",), CSV)
    yield Odd("report of what is no result", "report good.csv -o good.html", DATA, (r"good\.csv:1:", r"not JSON"), CSV)
    yield Odd("report without an output", "report good.json", USAGE, (r"-o report\.html",), JSON)
    yield Odd("missing result", "plot heatmap nowhere.json -o good.svg", IO, (r"nowhere\.json", r"No such file"))
    yield Odd("figure into a missing folder", "plot confusion good.json -o no/such/good.svg", IO, (r"no/such",), JSON)


def model_errors():
    yield Odd("CSV given as model", "predict good.csv good.csv", MODEL, (r"good\.csv", r"model"), CSV)
    yield Odd("empty model", "predict empty.rlar good.csv", MODEL, (r"empty\.rlar",),
              {**CSV, "empty.rlar": ""})
    yield Odd("truncated model", "predict good.rlar good.csv", MODEL, (r"good\.rlar", r"truncated|bytes"),
              CSV, model="", cut=100)
    yield Odd("model for more columns", "predict good.rlar few.csv", MODEL, (r"few\.csv",
              r"'d'"), {**CSV, "few.csv": table_text(X[:, :3], Y, names=NAMES[:3])}, model="")
    yield Odd("model for fewer columns", "predict good.rlar many.csv", MODEL, (r"many\.csv", r"\b8\b", r"\b4\b"),
              {**CSV, "many.csv": table_text(np.hstack([X, X]), Y)}, model="")
    yield Odd("model for columns of other names", "predict good.rlar other.csv", MODEL, (r"other\.csv", r"'c'", r"'gamma'"),
              {**CSV, "other.csv": table_text(X, Y, names=["a", "b", "gamma", "d"])}, model="")
    yield Odd("data given as model to rank", "rank good.csv", MODEL, (r"good\.csv", r"model"), CSV)


def system_errors():
    yield Odd("NPZ packed by a method we lack", "fit rare.npz", FAILED, (r"rare\.npz", r"compress|method|12"),
              {"rare.npz": npz_of_bzip2()})
    yield Odd("missing file", "fit nowhere.csv", IO, (r"nowhere\.csv", r"[Nn]o such file"))
    yield Odd("missing model", "predict nowhere.rlar good.csv", IO, (r"nowhere\.rlar", r"[Nn]o such file"), CSV)
    yield Odd("folder given as CSV", "fit folder --format csv", IO, (r"folder", r"directory|folder"),
              {"folder": None})
    yield Odd("output into a missing folder", "fit good.csv -o no/such/m.rlar", IO,
              (r"no/such", r"[Nn]o such"), CSV)
    yield Odd("output onto a folder", "fit good.csv -o taken", IO, (r"taken", r"directory|folder"),
              {**CSV, "taken/file": "x"})
    yield Odd("too little memory allowed", "fit good.csv --max-memory 1K", MEMORY,
              (r"--max-memory", r"1\.0 KiB"), CSV)
    yield Odd("new samples far beyond those of training", "predict good.rlar large.csv", NUMERIC,
              (r"large\.csv", r"sample 1\b", r"too large", r"check"), {**CSV, "large.csv": scaled(1e308)},
              model="--scale none")
    yield Odd("a grid of which no cell can be fitted", "tune large.csv --grid scale=none --folds 2", NUMERIC,
              (r"large", r"no fit succeeded", r"--scale"), {"large.csv": scaled(1e308)})


def successes():
    yield Odd("label gap (1, 2, 5)", "fit gap.csv", OK, (), {"gap.csv": relabelled([1, 2, 5] * 8)})
    yield Odd("values of 1e308", "fit large.csv", OK, (), {"large.csv": scaled(1e308)})
    yield Odd("subnormal values", "fit small.csv", OK, (), {"small.csv": scaled(1e-310)})
    wide = np.random.RandomState(1).randint(0, 256, size=(12, 40))
    yield Odd("fewer samples than features", "fit wide.csv -k 2", OK, (),
              {"wide.csv": table_text(wide, [1, 2, 3] * 4)})
    for scale in ("none", "unit", "minmax", "zscore", "rms", "minmax,unit", "zscore,unit", "zscore,rms"):
        yield Odd(f"constant column, scaling {scale}", f"fit constant.csv --scale {scale}", OK, (),
                  {"constant.csv": constant_column()})
    yield Odd("duplicate rows", "fit twice.csv", OK, (),
              {"twice.csv": relabelled(np.repeat(Y, 2), np.repeat(X, 2, axis=0))})
    yield Odd("duplicate rows with two labels", "fit torn.csv", OK, (),
              {"torn.csv": relabelled(np.concatenate([Y, Y % 3 + 1]), np.vstack([X, X]))})
    yield Odd("first line that may be a sample or names", "fit first.csv", OK,
              (r"rlar: warning: first\.csv:1: .*taken for names", r"--header no"),
              {"first.csv": GOOD.replace("a,b,c,d,label", "7,3,5,1,target")})
    yield Odd("first line that may be names or a sample", "fit wavelengths.csv", OK,
              (r"rlar: warning: wavelengths\.csv:1: .*taken for a sample", r"--header yes"),
              {"wavelengths.csv": GOOD.replace("a,b,c,d,label", "400,450,500,550,600")})
    yield Odd("index column of a data frame", "fit frame.csv", OK,
              (r"rlar: warning: frame\.csv:1: column 1 has no name", r"take it out"),
              {"frame.csv": "".join(f"{i if i else ''},{line}\n" for i, line in enumerate(GOOD.splitlines()))})
    yield Odd("labels in a file and in a column", "fit good.csv --labels labels.txt", OK,
              (r"rlar: warning: good\.csv:1: column 'label' is taken for a feature", r"take it out"),
              {**CSV, "labels.txt": "".join(line.rsplit(",", 1)[1] + "\n" for line in GOOD.splitlines()[1:])})
    yield Odd("class of one sample", "fit single.csv", OK, (r"rlar: warning.*neighbour",),
              {"single.csv": relabelled([9] + list(Y[1:]))})
    yield Odd("class with no more than k samples", "fit good.csv -k 8", OK,
              (r"rlar: warning.*neighbour",), CSV)
    yield Odd("best cell on the edge of the grid", "tune good.csv --grid alpha=0.1,1 --folds 3", OK,
              (r"rlar: warning: the best alpha, 1, is the largest tried: extend the grid",), CSV)
    yield Odd("nothing to tune", "tune good.csv --method lsr --folds 3", OK, (r"rlar: warning: lsr.*--grid",), CSV)
    yield Odd("cells that fail", "tune large.csv --grid scale=none,unit --folds 3", OK,
              (r"rlar: warning: 1 of 2 cells failed",), {"large.csv": scaled(1e308)})
    yield Odd("k larger than n", "fit good.csv -k 1000", OK, (r"rlar: warning.*neighbour",), CSV)


ALL = [("Bad data", list(data_errors())), ("Usage", list(usage_errors())),
       ("Figures and reports", list(figure_errors())), ("Models", list(model_errors())), ("System, memory, numbers", list(system_errors())),
       ("Odd but fine", list(successes()))]
EVERY = [odd for _, group in ALL for odd in group]


def lay_down(odd, folder):
    """Write the files of an Odd into a folder and, where it needs one, the model of good.csv."""
    for name, content in odd.files.items():
        path = folder / name
        if content is None:
            path.mkdir(parents=True, exist_ok=True)
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    if odd.model is not None:
        made = support.run("fit", "good.csv", "-o", "good.rlar", *odd.model.split(), cwd=folder)
        assert made.code == OK, made.err
        whole = (folder / "good.rlar").read_bytes()
        (folder / "good.rlar").write_bytes(whole[:len(whole) - odd.cut])
