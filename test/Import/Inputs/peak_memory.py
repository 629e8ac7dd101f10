# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a command; fails if it takes more than the mebibytes given.

peak_memory.py MEBIBYTES COMMAND...
"""

import resource
import subprocess
import sys

limit = int(sys.argv[1])
status = subprocess.run(sys.argv[2:], check=False).returncode
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
print(f"peak: {peak} MiB", file=sys.stderr)
sys.exit(status or int(peak > limit))
