"""Write docs/errors.md from what the program really says to the odd inputs.

    python3 tests/cli/make_errors_doc.py docs/errors.md
"""

import re
import shlex
import shutil
import sys
import tempfile
from pathlib import Path

import odd_inputs
import support

INTRO = """\
# Errors and odd inputs

What the program does with inputs that are wrong or merely strange. The table is written by
`tests/cli/make_errors_doc.py` from the real program, and a test compares the two; N stands for a figure that
depends on the machine.

A failure is one line on standard error that begins with `rlar: ` and says where, what and what to do. Nothing is
then on standard output, but for the answers of `predict` and `transform` to the blocks (of 16 MiB) before the
one that is wrong; no output file appears, and one that existed stays as it was. Only where the files of `-o` are
written and standard output then cannot be, as on a full disk, they stay: they are whole. So does a trace of `fit`
whose model cannot be put in place, where the system then refuses to take back the trace, too.
A warning also begins with `rlar: ` and does not change the exit code.

## Exit codes

| code | meaning | typical cause |
| --- | --- | --- |
| 0 | done | also with warnings, and when the reader of a pipe stops early (`rlar predict ... \\| head -1`) |
| 1 | failed | something that this build or machine lacks: no BLAS library, a rare way of packing |
| 2 | usage | unknown verb, option, method, parameter; a value out of range |
| 3 | bad data | a file that cannot be read as data, or data that cannot be used |
| 4 | bad model | a damaged model file, no model at all, or data whose columns do not fit the model |
| 5 | numerical failure | numbers that overflow, a matrix that cannot be factorised |
| 6 | input/output | a missing file, a folder that may not be written, a full disk |
| 7 | out of memory | the machine's memory or the limit of `--max-memory` |
| 130 | interrupted | Ctrl-C; no file is left behind |
"""


def outcome(odd):
    """(exit code, what standard error says that is worth showing)."""
    folder = Path(tempfile.mkdtemp(prefix="rlar-cli-"))
    try:
        odd_inputs.lay_down(odd, folder)
        result = support.run(*shlex.split(odd.argv), cwd=folder, stdin=odd.stdin)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    lines = [line for line in result.err.splitlines() if result.code or "warning" in line]
    return result.code, lines


def cell(text):
    """Markdown, without the figures that depend on the machine."""
    text = re.sub(r"\d+ bytes held", "N bytes held", text)
    text = re.sub(r"an output of [-+.\de]+", "an output of N", text)
    return text.replace("|", "\\|")


def row(odd):
    code, lines = outcome(odd)
    what = "works" if code == 0 else "refused"
    if code == 0 and lines:
        what = "works, with a warning"
    text = "<br>".join(f"`{cell(line)}`" for line in lines) or "-"
    command = f"`rlar {odd.argv}`".replace(" `", "`")
    return f"| {odd.name} | {cell(command)} | {what} | {code} | {text} |\n"


def main(target):
    parts = [INTRO]
    for title, group in odd_inputs.ALL:
        parts.append(f"\n## {title}\n\n| input | command | what happens | exit code | the exact text |\n"
                     "| --- | --- | --- | --- | --- |\n")
        parts.extend(row(odd) for odd in group)
    Path(target).write_text("".join(parts))


if __name__ == "__main__":
    main(*sys.argv[1:])
