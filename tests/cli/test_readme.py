"""README.md prints what it says: every `$ build/rlar ...` in its console blocks is run and compared.

Times differ from run to run; they are masked on both sides and nothing else is."""
import os
import re
import shutil
import subprocess
import tempfile
import unittest

from support import PROGRAM, ROOT


def console_blocks(text):
    """(command, output) pairs of the ```console blocks."""
    for block in re.findall(r"```console\n(.*?)```", text, re.S):
        for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
            command, _, output = part.partition("\n")
            yield command, output


def mask_times(output):
    lines = output.splitlines()
    if lines and lines[0].endswith("fit s"):  # the last column of the first table
        end = lines.index("") if "" in lines else len(lines)
        lines[:end] = [re.sub(r"\s+(fit s|\S+)$", "", line) for line in lines[:end]]
    return [re.sub(r"\d+\.\d+ s\b", "# s", line) for line in lines]


class Readme(unittest.TestCase):
    def test_console_blocks(self):
        with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as file:
            examples = list(console_blocks(file.read()))
        self.assertGreaterEqual(len(examples), 4)
        folder = tempfile.mkdtemp()
        try:
            os.mkdir(os.path.join(folder, "build"))
            os.symlink(os.path.abspath(PROGRAM), os.path.join(folder, "build", "rlar"))
            os.symlink(os.path.join(ROOT, "data"), os.path.join(folder, "data"))
            for command, expected in examples:
                with self.subTest(command=command):
                    done = subprocess.run(["bash", "-o", "pipefail", "-c", command], cwd=folder,
                                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                          check=False, timeout=300)
                    self.assertEqual(done.returncode, 0)
                    self.assertEqual(mask_times(done.stdout.decode()), mask_times(expected))
        finally:
            shutil.rmtree(folder)


if __name__ == "__main__":
    unittest.main()
