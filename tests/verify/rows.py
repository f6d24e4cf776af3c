"""The rows of docs/verify.md: what is claimed, and the commands that measure it. Run by scripts/verify."""
from typing import NamedTuple


class Row(NamedTuple):
    name: str
    claim: str
    reduced: str  # `make verify`
    full: str  # `make verify-full`


B = "build/tests/"
V = "python3 tests/verify/"
LARGE = B + "large --samples %d --features %d --method rlar --memory 18000 --seconds 900"

TABLE = "%s: the same table or refusal whole and in pieces%s; written and read again, the same table"
# What each fuzz target promises, in few words: docs/fuzzing.md has all of them.
FUZZED = {
    "arff": TABLE % ("an ARFF file", ""),
    "args": "a command line: values within their bounds, however they are spelled, or a refusal",
    "checkpoint": "a checkpoint: a fit goes on with finite numbers, with the same bits where it is right, or refuses it and leaves it as it is (a tenth of the executions)",
    "csv": TABLE % ("a CSV or TSV file", " and windows"),
    "fit": "samples and parameters: a finite map or a named error, an objective that never rises where the method promises it (a tenth of the executions)",
    "gzip": "a gzip file: unpacked as zlib does, in any pieces; a packed table is read as the plain one",
    "image": "a PGM or PNG file: grey values within their bounds, the same through a path and when written again",
    "journal": "a journal: cut to whole records, an answer for every key; a file that is refused is not changed",
    "labels": "a file of labels: those of a plain splitter, or a refusal; the same in a stream and gzipped",
    "libsvm": TABLE % ("a LIBSVM file", " and windows"),
    "mat": "a MATLAB file: a table or a refusal, the same gzipped",
    "model": "a model file: finite numbers, bytes that are saved and loaded again, finite answers",
    "npy": TABLE % ("an NPY file", ""),
    "npz": TABLE % ("an NPZ file", ""),
    "number": "a number: the grammar and every bit of strtod, written as short as can be and read back",
    "results": "results in JSON: a well-formed page and scripts that run no program, or a refusal",
    "retarget": "outputs of a sample: the nearest point that keeps the margins, three ways",
}

ROWS = [
    # Any bytes
    *[Row("fuzz-" + target, "any bytes as " + claim, "scripts/fuzz --seconds 20 " + target,
          "scripts/fuzz --runs 10000000 " + target) for target, claim in FUZZED.items()],
    Row("models", "a model file that was altered is never accepted as another model",
        V + "mutated_models.py --count 2000 --stride 7", V + "mutated_models.py --count 2000"),
    # Faults
    Row("memory", "memory fails at every allocation of every public call: an error, nothing lost, the next try works",
        B + "memory_faults", B + "memory_faults"),
    Row("files", "the system refuses at every call on a file that the library makes: an error, the old file intact",
        B + "file_faults", B + "file_faults"),
    Row("command", "the same for every verb of the command, and memory too", V + "command_faults.py", V + "command_faults.py"),
    Row("ranks", "memory or a message fails on one of several ranks: an error there, the others end, nothing lost",
        B + "team_faults --every 3", B + "team_faults"),
    Row("kills", "a save that is killed leaves the old file or the new one",
        B + "kill_save --count 1000", B + "kill_save --count 10000"),
    Row("cancel", "work can be cancelled at every callback", B + "cancel_faults --every 5", B + "cancel_faults"),
    Row("interrupts", "Ctrl-C and kill -9 at any moment of fit, predict, transform, convert, evaluate and reproduce",
        V + "interrupt_command.py --count 300", V + "interrupt_command.py --count 3000"),
    # Bad numbers
    Row("numbers", "bad samples, in training and at predict, give every method a finite result or a named error", B + "bad_numbers --count 20000", B + "bad_numbers"),
    Row("parameters", "so do parameters at and beyond their ends", B + "bad_parameters --count 3000", B + "bad_parameters --count 60000"),
    Row("sizes", "sizes near 2^31, 2^32 and 2^63 are refused before memory is touched", B + "bad_sizes", B + "bad_sizes"),
    Row("classes", "100,000 classes are fitted, refused with the forecast, or stopped on request",
        B + "large --samples 200000 --features 10 --classes 100000 --seconds 20",
        B + "large --samples 200000 --features 10 --classes 100000 --seconds 1800"),
    # The same answer
    Row("threads", "the same bits on 1 to 16 threads, run to run, after save and load, row by row",
        B + "same_answer --count 12", B + "same_answer"),
    Row("order", "permuted samples and features, renamed classes, moved data: the same result, with every choice and scaling",
        B + "permuted --count 45", B + "permuted --count 300"),
    Row("races", "no data race with 16 threads on one model or data set, from its very first use on, with 64 contexts, and where files are read by several (ThreadSanitizer)",
        V + "races.py --count 200", V + "races.py --count 2000"),
    Row("locale", "a decimal comma changes nothing", V + "comma_locale.py", V + "comma_locale.py"),
    Row("minima", "RLAR's own solver ends where SciPy does", V + "minima.py", V + "minima.py"),
    # Limits
    Row("forecast", "a fit holds at most 2 % more memory than its forecast", B + "forecast --count 400", B + "forecast --count 2000"),
    Row("limit", "--max-memory holds, and what needs more is refused", V + "memory_limit.py --count 1000", V + "memory_limit.py --count 4000"),
    Row("soak", "fit, save, load and predict again and again: no growth", B + "soak --count 2000", B + "soak --count 100000"),
    Row("stream", "predicted rows in flat memory", V + "stream_rows.py --count 3000000", V + "stream_rows.py --count 100000000"),
    Row("large", "large sets are fitted within the forecast", LARGE % (5000, 2000), LARGE % (20000, 4096)),
    # Ranks of MPI
    Row("mpi", "rlar-mpi: the models and results of one process; one message and exit code for a rank that fails or is killed",
        V + "mpi.py", V + "mpi.py"),
    # Checkers
    Row("static", "compilers, analysers and linters find nothing", "scripts/static", "scripts/static"),
    Row("msan", "no use of memory without a value (MemorySanitizer)", V + "sanitize.py memory", V + "sanitize.py memory"),
    Row("valgrind", "valgrind finds nothing in the quick unit tests, in fits of every method with n > d and n < d, and in the verbs on small data", V + "sanitize.py valgrind", V + "sanitize.py valgrind"),
    Row("coverage", "the tests run the lines and branches that the floors ask for", "scripts/coverage", "scripts/coverage"),
]
