#!/usr/bin/env python3
# timeout: 300
# serial
# skips
"""Programs of others under load, with fast tracepoints on functions that they live in: attached to
while they run, traced while nobody is connected, detached from; and what they do themselves to say
that all is well goes on saying so. Nothing of ours is left in them."""

import contextlib
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))

from parts import chosen  # noqa: E402
from replay_common import check, folder, gdb, need, same  # noqa: E402
from serve_common import on_port  # noqa: E402

BEGIN = """
run("set sysroot /")
said = [run("target remote %(remote)s")]
definitions = %(definitions)r
for place, what in definitions:
    said.append(run("ftrace *" + place))
    open("%(work)s/actions", "w").write("actions\\n" + what + "\\nend\\n")
    said.append(run("source %(work)s/actions"))
said += [run("set circular-trace-buffer on"), run("set disconnected-tracing on"), run("tstart")]
result({"said": said, "end": run("disconnect")})
"""
END = """
run("set sysroot /")
run("target remote %(remote)s")
result({"status": run("tstatus"), "stop": run("tstop"), "points": run("info tracepoints"),
        "frame": run("tfind start"), "dump": run("tdump"), "none": run("tfind none"),
        "end": run("detach")})
"""


def free_port():
    with contextlib.closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for_port(port):
    end = time.monotonic() + 30
    while True:
        with contextlib.closing(socket.socket()) as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        check(time.monotonic() < end, f"nobody listens on {port}")
        time.sleep(0.05)


def strange_mappings(pid):
    """What is mapped and executable without a file, or of our making."""
    found = []
    for line in pathlib.Path(f"/proc/{pid}/maps").read_text().splitlines():
        words = line.split(maxsplit=5)
        if "tracewell" in line or ("x" in words[1] and len(words) < 6):
            found.append(line)
    return found


@contextlib.contextmanager
def traced(work, pid, definitions):
    """Traces what happens inside of the block, nobody being connected."""
    program = os.readlink(f"/proc/{pid}/exe")
    before = strange_mappings(pid)
    with on_port("--attach", str(pid), options=()) as server:
        got = gdb(work, BEGIN % {"remote": server.remote, "definitions": definitions,
                                 "work": work}, program)
        check("error" not in " ".join(got["said"]), f"{got}")
        yield
        got = gdb(work, END % {"remote": server.remote}, program)
        said = server.said()
    for place, _ in definitions:
        print(f"  {place}: ", end="")
    hits = [int(one) for one in re.findall(r"already hit (\d+) time", got["points"])]
    print(f"{hits} hits, {re.search('.*trace frames.*', got['status'])[0]}")
    check("is a trap" not in said and "are traps" not in said, said)
    same(len(hits), len(definitions), got["points"])
    check(all(one > 100 for one in hits), got["points"])
    check("Data collected" in got["dump"], got["dump"])
    same(strange_mappings(pid), before, "mappings that were left")


def run(*words, **more):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True,
                          timeout=200, **more)
    same(done.returncode, 0, f"{words}: {done.stdout}{done.stderr}")
    return done.stdout


@contextlib.contextmanager
def started(*words, **more):
    process = subprocess.Popen([str(word) for word in words], stdin=subprocess.DEVNULL, **more)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def redis(work):
    port = free_port()
    with started("redis-server", "--port", port, "--bind", "127.0.0.1", "--dir", work,
                 "--save", "", stdout=subprocess.DEVNULL) as server:
        wait_for_port(port)
        load = ["redis-benchmark", "-p", port, "-q", "-n", "60000", "-r", "1000", "-t",
                "set,get,incr,lpush,lrange_100"]
        with traced(work, server.pid, [("processCommand", "collect $regs"),
                                       ("lookupKey", "collect *(long *) $rdi@2, $rip")]):
            said = run(*load)
            same(said.count("requests per second"), 6, said)  # lrange needs a list first
            check("rror" not in said, said)
        run(*load)  # and without us
        run("redis-cli", "-p", port, "save")
        check("RDB looks OK" in run("redis-check-rdb", work / "dump.rdb"), "its file")
        run("redis-cli", "-p", port, "shutdown", "nosave")
        same(server.wait(timeout=30), 0, "its exit status")


NGINX = """
daemon off; master_process off; pid {work}/pid; error_log {work}/error.log;
events {{ worker_connections 256; }}
http {{ access_log off; client_body_temp_path {work}; proxy_temp_path {work};
  fastcgi_temp_path {work}; uwsgi_temp_path {work}; scgi_temp_path {work};
  server {{ listen 127.0.0.1:{port}; root {work}/root; }} }}
"""


def nginx(work):
    port = free_port()
    (work / "root").mkdir()
    content = bytes(range(256)) * 64
    (work / "root/file").write_bytes(content)
    (work / "nginx.conf").write_text(NGINX.format(work=work, port=port))
    with started("nginx", "-c", work / "nginx.conf", "-p", work,
                 stderr=subprocess.DEVNULL) as server:
        wait_for_port(port)
        load = ["wrk", "-t1", "-c16", "-d2", f"http://127.0.0.1:{port}/file"]
        with traced(work, server.pid, [("ngx_http_process_request", "collect $regs"),
                                       ("ngx_palloc", "collect $rsi")]):
            for said in (run(*load), run(*load)):
                check("Non-2xx" not in said and "Socket errors" not in said, said)
                check(int(re.search(r"(\d+) requests in", said)[1]) > 100, said)
        run(*load)
        got = subprocess.run(["curl", "-s", f"http://127.0.0.1:{port}/file"],
                             capture_output=True, check=True).stdout
        same(got, content, "what it serves")
        check("[alert]" not in (work / "error.log").read_text(), "what it says of itself")
        server.terminate()
        same(server.wait(timeout=30), 0, "its exit status")


SQLITE = """
create table t(a integer primary key, b text, c real);
begin;
with recursive n(i) as (select 1 union all select i + 1 from n where i < {rows})
insert into t select i, printf('row %d', i * 7919 % 10007), sqrt(i) from n;
commit;
create index by_b on t(b);
select count(*), sum(a), round(sum(c), 6), min(b), max(b) from t;
select count(*) from t x join t y on y.a = (x.a * 31) % {rows} + 1 where x.b < y.b;
pragma integrity_check;
"""


def sqlite(work):
    (work / "script.sql").write_text(SQLITE.format(rows=1_000_000))
    command = f"sqlite3 {work}/{{}}.db < {work}/script.sql"
    expected = run("sh", "-c", command.format("alone"))
    check(expected.endswith("ok\n"), expected)
    with open(work / "script.sql") as script:
        process = subprocess.Popen(["sqlite3", work / "traced.db"], stdin=script, text=True,
                                   stdout=subprocess.PIPE)
        try:
            time.sleep(0.2)
            with traced(work, process.pid, [("sqlite3_result_double", "collect $regs"),
                                            ("sqlite3_value_text", "collect $rdi")]):
                time.sleep(1)
            same(process.communicate(timeout=200)[0], expected, "what it computes")
            same(process.returncode, 0, "its exit status")
        finally:
            process.kill()


PYTHON = "/usr/bin/python3"
MODULES = ["test_json", "test_struct", "test_re", "test_sort", "test_deque", "test_set",
           "test_dict", "test_itertools", "test_functools", "test_collections", "test_heapq",
           "test_generators", "test_exceptions", "test_thread", "test_signal"]


def python(work):
    """Its own tests, which also make threads, processes and signals. It handles SIGSEGV."""
    command = [PYTHON, "-m", "test", *MODULES]
    with started(*command, cwd=work, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                 text=True) as process:
        time.sleep(0.5)
        with traced(work, process.pid, [("PyObject_GetAttr", "collect $regs"),
                                        ("PyDict_SetItem", "collect *(long *) $rdi@4"),
                                        ("_PyEval_EvalFrameDefault", "collect $rsi")]):
            time.sleep(4)
            check(process.poll() is None, "it ended too soon for this test to tell anything")
        said = process.communicate(timeout=200)[0]
        same(process.returncode, 0, said[-3000:])
        check("Tests result: SUCCESS" in said, said[-3000:])


def main():
    need("gdb")
    programs = ("redis-server", "redis-benchmark", "nginx", "wrk", "curl", "sqlite3")
    missing = [name for name in programs if not shutil.which(name)]
    if subprocess.run([PYTHON, "-c", "import test.test_json"], capture_output=True).returncode:
        missing.append("libpython3.11-testsuite")
    if missing:
        print(f"skipped: not here: {' '.join(missing)}; tools/install_deps programs installs them")
        return
    for part in chosen((redis, nginx, sqlite, python)):
        with folder() as work:
            os.chmod(work, 0o755)
            part(work)


main()
