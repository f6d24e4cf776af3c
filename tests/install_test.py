#!/usr/bin/env python3
"""Install into a scratch folder and use the result as a stranger would.

Checks that the example compiles against the installed header with pkg-config, with the shared and with the
static library; that it runs; that the shared library exports exactly what rlar.h declares; and
that an installed program works. And that file_faults strikes every call on files that the library makes. Run by Meson
with the build folder as its argument.
"""
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
IRIS = os.path.join(ROOT, "data", "iris.arff")
EXAMPLE = os.path.join(ROOT, "examples", "fit_predict.c")
# What the C library has for files and folders, without the 64 behind some names.
FILE_CALLS = set("""
    access chdir chmod chown close close_range closedir copy_file_range creat dup dup2 dup3 euidaccess faccessat fallocate
    fchdir fchmod fchmodat fchown fchownat fclose fcntl fdatasync fdopen fdopendir fflush fgetc fgets fgetxattr flock
    fmemopen fopen fputc fputs fread freopen fseek fseeko fsetxattr fstat fstatat fstatfs fstatvfs fsync ftell ftello
    ftruncate futimens fwrite getcwd getdelim getline glob ioctl lchown link linkat lockf lseek lstat memfd_create mkdir
    mkdirat mkdtemp mkfifo mknod mkostemp mkstemp mmap msync nftw open open_by_handle_at open_memstream openat opendir pipe
    pipe2 posix_fadvise posix_fallocate pread preadv preadv2 pwrite pwritev pwritev2 read readahead readdir readdir_r
    readlink readlinkat readv realpath remove rename renameat renameat2 rewinddir rmdir scandir sendfile splice stat statfs
    statvfs statx symlink symlinkat sync sync_file_range syncfs syscall tee telldir tmpfile truncate umask unlink unlinkat
    utime utimensat utimes write writev""".split())
# Those that tests/meson.build has not wrapped.
NOT_STRUCK = {
    "fcntl": "doubles a descriptor that the caller has opened (/dev/stdout); there is no file behind its failure",
    "mmap": "memory without a file",
}


def run(command, **options):
    """The standard output of a command that must succeed."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False,
                          **options)
    if done.returncode != 0:
        raise AssertionError("%s: exit code %d\n%s%s" % (
            " ".join(command), done.returncode, done.stdout, done.stderr))
    return done.stdout


def find(folder, name):
    for place, _, names in os.walk(folder):
        if name in names:
            return os.path.join(place, name)
    raise AssertionError("%s was not installed" % name)


class Install(unittest.TestCase):
    build = None

    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.mkdtemp()
        cls.dest = os.path.join(cls.scratch, "dest")
        run(["meson", "install", "-C", cls.build, "--no-rebuild", "--quiet", "--destdir", cls.dest])
        cls.library = find(cls.dest, "librlar.so")
        package = os.path.dirname(find(cls.dest, "rlar.pc"))
        # The sysroot puts the scratch folder before the prefix that rlar.pc names.
        cls.env = dict(os.environ, PKG_CONFIG_LIBDIR=package + os.pathsep + cls.system_packages(),
                       PKG_CONFIG_SYSROOT_DIR=cls.dest, PKG_CONFIG_ALLOW_SYSTEM_CFLAGS="1",
                       PKG_CONFIG_ALLOW_SYSTEM_LIBS="1",
                       LD_LIBRARY_PATH=os.path.dirname(cls.library))

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.scratch)

    @staticmethod
    def system_packages():
        return run(["pkg-config", "--variable", "pc_path", "pkg-config"]).strip()

    def flags(self, *options):
        return shlex.split(run(["pkg-config", *options, "rlar"], env=self.env))

    def compile_and_run(self, name, libraries):
        program = os.path.join(self.scratch, name)
        compiler = shlex.split(os.environ.get("CC", "cc"))
        run(compiler + ["-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-o", program, EXAMPLE]
            + self.flags("--cflags") + libraries)
        output = run([program, IRIS, program + ".model"], env=self.env)
        self.assertEqual(output, "first sample: Iris-setosa\nright: 150 of 150\n")
        return program

    def test_shared(self):
        program = self.compile_and_run("shared", self.flags("--libs"))
        self.assertIn("librlar.so", run(["readelf", "-d", program]))

    def test_static(self):
        libraries = [flag.replace("-lrlar", "-l:librlar.a") for flag in self.flags("--static", "--libs")]
        program = self.compile_and_run("static", libraries)
        self.assertNotIn("librlar.so", run(["readelf", "-d", program]))

    def test_example_reports_errors(self):
        program = self.compile_and_run("failing", self.flags("--libs"))
        done = subprocess.run([program, os.path.join(self.scratch, "absent.csv"), "m"], env=self.env,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("absent.csv", done.stderr)

    def test_exports_are_the_header(self):
        """No internal name leaks out, no public one is forgotten."""
        table = run(["nm", "-D", "--defined-only", self.library])
        # Kinds other than A, which is the name of the version itself.
        exported = {line.split()[2].split("@")[0] for line in table.splitlines() if line.split()[1] != "A"}
        with open(find(self.dest, "rlar.h"), encoding="utf-8") as file:
            header = re.sub(r"/\*.*?\*/|^#.*?$", "", file.read(), flags=re.S | re.M)
        declared = set(re.findall(r"RLAR_API\s[^;(]*?(\w+)\(", header))
        self.assertGreater(len(declared), 30)
        self.assertEqual(exported, declared)

    def test_program(self):
        program = find(self.dest, "rlar")
        self.assertRegex(run([program, "--version"], env=self.env), r"\d+\.\d+\.\d+")

    def test_calls_on_files_are_struck(self):
        """file_faults makes those calls fail that the linker wraps for it: a new one must be among them."""
        with open(os.path.join(ROOT, "tests", "meson.build"), encoding="utf-8") as file:
            names = re.search(r"^wrapped = \[\]\nforeach name : \[(.*?)\]", file.read(), re.M | re.S).group(1)
        wrapped = re.findall(r"'(\w+)'", names)
        table = run(["nm", "-u", find(os.path.join(self.build, "src"), "librlar.a")])
        called = {re.sub(r"^__(\w+)_chk$", r"\1", name) for name in re.findall(r"^ +U (\w+)", table, re.M)}
        on_files = {name for name in called if re.sub("64(_2)?$", "", name) in FILE_CALLS}
        left_out = {re.sub("64$", "", name) for name in on_files - set(wrapped)}
        self.assertEqual(left_out, set(NOT_STRUCK), "strike it in tests/verify/file_faults.c, or say here why not")
        self.assertEqual(set(wrapped) - called, set(), "wrapped, but never called")


if __name__ == "__main__":
    Install.build = sys.argv.pop(1)
    unittest.main()
