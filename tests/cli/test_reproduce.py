"""rlar reproduce: the paper's tables from the small data sets that ship, and what it does when data are missing."""
import csv
import json
import math
import signal
import time
import unittest

import support
from support import IO, SIGNAL_LIMIT, USAGE, Case

DATA = support.ROOT / "data"
UCI = {"diabetes": ("diabetes.arff", 76), "ionosphere": ("ionosphere.arff", 35), "iris": ("iris.arff", 10),
       "wine": ("wine.csv", 11)}
FAST = ("--methods", "rr,lda,rlar", "--trials", "3")


def printed():
    with open(DATA / "paper.csv", newline="", encoding="ascii") as file:
        return list(csv.DictReader(file))


def without_times(answer):
    for row in answer["results"]:
        del row["fit_seconds"], row["predict_seconds"]
    return answer


class Reproduce(Case):
    def reproduce(self, *args, journal="fits.journal"):
        done = self.ok("reproduce", *args, "--data-dir", DATA, "--resume", journal, "--json")
        return json.loads(done.out), done.err

    def test_dry_run(self):
        """Fits: sets, splits, methods, and for the oracle the cells of their grids; nothing is written."""
        command = ("reproduce", "uci", "--methods", "rr,lda", "--trials", "3", "--dry-run", "--data-dir", DATA)
        forecast = self.json_of(*command, "--columns", "preset,oracle,cv", "--full-grid")["forecast"]
        self.assertEqual([(line["table"], line["column"], line["fits"]) for line in forecast],
                         [("uci", "preset", 4 * 3 * 2), ("uci", "oracle", 4 * 3 * (10 + 6)),
                          ("uci", "cv", 4 * 3 * (5 * (10 + 6) + 2))])
        preset, oracle, cv = (line["operations"] for line in forecast)
        self.assertLess(5 * preset, oracle)
        self.assertLess(oracle, cv)
        done = self.ok(*command)
        self.assertRegex(done.text, r"uci +default +24 ")
        self.assertRegex(done.text, r"in all about \d+ minutes")
        self.assertRegex(done.err, r"Dermatology.*skipped.*UCI")
        nothing = self.run_rlar("reproduce", "ar", "--dry-run", "--data-dir", DATA)
        self.assertEqual(nothing.code, IO)
        self.assertIn("none of the data", nothing.err)
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_dry_run_of_figures(self):
        """The whole grid for the map, the search and one fit for a curve; figures beside tables."""
        done = self.ok("reproduce", "uci", "sensitivity", "convergence", "--columns", "preset", "--methods", "rr",
                       "--trials", "3", "--dry-run", "--data-dir", DATA)
        self.assertRegex(done.text, r"uci +preset +12 ")
        self.assertRegex(done.text, r"sensitivity +oracle +%d " % (4 * 3 * 100))
        self.assertRegex(done.text, r"convergence +oracle +%d " % (4 * (3 * 36 / 2 + 1)))
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_uci(self):
        """Every cell is that of `evaluate` with the same settings, beside the paper's number."""
        answer, err = self.reproduce("uci", *FAST)
        paper = {(r["data"], r["method"]): r for r in printed() if r["table"] == "uci"}
        self.assertEqual(len(answer["results"]), 4 * 3 * 3)  # sets, methods, columns
        self.assertEqual([s["missing"] for s in answer["skipped"]], ["dermatology"])
        self.assertRegex(err, r"Dermatology.*skipped.*UCI")
        self.assertEqual([entry["name"] for entry in answer["data"]], list(UCI))
        self.assertEqual(answer["comparison"]["methods"], ["rr", "lda", "rlar"])
        self.assertEqual(answer["comparison"]["column"], "oracle")
        self.assertEqual(answer["command"], "rlar reproduce uci --methods rr,lda,rlar --columns "
                                            "preset,default,oracle --trials 3 --seed 1 --data-dir DIR --json")
        settings = {"preset": ("--preset", "paper"), "default": (),
                    "oracle": ("--preset", "paper", "--tune", "oracle", "--coarse")}
        for row in answer["results"]:
            with self.subTest(data=row["data"], method=row["method"], column=row["column"]):
                file, size = UCI[row["data"]]
                self.assertEqual(row["train_per_class"], size)
                entry = paper[row["data"], row["method"]]
                self.assertAlmostEqual(row["paper"]["mean"], float(entry["mean"]) / 100, places=12)
                other = self.json_of("evaluate", DATA / file, "--methods", row["method"], "--trials", "3",
                                     "--train-per-class", size, *settings[row["column"]])["results"][0]
                self.assertEqual(row["accuracy"], other["accuracy"])
                self.assertEqual(row["selected"], other["selected"])
                self.assertEqual(row["params"], other["params"])
                noise = 2.5 * math.hypot(row["accuracy"]["std"], row["paper"]["std"]) / math.sqrt(3) + 0.005
                far = abs(row["accuracy"]["mean"] - row["paper"]["mean"])
                self.assertEqual(row["within"], far <= noise)

    def test_text(self):
        done = self.ok("reproduce", "uci", "--data-dir", DATA, *FAST)
        self.assertIn("Wine, 11 per class", done.text)
        self.assertRegex(done.text, r"rlar +90\.34 ± 2\.82")
        self.assertRegex(done.text, r"oracle +\d+ of 12 within")
        self.assertTrue(self.path("rlar-reproduce.journal").exists())
        again = self.ok("reproduce", "uci", "--data-dir", DATA, *FAST)
        self.assertEqual(again.text, done.text)

    def test_threads(self):
        one, _ = self.reproduce("uci", *FAST, "--threads", "1", journal="one")
        two, _ = self.reproduce("uci", *FAST, "--threads", "3", journal="two")
        self.assertEqual(without_times(one), without_times(two))

    def test_killed_ten_times(self):
        """The answer of a run that nobody disturbed, but for times."""
        whole, _ = self.reproduce("uci", *FAST, journal="whole")
        command = ("reproduce", "uci", *FAST, "--data-dir", DATA, "--resume", "parts", "--json")
        killed = 0
        for number in range(10):
            process = support.start(*command, cwd=self.folder)
            time.sleep(0.01 + 0.03 * number)
            process.send_signal(signal.SIGKILL)
            process.communicate(timeout=SIGNAL_LIMIT)
            killed += process.returncode == -signal.SIGKILL
        self.assertGreater(killed, 2)
        answer = self.json_of(*command[:-1])
        self.assertEqual(without_times(answer), without_times(whole))

    def test_figures(self):
        """The whole grid and the curve of the best cell, as fit and evaluate have them; rlar plot draws both."""
        answer, _ = self.reproduce("sensitivity", "convergence", "--trials", "2")
        self.write("figures.json", json.dumps(answer))
        self.assertEqual([row["data"] for row in answer["results"]], list(UCI))
        for row, curve in zip(answer["results"], answer["convergence"]):
            self.assertEqual(len(row["grid"]["cells"]), 100)
            self.assertEqual(curve["data"], row["data"])
            self.assertEqual(len(curve["objective"]), 30)
            falls = [b <= a * (1 + 1e-8) for a, b in zip(curve["objective"][1:], curve["objective"][2:])]
            self.assertTrue(all(falls), row["data"])
        file, size = UCI["wine"]
        whole = self.json_of("evaluate", DATA / file, "--train-per-class", size, "--trials", "2", "--preset", "paper",
                             "--tune", "oracle")["results"][0]
        self.assertEqual(answer["results"][3]["grid"], whole["grid"])
        for figure in ("heatmap", "convergence"):
            self.ok("plot", figure, "figures.json", "-o", f"{figure}.svg")
        self.fails(USAGE, "reproduce", "sensitivity", "--data-dir", DATA)  # numbers need --json

    def test_columns(self):
        answer, _ = self.reproduce("uci", "--methods", "rr", "--trials", "2", "--columns", "cv")
        self.assertEqual({row["column"] for row in answer["results"]}, {"cv"})
        self.assertTrue(all(len(row["selected"]) == 2 for row in answer["results"]))
        self.fails(USAGE, "reproduce", "uci", "--data-dir", DATA, "--columns", "best")

    def test_list(self):
        done = self.ok("reproduce", "--list", "--data-dir", DATA)
        self.assertRegex(done.text, r"uci +Iris, 10 per class +there")
        self.assertRegex(done.text, r"occlusion +AR, 8 per class, 2 of them with scarf +missing: AR_32x32")
        self.assertNotIn("Caltech", done.text)
        self.assertRegex(done.text, r"caltech101 +its four sizes +by name only")
        self.assertRegex(done.text, r"figures +sensitivity, ksweep, convergence, matrices")
        self.assertIn("Caltech101, 25 per class", self.ok("reproduce", "--list", "caltech101").text)

    def test_list_as_json(self):
        """The lines of the table, with every size of Caltech 101 and every figure."""
        rows = self.json_of("reproduce", "--list", "--data-dir", DATA)
        self.assertEqual({tuple(row) for row in rows}, {("table", "place", "data", "missing", "how", "by_name_only")})
        places = [row for row in rows if not row["by_name_only"]]
        lines = self.ok("reproduce", "--list", "--data-dir", DATA).lines[1:-2]
        self.assertEqual(len(places), len(lines))
        for row, line in zip(places, lines):
            data = f"missing: {row['missing']}" if row["missing"] else "there"
            self.assertRegex(line, rf"^{row['table']} +{row['place']} +{data}$")
            self.assertEqual(row["how"] is None, row["missing"] is None)
        self.assertEqual([row["table"] for row in rows if row["by_name_only"]],
                         ["caltech101"] * 4 + ["sensitivity", "ksweep", "convergence", "matrices"])
        self.assertEqual(self.json_of("reproduce", "--list", "uci"), self.json_of("reproduce", "uci", "--list"))
        self.assertEqual({row["data"] for row in self.json_of("reproduce", "--list", "uci", "--data-dir", DATA)
                          if not row["missing"]}, set(UCI))
        self.assertEqual([row["table"] for row in self.json_of("reproduce", "--list", "caltech101", "matrices")],
                         ["caltech101"] * 4 + ["matrices"])

    def test_quick(self):
        """Two splits, and the first size of every series: all five UCI sets, one AR, glasses and scarves once."""
        lines = self.ok("reproduce", "--list", "--quick", "--data-dir", DATA).text.splitlines()[1:]
        kept = [line.split("  ")[0] for line in lines if not line.startswith(("caltech101", "figures"))]
        self.assertEqual({table: kept.count(table) for table in kept},
                         {"uci": 5, "binalpha": 1, "yaleb": 1, "ar": 1, "coil20": 1, "blocks": 1, "occlusion": 2})
        for first in ("AR, 5 per class", "3 of them under 15 x 15", "1 of them with glasses", "1 of them with scarf"):
            self.assertEqual(sum(first in line for line in lines), 1)
        answer, _ = self.reproduce("uci", "--quick", "--methods", "rr", "--columns", "preset")
        self.assertEqual({len(row["accuracy"]["trials"]) for row in answer["results"]}, {2})

    def test_nothing_to_do(self):
        self.fails(USAGE, "reproduce", "uic")
        self.fails(USAGE, "reproduce", "uci")
        done = self.run_rlar("reproduce", "uci", "--data-dir", self.folder)
        self.assertEqual(done.code, IO)
        self.assertIn("none of the data", done.err)
        self.assertFalse(self.path("rlar-reproduce.journal").exists())
        self.fails(USAGE, "reproduce", "uci", "--methods", "rlar,nothing", "--data-dir", DATA)
        self.fails(USAGE, "reproduce", "uci", "--methods", "rr,lda,rr", "--data-dir", DATA, says="rr is given twice")

    def test_a_missing_file_is_told_once(self):
        """With where it comes from; JSON has every place that was skipped for it."""
        answer, err = self.reproduce("uci", "ar", "blocks", "occlusion", "--methods", "rr", "--trials", "1",
                                     "--columns", "preset")
        self.assertEqual(err.count("AR_32x32"), 1)
        self.assertRegex(err, r"AR: skipped, AR_32x32 is not in the data folder; it is the AR faces.*https?://")
        skipped = [s["place"] for s in answer["skipped"] if s["missing"] == "AR_32x32"]
        self.assertEqual(len(skipped), 4 + 4 + 6)

    def test_no_data_folder(self):
        self.fails(IO, "reproduce", "uci", "--data-dir", "nowhere", says="nowhere: no such folder")
        done = self.run_rlar("reproduce", "uci", env={"RLAR_DATA_DIR": ""})  # as if it were not set
        self.assertEqual(done.code, USAGE)
        self.assertIn("where are the data", done.err)

    def test_the_table_of_chosen_columns(self):
        """Only what was asked for, and no blanks at the ends of lines."""
        done = self.ok("reproduce", "uci", "--methods", "rr", "--trials", "2", "--columns", "preset", "--data-dir", DATA)
        self.assertRegex(done.text, r"(?m)^method +paper +preset$")
        self.assertNotRegex(done.text, r"(?m) $")

    def test_the_paper_has_all_its_numbers(self):
        rows = printed()
        self.assertEqual(len(rows), 525)
        methods = {row["method"] for row in rows}
        self.assertEqual(len(methods), 15)
        for table, places in (("uci", 5), ("binalpha", 4), ("yaleb", 4), ("ar", 4), ("coil20", 4),
                              ("caltech101", 4), ("blocks", 4), ("occlusion", 6)):
            here = [row for row in rows if row["table"] == table]
            self.assertEqual(len(here), 15 * places, table)
            self.assertEqual({row["method"] for row in here}, methods)


if __name__ == "__main__":
    unittest.main()
