#!/usr/bin/env python3
# skips
"""A traced program starts a set-uid one by vfork or posix_spawn, as sudo and mount are started: it
has its rights, though who traces is not root. Others that it starts are let go as ever."""

import os
import pathlib
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))

from serve_common import (  # noqa: E402
    TRACEWELL, check, folder, need, on_port, same, shown_by_gdb)

USER = 65534
AS_USER = ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups"]
SOURCE = r"""
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <fcntl.h>
#include <unistd.h>
extern char** environ;
static int points;
__attribute__((noinline)) void point(void) {
  ++points;
  __asm__ volatile("nop; nop; nop; nop; nop; nop");
}
static void start(const char* how, char** words) {
  int status = -1;
  pid_t child = 0;
  point();
  if (strcmp(how, "spawn") == 0) {
    posix_spawnp(&child, words[0], NULL, NULL, words, environ);
  } else if ((child = vfork()) == 0) {
    point();
    execve("/nowhere/to/be/found", words, environ);
    point();
    if (strcmp(how, "at") == 0) syscall(SYS_execveat, AT_FDCWD, words[0], words, environ, 0);
    else execve(words[0], words, environ);
    _exit(1);
  }
  waitpid(child, &status, 0);
  printf("%s: %d\n", how, WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status));
  fflush(stdout);
}
int main(int argc, char** argv) {
  char* words[] = {argv[1], "who", NULL};
  if (argc == 2) return geteuid() == 0 ? 10 : 11;
  start("spawn", words);
  start("vfork", words);
  start("at", words);
  chdir(argv[2]);
  words[0] = "./privileged";
  start("vfork", words);
  point();
  return 0;
}
"""


def main():
    need("gdb", "setpriv", "gcc")
    if os.getuid() != 0:
        print("skipped: only root can make a set-uid file of another user's")
        sys.exit(0)
    with folder() as work:
        os.chmod(work, 0o755)
        (work / "program.c").write_text(SOURCE)
        program, privileged = work / "program", work / "privileged"
        subprocess.run(["gcc", "-g", "-w", work / "program.c", "-o", program], check=True)
        shutil.copy(program, privileged)
        os.chmod(privileged, 0o4755)
        runtime = work / "run"
        runtime.mkdir(0o700)
        os.chown(runtime, USER, USER)
        # Nothing of that user's stays in /tmp.
        as_user = [*AS_USER, "env", f"XDG_RUNTIME_DIR={runtime}"]
        if subprocess.run([*AS_USER, privileged, "who"], check=False).returncode != 10:
            print("skipped: set-uid files have no rights here")
            sys.exit(0)
        for kind in ("print 1", "break point if points == 1000", "trace point", "ftrace point"):
            for file, status in ((privileged, 10), (program, 11)):
                with on_port(program, file, work,
                             program=[*as_user, *TRACEWELL]) as server:
                    # The last one is the privileged file whatever was given.
                    shown = shown_by_gdb(work, server.remote, [
                        kind, "tstart", "continue", "print $_exitcode"], program)
                    server.ended()
                    said = server.said()
                same(shown[-1].split(" = ")[-1], "0\n", f"{kind}: {shown} {said}")
                for how in ("spawn", "vfork", "at"):
                    check(f"{how}: {status}\n" in said, f"{kind}: {how}: not {status}: {said}")
                same(said.count("vfork: 10\n"), 2 if status == 10 else 1, f"{kind}: {said}")


main()
