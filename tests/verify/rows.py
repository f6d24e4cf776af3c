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

ROWS = [
    # Any bytes
    Row("fuzzing", "any bytes given to a reader, a loader, the arguments or a fit give an answer or an error",
        "scripts/fuzz --seconds 20 --jobs 2", "scripts/fuzz --runs 10000000 --jobs 2"),
    Row("models", "a model file that was altered is never accepted as another model",
        V + "mutated_models.py --count 2000 --stride 8", V + "mutated_models.py --count 2000"),
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
    Row("cancel", "work can be cancelled at every callback", B + "cancel_faults", B + "cancel_faults"),
    Row("interrupts", "Ctrl-C and kill -9 at any moment of the command",
        V + "interrupt_command.py --count 300", V + "interrupt_command.py --count 3000"),
    # Bad numbers
    Row("numbers", "bad samples give every method a finite result or a named error", B + "bad_numbers --count 20000", B + "bad_numbers"),
    Row("parameters", "so do parameters at and beyond their ends", B + "bad_parameters --count 3000", B + "bad_parameters --count 60000"),
    Row("sizes", "sizes near 2^31, 2^32 and 2^63 are refused before memory is touched", B + "bad_sizes", B + "bad_sizes"),
    Row("classes", "100,000 classes are fitted or refused with the forecast",
        B + "large --samples 200000 --features 10 --classes 100000 --seconds 20",
        B + "large --samples 200000 --features 10 --classes 100000 --seconds 20"),
    # The same answer
    Row("threads", "the same bits on 1 to 16 threads, run to run, after save and load, row by row",
        B + "same_answer --count 12", B + "same_answer"),
    Row("order", "permuted samples and features, renamed classes, moved data: the same result",
        B + "permuted --count 45", B + "permuted --count 300"),
    Row("races", "no data race with 16 threads on one model and 64 contexts (ThreadSanitizer)",
        V + "races.py --count 200", V + "races.py --count 10000"),
    Row("locale", "a decimal comma changes nothing", V + "comma_locale.py", V + "comma_locale.py"),
    # Limits
    Row("forecast", "a fit holds no more memory than its forecast", B + "forecast --count 400", B + "forecast --count 2000"),
    Row("limit", "--max-memory holds", V + "memory_limit.py --count 1000", V + "memory_limit.py --count 4000"),
    Row("soak", "fit, save, load and predict again and again: no growth", B + "soak --count 2000", B + "soak --count 100000"),
    Row("stream", "predicted rows in flat memory", V + "stream_rows.py --count 3000000", V + "stream_rows.py --count 100000000"),
    Row("large", "large sets are fitted within the forecast", LARGE % (5000, 2000), LARGE % (20000, 4096)),
    # Checkers
    Row("static", "compilers, analysers and linters find nothing", "scripts/static", "scripts/static"),
    Row("msan", "no use of memory without a value (MemorySanitizer)", V + "sanitize.py memory", V + "sanitize.py memory"),
    Row("valgrind", "valgrind finds nothing in the unit tests", V + "sanitize.py valgrind", V + "sanitize.py valgrind"),
    Row("coverage", "the tests run the lines and branches that the floors ask for", "scripts/coverage", "scripts/coverage"),
]
