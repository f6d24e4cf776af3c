"""Where a file cannot be written, or is no plain file: full disks, size limits, folders, links, pipes, devices.

What a refused run leaves is what was there before. As root, who may write everywhere, the program is run by
nobody where permissions matter; a small file system and a read-only one are mounted where that is possible.
"""

import os
import resource
import shutil
import stat
import subprocess
import tempfile
import threading
import unittest
from pathlib import Path

import support
from support import IO, Case, blobs, clean_environment, default_signals, snapshot, table_text

NOBODY = 65534


class Targets(Case):
    def setUp(self):
        super().setUp()
        x, y = blobs(10, 6, 3, seed=0)
        self.write("t.csv", table_text(x, y))
        self.write("big.csv", table_text(x, y) * 3000)
        self.ok("fit", "t.csv", "-o", "m.rlar")
        self.model = self.path("m.rlar").read_bytes()

    # What follows `unshare --mount`: the folder $1 is mounted on itself, read-only, and the rest is run. No other process
    # sees it, and it goes when the last one in it does.
    READ_ONLY = 'mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" || exit 99; shift; exec "$@"'

    def run_read_only(self, place, *args):
        """Run where this folder is on a read-only file system, for root too, or skip. Others mount in a user namespace."""
        if not shutil.which("unshare"):
            self.skipTest("there is no unshare")
        rights = [] if os.geteuid() == 0 else ["--map-root-user"]
        done = subprocess.run(["unshare", *rights, "--mount", "sh", "-c", self.READ_ONLY, "sh", place, support.PROGRAM,
                               *map(str, args)], cwd=self.folder, env=clean_environment(), preexec_fn=default_signals,
                              capture_output=True, timeout=support.TIMEOUT, check=False)
        if done.returncode in (1, 99) and not done.stderr.startswith(b"rlar: "):
            self.skipTest(f"no file system can be mounted here: {done.stderr.decode().strip()}")
        return done.returncode, done.stderr.decode()

    def run_limited(self, *args, limit=None, user=None, descriptors=None):
        """Run with a limit on the size of files or on open ones, or as another user."""
        def prepare():
            default_signals()
            if limit is not None:
                resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
            if descriptors is not None:
                resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors, descriptors))
            if user is not None:
                os.setgid(user)
                os.setuid(user)
        done = subprocess.run([support.PROGRAM, *map(str, args)], cwd=self.folder, env=clean_environment(),
                              preexec_fn=prepare, capture_output=True, timeout=support.TIMEOUT, check=False)
        return done.returncode, done.stderr.decode()

    def refused(self, code_and_err, says, before):
        code, err = code_and_err
        self.assertEqual(code, IO, err)
        self.assertRegex(err.splitlines()[-1], says)
        self.assertEqual(snapshot(self.folder), before)

    def test_limit_on_the_size_of_files(self):
        """The signal of the limit does not end the program, and the old file stays."""
        self.write("old.npy", "the old file")
        before = snapshot(self.folder)
        for limit in (0, 1000, 65536, 100000):
            self.refused(self.run_limited("convert", "big.csv", "old.npy", limit=limit),
                         r"old\.npy: cannot .*File too large", before)
        self.refused(self.run_limited("predict", "m.rlar", "big.csv", "-o", "new.txt", limit=1000),
                     r"new\.txt: cannot .*File too large", before)

    def test_limit_on_open_files(self):
        """Whatever is opened last is what is told; no library is called missing that cannot be opened."""
        before = snapshot(self.folder)
        for descriptors in (4, 5):
            self.refused(self.run_limited("predict", "m.rlar", "t.csv", "-o", "new.txt", descriptors=descriptors),
                         r"^rlar: .*Too many open files", before)

    def mounted(self):
        """A file system of 256 KiB, or skip."""
        place = tempfile.mkdtemp(prefix="rlar-small-")
        self.addCleanup(shutil.rmtree, place, ignore_errors=True)
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", place], capture_output=True, check=False)
        if done.returncode != 0:
            self.skipTest("no file system can be mounted here")
        self.addCleanup(subprocess.run, ["umount", place], check=True)
        return Path(place)

    @unittest.skipIf(os.geteuid() != 0, "only root can mount")
    def test_full_disk(self):
        place = self.mounted()
        old = place / "old.npy"
        old.write_bytes(b"the old file")
        for target in (old, place / "new.npy"):
            self.fails(IO, "convert", "big.csv", target, says=r"No space left on device")
        self.fails(IO, "evaluate", "big.csv", "--methods", "rr", "--train-per-class", "5", "--trials", "2",
                   "--resume", self.filled(place) / "fits.journal", says=r"fits\.journal: .*No space left")
        self.assertEqual(old.read_bytes(), b"the old file")
        self.assertEqual(sorted(p.name for p in place.iterdir() if p.name.startswith(".")), [])

    @staticmethod
    def filled(place):
        with open(place / "filler", "wb", buffering=0) as filler:
            try:
                while filler.write(b"x" * 4096):
                    pass
            except OSError:
                pass
        return place

    @unittest.skipIf(os.geteuid() != 0, "only root can become nobody")
    def test_no_permission(self):
        self.folder.chmod(0o755)
        locked = self.path("locked")
        locked.mkdir()
        (locked / "m.rlar").write_bytes(b"the old file")
        before = snapshot(self.folder)
        if self.run_limited("--version", user=NOBODY)[0] != 0:
            self.skipTest("nobody may not run the program here")
        for target in ("locked/m.rlar", "locked/new.rlar", "new.rlar"):
            self.refused(self.run_limited("fit", "t.csv", "-o", target, user=NOBODY),
                         r"cannot create the file: Permission denied", before)
        self.path("t.csv").chmod(0o600)
        self.refused(self.run_limited("info", "t.csv", user=NOBODY), r"t\.csv: .*Permission denied", before)

    def test_read_only_file_system(self):
        """Nothing is written beside the old files, which can still be read; nor through a link from elsewhere."""
        place = self.path("ro")
        place.mkdir()
        (place / "old.rlar").write_bytes(self.model)
        (place / "old.npy").write_bytes(b"the old file")
        self.path("link").symlink_to("ro/new.rlar")
        evaluated = ("evaluate", "t.csv", "--methods", "rr", "--train-per-class", "5", "--trials", "2")
        before = snapshot(self.folder)
        code, err = self.run_read_only(place, "predict", "ro/old.rlar", "t.csv", "-q")
        self.assertEqual((code, err), (0, ""))
        for args in (("fit", "t.csv", "-o", "ro/old.rlar"), ("fit", "t.csv", "-o", "ro/new.rlar"),
                     ("fit", "t.csv", "-o", "link"), ("fit", "t.csv", "--trace", "ro/trace.csv"),
                     ("fit", "t.csv", "--checkpoint", "ro/c.checkpoint", "--every", "1"),
                     ("fit", "t.csv", "-o", "ro/old.rlar", "--trace", "trace.csv"),
                     ("convert", "t.csv", "ro/old.npy"), ("predict", "m.rlar", "t.csv", "-o", "ro/p.txt"),
                     ("transform", "m.rlar", "t.csv", "-o", "ro/z.csv.gz"), ("rank", "m.rlar", "-o", "ro/rank.txt"),
                     (*evaluated, "--json", "-o", "ro/results.json"), (*evaluated, "--resume", "ro/fits.journal")):
            with self.subTest(args=args):
                self.refused(self.run_read_only(place, *args), r"^rlar: .*: .*Read-only file system", before)

    def test_folders(self):
        self.path("folder").mkdir()
        self.fails(IO, "fit", "t.csv", "-o", "folder", says=r"folder: is a folder")
        self.fails(IO, "fit", "t.csv", "-o", "t.csv/m.rlar", says=r"t\.csv/m\.rlar: .*Not a directory")

    def test_links(self):
        """The file behind a link is written, also when it is not there yet; the link stays."""
        self.path("store").mkdir()
        for name, to in (("there", "store/old"), ("nowhere", "store/new"), ("chain", "nowhere2"),
                         ("nowhere2", "store/far")):
            self.path(name).symlink_to(to)
        self.path("store/old").write_bytes(b"the old file")
        for link, file in (("there", "old"), ("nowhere", "new"), ("chain", "far")):
            self.ok("fit", "t.csv", "-o", link)
            self.assertTrue(self.path(link).is_symlink())
            self.assertEqual((self.path("store") / file).read_bytes(), self.model)
        self.path("round").symlink_to("round")
        self.fails(IO, "fit", "t.csv", "-o", "round", says=r"round: .*symbolic links")
        self.path("lost").symlink_to("no/such/folder/m")
        self.fails(IO, "fit", "t.csv", "-o", "lost", says=r"No such file")

    def test_devices(self):
        self.ok("fit", "t.csv", "-o", "/dev/null")
        self.assertTrue(stat.S_ISCHR(os.stat("/dev/null").st_mode))
        if os.path.exists("/dev/full"):
            self.fails(IO, "fit", "t.csv", "-o", "/dev/full", says=r"/dev/full: .*No space left")

    def test_pipe(self):
        os.mkfifo(self.path("pipe"))
        got = []
        reader = threading.Thread(target=lambda: got.append(self.path("pipe").read_bytes()))
        reader.start()
        self.ok("fit", "t.csv", "-o", "pipe")
        reader.join(support.TIMEOUT)
        self.assertEqual(got, [self.model])
        self.assertTrue(stat.S_ISFIFO(os.stat(self.path("pipe")).st_mode))

    def test_mode_is_kept(self):
        self.write("old", "the old file")
        self.path("old").chmod(0o640)
        self.ok("fit", "t.csv", "-o", "old")
        self.assertEqual(stat.S_IMODE(os.stat(self.path("old")).st_mode), 0o640)

    def test_output_closed(self):
        """Standard output that is closed is an error for what is printed, and for nothing else."""
        shell = f"exec '{support.PROGRAM}' \"$@\" >&-"
        for args, code in ((("predict", "m.rlar", "t.csv"), IO), (("predict", "m.rlar", "t.csv", "-o", "p.txt"), 0)):
            done = subprocess.run(["sh", "-c", shell, "sh", *args], cwd=self.folder, capture_output=True,
                                  env=clean_environment(), timeout=support.TIMEOUT, check=False)
            self.assertEqual(done.returncode, code, done.stderr)


if __name__ == "__main__":
    unittest.main()
