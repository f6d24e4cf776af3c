"""Bring the parameter tables in docs/methods.md up to date with the program.

    python3 tests/cli/make_methods_doc.py docs/methods.md

Everything between the lines `<!-- parameters NAME -->` and `<!-- end -->` is written anew from
`rlar methods NAME --json`; the rest of the page is written by hand and stays as it is.
"""
import re
import sys
from pathlib import Path

import support

BLOCK = re.compile(r"(<!-- parameters (\w+) -->\n).*?(<!-- end -->)", re.S)
HEAD = "| parameter | default | paper | allowed | grid | meaning |\n|---|---|---|---|---|---|\n"


def text(value):
    """As it would be typed: 0.1, 7, paper; an empty cell where there is none."""
    return "" if value is None else value if isinstance(value, str) else "%.10g" % value


def row(param):
    allowed = ("%s to %s" % (text(param["min"]), text(param["max"])) if param["choices"] is None
               else ", ".join(map(text, param["choices"])))
    preset = param["default"] if param["preset"] is None else param["preset"]
    cells = [param["name"], text(param["default"]), text(preset), allowed,
             ", ".join(map(text, param["grid"] or [])), param["help"].replace("|", "\\|")]
    return "| " + " | ".join(cells) + " |\n"


def table(name):
    done = support.run("methods", name, "--json")
    if done.code != support.OK:
        return "Not in this version of the program.\n"
    params = done.json["params"]
    return HEAD + "".join(map(row, params)) if params else "No parameters.\n"


def filled(page):
    """The page with its tables as the program has them now."""
    return BLOCK.sub(lambda found: found.group(1) + table(found.group(2)) + found.group(3), page)


def main(path):
    page = Path(path).read_text(encoding="utf-8")
    Path(path).write_text(filled(page), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
