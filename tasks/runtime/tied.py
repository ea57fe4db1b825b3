"""Child process that dies with its parent, even if SIGKILL ends the parent.

    parent ──► this file, run as a script ──exec──► the command      (one process, one pid)
                 └ asks the kernel for PR_SET_PDEATHSIG = SIGKILL, which survives exec

A handler in the parent does not run at SIGKILL, and a pid file is read only by the next start.
Only the kernel sees every death.  Two traps:

- The signal comes when the *thread* that started the child ends.  Start tied children from a
  thread that lives as long as the children should.
- Only the child itself is tied.  The child has to tie its own children.

On systems other than Linux the command runs untied, and its parent must stop it.
"""

import ctypes
import os
import signal
import sys
from collections.abc import Sequence

_PR_SET_PDEATHSIG = 1  # linux/prctl.h


def tied_argv(argv: Sequence[str]) -> tuple[str, ...]:
    """Return the command that runs `argv` tied to the calling process."""
    # -I and -S: the wrapper needs nothing but the standard library, and 20 ms.
    return (sys.executable, "-I", "-S", __file__, str(os.getpid()), *argv)


def _main() -> None:
    parent, command = int(sys.argv[1]), sys.argv[2:]
    if sys.platform == "linux":
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL) != 0:
            sys.exit(f"prctl: {os.strerror(ctypes.get_errno())}")
        if os.getppid() != parent:
            sys.exit("the parent died before its child was tied to it")
    try:
        os.execvp(command[0], command)  # noqa: S606 -- the caller's own command
    except OSError as error:
        sys.exit(f"{command[0]}: {error.strerror}")


if __name__ == "__main__":
    _main()
