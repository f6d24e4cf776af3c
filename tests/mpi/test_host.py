"""A host of rlar_mpi.h, used wrongly and at its limits: what host.c finds on two ranks."""

import os
import unittest

import ranks

HOST = os.environ.get("RLAR_MPI_HOST", "")


@unittest.skipUnless(os.path.exists(HOST), "RLAR_MPI_HOST does not name the program (it needs libcmocka-dev)")
class Host(ranks.Case):
    def test_host(self):
        result = ranks.run(2, program=HOST, cwd=self.folder)
        self.assertEqual(result.code, 0, result.err + result.text)
        self.assertEqual(result.err.count("[  PASSED  ]"), 2, result.err)


if __name__ == "__main__":
    unittest.main()
