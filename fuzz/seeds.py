#!/usr/bin/env python3
"""Write the hand-made seeds of the corpora, one file for each feature of a format.

    fuzz/seeds.py PROGRAM [FOLDER]     PROGRAM is the path of the rlar command, FOLDER is fuzz/corpus

Run once; the files are committed. What the fuzzer finds is added by `scripts/fuzz --merge`, under
names that are hashes. Needs NumPy and SciPy for the formats that are theirs.
"""
import gzip
import io
import os
import struct
import subprocess
import sys
import tempfile
import zipfile
import zlib

import numpy
import scipy.io
import scipy.sparse

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")

TABLES = {
    "header": "a,b,class\n1,2,x\n3,4,y\n5,6,x\n",
    "plain": "1,2,0\n3,4,1\n",
    "quotes": 'a,"b ""c""",class\n"1",2,"x,y"\n3," 4","two\nlines"\n',
    "missing": "a,b,class\n1,NA,x\n?,4,y\n,nan,x\n5,6,y\n",
    "semicolon": "a;b;class\r\n1;2;x\r\n3;4;y\r\n",
    "blanks": "1 2 0\n3 4 1\n",
    "numbers": "1e3,-0,+.5,1.,x\n2e-300,5e-324,1.7976931348623157e308,0.1,y\n",
    "ragged": "1,2,3\n4,5\n",
    "bom": "\ufeffa,b,class\n1,2,x\n",
    "open-quote": 'a,b\n1,"2\n3,4\n',
    "names": 'a,b,class\n1,2," a"\n3,4,"NA"\n5,6,"1.0"\n7,8,01\n',
    "infinite": "1,inf,0\n1,1e999,1\n",
    "carriage-returns": "1,2,0\r3,4,1\r",
    "no-end": "1,2,0\n3,4,1",
    "nul": "1,2,0\n3,\0,1\n",
    "label-column": "label,b,c\n1,2,3\n4,5,6\n",
    "blanks-around": " 1 ,\t2\t, x \t\n3 ,4, x\n5,6\t,\"x \" \n",
}
LIBSVM = {
    "plain": "1 1:2 3:4\n-1 2:1.5\n",
    "zero-based": "a 0:1 2:3\nb 1:2\n",
    "comments": "# text\n1 1:2 # more\n\n2 qid:3 1:1\n",
    "missing": "1 1:? 2:3\n2 1:NA 2:1\n",
    "no-label": "1:2 3:4\n2:1\n",
    "wide": "1 1:1\n2 500:1\n",
    "huge": "1 99999999:1\n",
    "descending": "1 3:1 2:1\n",
    "spaces": "  +1\t1:1   2:-0 \r\n-1 2:0\r\n",
    "overflow": "1 99999999999999999999:1\n1 1:1e999\n",
}
ARFF = {
    "plain": "@relation r\n@attribute a numeric\n@attribute class {x,y}\n@data\n1,x\n2,y\n",
    "quotes": "@RELATION 'a r'\n@ATTRIBUTE 'the a' REAL\n@attribute \"b\" integer\n"
              "@attribute class {'x y',\"z\\'s\"}\n@DATA\n1,2,'x y'\n3,?,\"z\\'s\"\n",
    "sparse": "@relation r\n@attribute a numeric\n@attribute b numeric\n@attribute class {x,y}\n@data\n"
              "{0 1, 2 y}\n{1 3}\n",
    "comments": "% c\n@relation r\n% c\n@attribute a numeric\n@attribute c string\n@data\n% c\n1,q\n",
    "date": "@relation r\n@attribute a date\n@attribute c {0,1}\n@data\n2020-01-01,0\n",
    "no-data": "@relation r\n@attribute a numeric\n",
    "weights": "@relation r\n@attribute a numeric\n@attribute c {0,1}\n@data\n1,0,{2}\n2,1\n",
    "nominal-numbers": "@relation r\n@attribute a numeric\n@attribute c {10,2,1.0}\n@data\n1,10\n2,2\n",
}
LABELS = {
    "lines": "x\ny\nx\n", "numbers": "1\n2.0\n01\n-0\n1e0\n", "no-end": "b\na", "blanks": "  x \t\n\ty\n", "quotes":
    '"x"\n" y "\n"na"\n"1"\n', "doubled-quotes": '"a ""b"""\n""""\n"a"b"\n', "one-quote": '"\n"a\na"\n', "missing":
    "x\nNA\n", "question": "?\n", "blank-line": "x\n\ny\n", "blank-end": "x\ny\n\n \n\r\n", "empty-quotes": 'x\n""\ny\n',
    "quotes-blanks": '"x"\t\n \t"y" \t\n"z" \r\n', "empty": "", "only-blank": "\n\n", "mark": "\ufeffx\ny\n", "mark-quotes": '\ufeff"x"\n"y"\n', "mark-alone": "\ufeff",
    "mark-inside": "x\n\ufeffy\n", "crlf": "x\r\ny\r\n", "carriage-returns": "x\ry\rx\r", "mixed-ends": "a\rb\nc\r\nd",
    "returns-before-end": "a\r\r\nb\r\r", "return-line": "a\n\rb\n", "nul": "x\n\0\n", "utf-8": "\u00e4\n\u00df\n",
    "large-numbers": "9007199254740993\n9007199254740992\n1e400\n", "not-all-numbers": "1\n1.0\nx\n",
    "long": "".join("class %d\n" % (i % 7) for i in range(60)), "long-line": "x" * 700 + "\ny\n",
}
NUMBERS = ["0", "-0", "1", "  12.5e3 ", "1e-400", "1e400", "1.7976931348623157e308", "5e-324", "2.5e-324",
           "123456789012345678901234567890", "0.1", "9007199254740993", "4.35", "1e23", "8.5e-5",
           "2.2250738585072011e-308", "0x10", "inf", "nan", "1.", ".5", ".", "1e", "--1", "1234567.",
           "-1234.5678 ", "6.631236846766476e-316", "0." + "0" * 40 + "1e45", "1" * 60 + "e-30",
           "1.5e99999999999999999999", "0e99999999999", "-9223372036854775808", "9223372036854775808"]
ARGS = {
    "fit": ["fit", "a.csv", "-o", "m.rlar", "--alpha", "0.1", "-k5", "-p", "beta=1"],
    "equals": ["fit", "a.csv", "--alpha=0.1", "--scale=zscore,rms", "--method=lda"],
    "cluster": ["fit", "-qv", "a.csv", "--", "-b"],
    "evaluate": ["evaluate", "a.csv", "b.csv", "--methods", "rlar,lda", "--train-per-class", "3,5", "--tune",
                 "cv", "--grid", "alpha=0.1,1", "--grid", "rlar.beta=1,2", "--trials", "3", "--seed", "0",
                 "--json"],
    "tune": ["tune", "a.csv", "--method", "rr", "--grid", "scale=minmax+unit,none", "--folds", "3"],
    "memory": ["predict", "m", "d", "--max-memory", "1.5GiB", "--threads", "2", "--classifier", "knn",
               "--neighbors", "3"],
    "mat": ["info", "x.mat", "--mat-vars", "X,y", "--label", "none"],
    "mistyped": ["fit", "--alpa", "1"],
    "elsewhere": ["rank", "--alpha", "1"],
    "no-value": ["fit", "a", "--alpha"],
    "empty-value": ["fit", "--alpha="],
    "verb": ["fti"],
    "reproduce": ["reproduce", "uci", "--quick", "--resume", "x", "--trials", "2"],
    "plot": ["plot", "heatmap", "a.json", "-o", "x.svg", "--against", "seconds", "--image", "2x3"],
    "preset": ["fit", "a", "--preset", "paper", "--method", "sda", "--seed", "3"],
    "share": ["evaluate", "a", "--train-fraction", "0.5", "--missing", "drop", "--header", "no"],
    "numbers": ["tune", "a", "--folds", "99999999999999999999", "--trials", "-1"],
}
EDGE_RESULTS = {
    "empty": "{}",
    "list": "[]",
    "no-results": '{"results": []}',
    "scalar": '{"results": [1]}',
    "names": '{"results": [{"data": {"name": "<b>&\'`"}, "method": "<i>a\'b\\n$(x)", "train_per_class": 3,'
             ' "accuracy": {"mean": 0.5, "std": 0.1, "trials": [0.4, 0.6]}}], "command": "a <b>"}',
    "long-name": '{"results": [{"data": "d", "method": "%s", "accuracy": {"mean": 0.5}}]}' % ("<m>&\'" * 20),
    "confusion": '{"results": [{"data": "d", "method": "m", "classes": ["a", "\'b"],'
                 ' "confusion": [[1, 2], [3, 4]]}]}',
    "grid": '{"data": {"name": "d"}, "method": "m", "grid": {"axes": ["alpha", "beta"], "cells": ['
            '{"alpha": 0.1, "beta": 1, "accuracy": 0.5}, {"alpha": 1, "beta": 1, "accuracy": null}, '
            '{"alpha": 0.1, "beta": 10, "accuracy": 0.75, "trials": 1}]}}',
    "grid-oracle": '{"protocol": {"tune": "oracle"}, "results": [{"data": "d", "method": "m", "train_per_class": 5, '
                   '"selected": [{"a": 2, "s": "none"}], "grid": {"axes": ["a", "s", "one"], "cells": ['
                   '{"a": 2, "s": "none", "one": 3, "accuracy": 0.5}, {"a": 1, "s": "it\'s 5%", "one": 3, '
                   '"accuracy": 0.25}]}}]}',
    "quoted": '{"data": {"name": "d\'"}, "method": "m\'m", "grid": {"axes": ["a\'", "b"],'
              ' "cells": [{"a\'": 1, "b": 1, "accuracy": 0.5}, {"a\'": 2, "b": 1, "accuracy": 0.7}]}}',
    "sweep": '{"results": [{"data": "d", "method": "m", "grid": {"axes": ["k"], "cells": ['
             '{"k": 100, "accuracy": 0.5}, {"k": 1, "accuracy": 0.7}]}}, {"data": "d", "method": "n\'", "grid": '
             '{"axes": ["k"], "cells": [{"k": 1, "accuracy": 0.5}, {"k": 2, "accuracy": null}]}}]}',
    "sweep-words": '{"data": {"name": "d"}, "method": "m", "grid": {"axes": ["scale\'"], "cells": ['
                   '{"scale\'": "it\'s 5%", "accuracy": 0.5}, {"scale\'": "zscore,rms", "accuracy": 0.7}, '
                   '{"scale\'": "a text of more than 45 letters, which is turned", "accuracy": 1}]}}',
    "ranks": '{"results": [{"method": "m"}], "comparison": {"methods": ["a", "b", "c"], "ranks": [1, 2, 3],'
             ' "blocks": 5, "critical_difference": 1.5}}',
    "matrices": '{"matrices": {"t": [[1, 2], [3, 4]], "v": [[0, 1], [1, 0]], "s": [[0, 1], [1, 0]]}}',
    "huge-numbers": '{"results": [{"accuracy": {"mean": 1e308, "std": -1e308}, "folds": 1e300}]}',
}


# The number of the figure, or of the page, that makes something of a document: fuzz_results.c.
RESULTS_TURNS = 8
RESULTS_TURN = {"grid": 0, "grid-oracle": 0, "quoted": 0, "sweep": 1, "sweep-words": 1, "confusion": 3, "ranks": 4,
                "matrices": 5, "names": 7, "long-name": 7}
# Of the readers: written and read again is the last of three.
READER_TURNS, WRITTEN = 3, 2


def in_turn(options, text, turns, turn):
    """A fuzzer forgets a seed that reaches no new place. One that is there for a promise ends with line
    ends that let the promise have its turn (fuzz_turn in fuzz.h)."""
    while zlib.crc32(text.encode()) % turns != turn:
        text += "\n"
    return options + text


class Seeds:
    def __init__(self, folder):
        self.folder = folder

    def write(self, target, name, content):
        if isinstance(content, str):
            content = content.encode()
        os.makedirs(os.path.join(self.folder, target), exist_ok=True)
        with open(os.path.join(self.folder, target, name), "wb") as file:
            file.write(content)


def text_seeds(seeds):
    for i, (name, text) in enumerate(TABLES.items()):
        # Options of every kind, one after another; the defaults first.
        options = "0%d%d%d" % (i % 4, i % 5, i % 6) if i else "0000"
        seeds.write("csv", name, "0" + options + text)
        seeds.write("gzip", "table-" + name, "1%d" % (i % 4) + text)
    # Longer than what is read at once for a guess of the format.
    table = "".join("%d,%d,%d\n" % (i, 7 * i, i % 3) for i in range(280))
    seeds.write("gzip", "table-long", in_turn("12", table, 2, 0))
    seeds.write("gzip", "table-long-stream", in_turn("12", table, 2, 1))
    seeds.write("csv", "missing-mean", "0" + "6000" + TABLES["missing"])
    seeds.write("csv", "missing-drop", "0" + "7010" + TABLES["missing"])
    seeds.write("csv", "missing-keep", "0" + "9002" + TABLES["missing"])
    seeds.write("csv", "tabs", "10000" + TABLES["header"].replace(",", "\t"))
    for i, (name, text) in enumerate(LIBSVM.items()):
        seeds.write("libsvm", name, "%d00%d" % ((0, 9)[i % 2], (3, 0, 2)[i % 3]) + text)
    seeds.write("csv", "marked-class", "000030,5,\ufeffx\n1,2,y\n")
    seeds.write("csv", "marked-feature", '01000"\ufeffa",b,class\n1,2,x\n')
    seeds.write("libsvm", "last-feature-zero", "00031 1:2 3:0\n2 2:1\n")
    seeds.write("libsvm", "minus-zero", in_turn("0003", "1 1:-0 2:1\n2 1:2 2:-0\n", READER_TURNS, WRITTEN))
    for i, (name, text) in enumerate(ARFF.items()):
        seeds.write("arff", name, "%d00%d" % ((0, 9)[i % 2], (1, 0, 2)[i % 3]) + text)
    text = ("@relation r\n@attribute 'a\\\\b' numeric\n@attribute class {'x\\\\',\"\\\\'\"}\n@data\n"
            "1,'x\\\\'\n2,\"\\\\'\"\n")
    seeds.write("arff", "backslashes", in_turn("0001", text, READER_TURNS, WRITTEN))
    for name, text in LABELS.items():
        seeds.write("labels", name, "0" + text)  # as many samples as labels
    # Longer than the pieces that a packed file is read in: lines are cut.
    text = "".join("a class of many letters, number %d\n" % (i % 5) for i in range(50))
    seeds.write("labels", "pieces", in_turn("0", text, READER_TURNS, 2))
    for turn, name in enumerate(("table", "stream", "packed")):
        text = "".join("%s\n" % "zyx"[i % 3] for i in range(9 + turn))
        for count, what in enumerate(("", "-one-more", "-one-less", "-ten")):
            seeds.write("labels", name + what, in_turn("%d" % count, text, READER_TURNS, turn))
    for text in NUMBERS:
        name = "".join(c if c.isalnum() or c in "+-." else "_" for c in text)[:40]
        seeds.write("number", "text-" + name, text)
    for name, words in ARGS.items():
        seeds.write("args", name, "\n".join(words))


def npy(array, **options):
    out = io.BytesIO()
    numpy.lib.format.write_array(out, numpy.asarray(array), allow_pickle=False, **options)
    return out.getvalue()


def array_seeds(seeds):
    x = numpy.array([[1.5, -2.0, 0.0], [3.0, numpy.nan, 1.0]])
    arrays = {
        "float64": npy(x), "float32": npy(x.astype("f4")), "float16": npy(x.astype("f2")),
        "big-endian": npy(x.astype(">f8")), "fortran": npy(numpy.asfortranarray(x)),
        "int8": npy(numpy.array([[1, -2], [3, 0]], "i1")), "uint64": npy(numpy.array([[2**63, 1]], "u8")),
        "bool": npy(numpy.array([[True, False]])), "vector": npy(numpy.arange(3.0)),
        "version-2": npy(x, version=(2, 0)), "empty": npy(numpy.zeros((0, 3))),
        "infinite": npy(numpy.array([[numpy.inf, 1.0]])), "text": npy(numpy.array([["1", "x"], ["2", "y"]])),
        "three-dimensions": npy(numpy.zeros((2, 2, 2))), "complex": npy(numpy.zeros((2, 2), "c16")),
    }
    for i, (name, content) in enumerate(arrays.items()):
        seeds.write("npy", name, ("%d00%d" % ((9, 0)[i % 2], (4, 2, 0)[i % 3])).encode() + content)
    signed = numpy.array([[-0.0, 1.5], [0.0, -2.0], [3.0, 4.0]])
    for name, array in {"signed-zeros": signed, "big-endian-single": signed.astype(">f4"),
                        "fortran-tall": numpy.asfortranarray(signed)}.items():
        seeds.write("npy", name, b"0100" + npy(array))
    seeds.write("npy", "truncated", b"0000" + arrays["float64"][:-5])
    vectors = {"int64": numpy.array([3, 1, 2, 1]), "float64": numpy.array([1.5, -0.0, 0.0, 1e300]), "nan":
               numpy.array([1.0, numpy.nan]), "infinite": numpy.array([1.0, numpy.inf]), "texts":
               numpy.array(["b", "\u00e4", "", "na"]), "bytes": numpy.array([b"b", b"a"]), "bool":
               numpy.array([True, False]), "column": numpy.array([[1], [2]]), "two-columns": numpy.eye(2),
               "uint64": numpy.array([2**53 + 1, 2**53], "u8"), "none": numpy.zeros(0)}
    for name, vector in vectors.items():
        seeds.write("labels", "array-" + name, b"0" + npy(vector))
    seeds.write("labels", "array-cut", b"0" + npy(vectors["int64"])[:-3])
    y = {"numbers": numpy.array([1, 2]), "texts": numpy.array(["a", "\u00e4b"]), "bytes": numpy.array([b"a", b"b"])}
    for kind, labels in y.items():
        for packed in (False, True):
            out = io.BytesIO()
            save = numpy.savez_compressed if packed else numpy.savez
            save(out, X=numpy.nan_to_num(x), y=labels, feature_names=numpy.array(["f", "g", "h"]))
            seeds.write("npz", kind + ("-packed" if packed else ""), b"00021" + out.getvalue())
    out = io.BytesIO()
    numpy.savez(out, X=numpy.asfortranarray(signed), y=numpy.arange(3))
    seeds.write("npz", "fortran", b"00001" + out.getvalue())
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as container:
        container.writestr(zipfile.ZipInfo("arr_0.npy"), npy(numpy.eye(2)))  # dated 1980
        container.comment = b"a comment"
    seeds.write("npz", "comment", b"00020" + out.getvalue())


def chunk(name, content):
    body = name + content
    return struct.pack(">I", len(content)) + body + struct.pack(">I", zlib.crc32(body))


def png(width, height, depth, colour, interlace, rows, extra=b""):
    header = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, interlace)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + extra + chunk(b"IDAT", zlib.compress(rows)) +
            chunk(b"IEND", b""))


def image_seeds(seeds):
    palette = chunk(b"PLTE", bytes(range(12)))
    images = {
        "pgm-text": b"P2 # c\n2 2\n255\n0 1 2 255\n", "pgm-bytes": b"P5 2 2 255\n\0\1\2\377",
        "pgm-wide": b"P5 2 1 65535\n\0\1\377\377", "pgm-small": b"P2 1 1 1 1", "pgm-cut": b"P5 3 3 255\n\0\1",
        "pgm-above-maximum": b"P5 1 1 300\n\377\377", "pgm-text-above-maximum": b"P2 1 1 300 65535",
        "png-grey": png(2, 2, 8, 0, 0, b"\0\1\2\0\3\4"), "png-bits": png(9, 1, 1, 0, 0, b"\0\xff\x80"),
        "png-colour": png(1, 1, 8, 2, 0, b"\0\1\2\3"), "png-alpha": png(1, 1, 8, 6, 0, b"\0\1\2\3\4"),
        "png-16": png(1, 1, 16, 0, 0, b"\0\1\2"), "png-palette": png(2, 1, 8, 3, 0, b"\0\1\2", palette),
        "png-transparent": png(1, 1, 8, 0, 0, b"\0\1", chunk(b"tRNS", b"\0\1")),
        "png-interlaced": png(2, 2, 8, 0, 1, b"\0\1\0\2\0\3\4"), "png-filters": png(2, 2, 8, 0, 0, b"\1\1\2\2\3\4"),
        "png-text": png(1, 1, 8, 0, 0, b"\0\1", chunk(b"tEXt", b"a\0b") + chunk(b"gAMA", b"\0\0\1\0")),
        "png-large": png(20000, 2, 8, 0, 0, b"\0\1"), "png-promise": png(16000, 16000, 8, 0, 0, b"\0\1"),
    }
    for name, content in images.items():
        seeds.write("image", name, (b"1" if name.startswith("png") else b"0") + content)
    seeds.write("image", "made-grey", b"211000" + b"\0\1\2\0\3\4")
    seeds.write("image", "made-interlaced", b"244001" + bytes(range(60)))
    seeds.write("image", "made-palette", b"233320" + bytes(12))


def gzip_seeds(seeds):
    member = gzip.compress(b"1,2,0\n3,4,1\n", mtime=0)
    bad_sum = bytearray(member)
    bad_sum[-8] ^= 1
    named = b"\x1f\x8b\x08\x08\0\0\0\0\0\x03name\0" + member[10:]
    for name, content in {"member": member, "members": member + member, "padded": member + bytes(5),
                          "garbage": member + b"x", "cut": member[:-3], "checksum": bytes(bad_sum), "named": named,
                          "empty-member": gzip.compress(b"", mtime=0), "magic": b"\x1f\x8b", "zeros":
                          gzip.compress(bytes(20000), mtime=0), "plain": b"no gzip"}.items():
        seeds.write("gzip", name, b"01" + content)


def journal_seeds(seeds):
    head = struct.pack("=16sQ", b"rlar journal 1", 0x0102030405060708)

    def record(key, failed, entries, body):
        return struct.pack("=QQQdddqq", 0, key, key + 1, 0.1, 0.2, 0.9, failed, entries) + body

    good = record(1, 0, 2, struct.pack("=iiii", 0, 1, 2, 0))
    failed = record(2, 1, 4, b"text")
    for name, content in {"empty": b"", "head": head, "one": head + good, "two": head + good + failed,
                          "twice": head + good + good, "torn": head + good + failed[:-2], "class-9":
                          head + record(3, 0, 1, struct.pack("=ii", 0, 9)), "promise":
                          head + record(4, 0, 2**60, b""), "other": b"1,2,3\n" * 8}.items():
        seeds.write("journal", name, b"1" + content)
    seeds.write("journal", "unchecked", b"0" + head + good)


def checkpoint_seeds(seeds):
    """The files are made by the target: their head has the version in it. A word of 8 bytes and its edit."""
    def edit(word, change):
        return bytes([word]) + struct.pack("<Q", change)

    nan, high = 0x7ff8 << 48, 1 << 63
    for solver in range(4):
        prefix = b"%d" % solver
        seeds.write("checkpoint", "whole-%d" % solver, prefix + b"1")
        seeds.write("checkpoint", "cut-%d" % solver, prefix + b"3" + struct.pack(">H", 100))
        seeds.write("checkpoint", "longer-%d" % solver, prefix + b"3" + struct.pack(">H", 420))
        seeds.write("checkpoint", "zeros-%d" % solver, prefix + b"4" + bytes(600))
    for word in range(5, 60):  # of minimise, which keeps most
        seeds.write("checkpoint", "word-%d" % word, b"31" + edit(word, nan ^ high))
    for name, content in {"empty": b"00", "text": b"001,2,3\n", "other-fit": b"01" + edit(3, 1), "other-order":
                          b"01" + edit(2, 1), "no-iteration": b"01" + edit(5, 4), "many-iterations":
                          b"01" + edit(5, high >> 1), "damaged": b"02" + edit(9, 1), "twice":
                          b"01" + edit(9, 1) + edit(9, 1), "head-only": b"03" + struct.pack(">H", 56)}.items():
        seeds.write("checkpoint", name, content)


def retarget_seeds(seeds):
    seeds.write("retarget", "ties", b"\x32" + b"01" + bytes([0] * 8))
    seeds.write("retarget", "quarters", b"\x34" + b"12" + bytes([64, 192, 0, 32, 224, 64, 1, 255, 16, 8]))
    for name, values in {"unit": (0.5, 0.0, -0.5), "large": (1e99, -1e99, 1.0), "tiny": (1e-300, 0.0, -1e-300),
                         "kept": (3.0, 0.0, 1.0)}.items():
        seeds.write("retarget", name, b"100" + struct.pack(">6d", *values, 1.0, -1.0, 0.5))


def fit_seeds(seeds, methods):
    for i, method in enumerate(methods):
        head = bytes([48 + i, 48 + i % 6, 48 + 2 + i % 5, 49, 51, 52, 50, 48 + i % 7])
        seeds.write("fit", method, head + b"0" * 40 + bytes(range(20, 60)))
        seeds.write("fit", method + "-edges", head + b"0123" * 10 + bytes([1, 1, 2, 2, 3, 3, 255, 255]))


def run(program, *arguments, folder=None):
    return subprocess.run([program, *arguments], check=True, capture_output=True, text=True, cwd=folder).stdout


def result_seeds(seeds, program, folder):
    """What the program writes today, of d.csv in the folder: started there, it names no path."""
    common = ["evaluate", "d.csv", "--trials", "2", "--train-per-class", "2"]
    commands = {
        "evaluate": common + ["--methods", "lda,rr,lsr"],
        "tuned": common + ["--methods", "rr", "--tune", "cv", "--tune-folds", "2", "--grid", "lambda=0.1,1"],
        "tune": ["tune", "d.csv", "--method", "rlar", "--folds", "2", "--grid", "alpha=0.1,1", "--grid", "beta=0.1,1",
                 "-p", "iters=2"],
    }
    for name, words in commands.items():
        seeds.write("results", name, run(program, *words, "-q", "--json", folder=folder))


def command_seeds(seeds, program):
    table = "a,b,class\n" + "".join("%d,%d,%s\n" % (i, i * i % 7, "xyz"[i % 3]) for i in range(12))
    with tempfile.TemporaryDirectory() as folder:
        data, model = os.path.join(folder, "d.csv"), os.path.join(folder, "m.rlar")
        with open(data, "w", encoding="utf-8") as file:
            file.write(table)
        for method, scale in (("rlar", "zscore,rms"), ("lda", "none"), ("rr", "minmax,unit"), ("mmc", "unit")):
            run(program, "fit", data, "-q", "--method", method, "--scale", scale, "-o", model)
            with open(model, "rb") as file:
                content = file.read()
            seeds.write("model", method, content)
        numbers = 8 + struct.unpack("<Q", content[:8])[0]
        for name, value in (("nan", float("nan")), ("infinite", float("-inf")), ("large", 1e300)):
            seeds.write("model", name, content[:numbers] + struct.pack("<d", value) + content[numbers + 8:])
        seeds.write("model", "class-out-of-range", content[:-8] + struct.pack("<q", 3))
        result_seeds(seeds, program, folder)
    for name, text in EDGE_RESULTS.items():
        turn = RESULTS_TURN.get(name)
        seeds.write("results", name, text if turn is None else in_turn("", text, RESULTS_TURNS, turn))


def mat_part(kind, payload):
    return struct.pack("<II", kind, len(payload)) + payload + bytes(-len(payload) % 8)


def mat_foreign():
    """What SciPy does not write: a table, a function handle with an object in it, a cell with one, their data."""
    def flags(kind):
        return mat_part(6, struct.pack("<II", kind, 0))

    def opaque(name):
        return mat_part(14, flags(17) + b"".join(mat_part(1, text) for text in (name, b"MCOS", b"table")) +
                        mat_part(14, flags(13) + mat_part(5, struct.pack("<ii", 1, 1)) + mat_part(1, b"") +
                                 mat_part(6, b"\1\0\0\0")))

    one = mat_part(5, struct.pack("<ii", 1, 1))
    data = mat_part(14, flags(9) + mat_part(5, struct.pack("<ii", 1, 4)) + mat_part(1, b"") + mat_part(2, b"\0\1IM"))
    return {"opaque": opaque(b"t"), "function": mat_part(14, flags(16) + one + mat_part(1, b"f") + opaque(b"")),
            "cell-of-objects": mat_part(14, flags(1) + one + mat_part(1, b"y") + opaque(b"")), "nameless": data}


def mat_seeds(seeds):
    x = numpy.array([[1.0, 2.0], [3.0, 4.0], [5.0, numpy.nan]])
    cells = numpy.array(["a", "b", "a"], dtype=object)
    files = {
        "level-5": dict(fea=x, gnd=numpy.array([[1], [2], [1]])), "sparse": dict(X=scipy.sparse.csc_matrix(x)),
        "cells": dict(X=x, y=cells), "characters": dict(X=x, Y=numpy.array(["ab", "c ", "ab"])),
        "turned": dict(X=x.T.copy(), y=numpy.array([1.0, 2.0, 1.0])), "int8": dict(X=x[:2].astype("i1")),
        "single": dict(X=x.astype("f4")), "struct": dict(X={"a": x}), "other-names": dict(z=x),
        "complex": dict(X=x * 1j), "logical": dict(X=x > 2),
        "sparse-uint8": dict(X=scipy.sparse.csc_matrix(x[:2].astype("u1")), y=numpy.array([1.0, 2.0])),
        "sparse-int16": dict(X=scipy.sparse.csc_matrix(x[:2].astype("i2"))),
        "sparse-single": dict(X=scipy.sparse.csc_matrix(x.astype("f4"))),
        "sparse-logical": dict(X=scipy.sparse.csc_matrix(x > 2)),
        "empty-label": dict(X=x, y=numpy.array(["a", "", "b"], dtype=object)),
    }
    for name, variables in files.items():
        for packed in (False, True):
            out = io.BytesIO()
            scipy.io.savemat(out, variables, do_compression=packed)
            content = out.getvalue()
            content = b"MATLAB 5.0 MAT-file".ljust(116, b" ") + content[116:]  # no date
            seeds.write("mat", name + ("-packed" if packed else ""), b"3" + content)
            if name == "level-5":
                for foreign, variable in mat_foreign().items():
                    stored = zlib.compress(variable)
                    stored = struct.pack("<II", 15, len(stored)) + stored if packed else variable
                    seeds.write("mat", foreign + ("-packed" if packed else ""),
                                b"3" + content[:128] + stored + content[128:])
            if name == "sparse-logical" and not packed:  # MATLAB calls them doubles; the tag is the last of the file
                seeds.write("mat", "sparse-logical-doubles", b"3" + content[:-8] + b"\x09" + content[-7:])
    labels = numpy.array([[1.0], [numpy.nan], [2.0]])
    for rule in range(4):
        out = io.BytesIO()
        scipy.io.savemat(out, dict(X=x, y=labels))
        seeds.write("mat", "missing-%d" % rule,
                    b"%d" % rule + b"MATLAB 5.0 MAT-file".ljust(116, b" ") + out.getvalue()[116:])
    out = io.BytesIO()
    scipy.io.savemat(out, dict(X=x, y=numpy.array([1.0, 2.0, 1.0])), format="4")
    seeds.write("mat", "level-4", b"3" + out.getvalue())
    seeds.write("mat", "hdf5-head", b"3MATLAB 7.3 MAT-file".ljust(125, b" ") + b"\0\2IM\x89HDF\r\n\x1a\n" + bytes(40))


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    program = os.path.abspath(sys.argv[1])
    seeds = Seeds(sys.argv[2] if len(sys.argv) > 2 else os.path.join(ROOT, "fuzz", "corpus"))
    methods = [line.split()[0] for line in run(program, "methods").splitlines() if line[:1].isalnum()]
    text_seeds(seeds)
    array_seeds(seeds)
    image_seeds(seeds)
    gzip_seeds(seeds)
    journal_seeds(seeds)
    checkpoint_seeds(seeds)
    retarget_seeds(seeds)
    fit_seeds(seeds, methods)
    command_seeds(seeds, program)
    mat_seeds(seeds)


if __name__ == "__main__":
    main()
