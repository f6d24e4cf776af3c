"""What the checks of the command share: their options, and the program that tests/cli/support.py runs."""
import argparse
import os
import sys
from pathlib import Path


def options(document, name, default, meaning):
    """An amount and the folder of the build. To be called before `support` is imported, which reads the environment."""
    parser = argparse.ArgumentParser(description=document.splitlines()[0])
    parser.add_argument(name, type=int, default=default, help=meaning)
    parser.add_argument("--build", default="build", help="the folder of the build")
    chosen = parser.parse_args()
    os.environ.setdefault("RLAR_PROGRAM", os.path.join(chosen.build, "rlar"))
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "cli"))
    return chosen
