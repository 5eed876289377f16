#!/usr/bin/env bash
# at, find, hits, calls and diff --image: what the program calls the places of steps, and its data.
. "$(dirname "$0")/common.sh"
cat >"$work/prog.c" <<'EOF'
long total = 1;
__attribute__((noinline)) void work(void) { total = 5; }
int main(void) { work(); return 0; }
EOF
cc -g -O0 -no-pie -fcf-protection=none -o "$work/prog" "$work/prog.c"
address() {
  printf '0x%x' "0x$(nm "$work/prog" | awk -v name="$1" '$3 == name { print $1; exit }')"
}
main=$(address main) callee=$(address work) data=$(address total)

# A call from main to work, which stores to total.
python3 - "$main" "$callee" "$data" >"$work/run.jsonl" <<'PYTHON'
import json, struct, sys
main, work, data = (int(one, 16) for one in sys.argv[1:])
print('{"catalog":{"machine":"x86-64"}}')
def step(pc, opcode, **more):
    print(json.dumps({"kind": "step", "tid": 7, "pc": hex(pc), "opcode": opcode, **more}))
step(main, "e8" + struct.pack("<i", work - main - 5).hex())
step(work, "48c7042505000000" + "05000000", memory=[{"addr": hex(data), "size": 8,
     "access": "write", "old": "0100000000000000", "new": "0500000000000000"}])
step(work + 12, "c3", registers={"rax": "0x9"})
step(main + 5, "90")
PYTHON
image=$work/prog
expect 0 at "$work/run.jsonl" 1 --image "$image" --mem "$data,8"
has "step 1  pc $callee <work at prog.c:2>  48c7042505000000"
has '  <total>'
expect 0 at "$work/run.jsonl" 1 --image "$image" --mem "$data,8" --json
has '"module":"prog","symbol":"work","source":"prog.c:2"'
has '"name":"total"'
expect 0 find "$work/run.jsonl" exec "$main" --image "$image"
has "step 0  pc $main <main at prog.c:3>"
expect 0 find "$work/run.jsonl" write "$data" --image "$image"
has "write $data,8 <total>  0100000000000000 -> 0500000000000000"
expect 0 find "$work/run.jsonl" write "$data" --image "$image" --json
has '"symbol":"work"'
has '"name":"total"'
expect 0 find "$work/run.jsonl" reg rax --image "$image"
has '<work+12'
expect 0 find "$work/run.jsonl" value 5 --image "$image"
has "after $data,8 <total>"
expect 0 find "$work/run.jsonl" bytes 0500000000000000 --image "$image"
has "$data <total>  before steps 2 to 4, written by step 1  pc $callee <work at prog.c:2>"
expect 0 hits "$work/run.jsonl" --image "$image" --by-address
has "$callee <work at prog.c:2>  mov qword ptr"
expect 0 calls "$work/run.jsonl" --image "$image"
has "$callee <work at prog.c:2>  steps 1 to 2  thread 7  from $main <main at prog.c:3>  call"
expect 0 calls "$work/run.jsonl" --image "$image" --json
has '"call":{"step":0,'
has '"symbol":"main"'

# The other trace is of the same program elsewhere, and ends sooner.
python3 - "$work/run.jsonl" >"$work/moved.jsonl" <<'PYTHON'
import json, sys
lines = open(sys.argv[1]).read().splitlines()
print(lines[0])
for line in lines[1:-1]:
    step = json.loads(line)
    step["pc"] = hex(int(step["pc"], 16) + 0x7000000)
    print(json.dumps(step))
PYTHON
expect 1 diff "$work/run.jsonl" "$work/moved.jsonl" --image "$image"
has 'after step 2 at '
has ' <work+12 at prog.c:'
has '(ret) | 2 at 0x7'
expect 1 diff "$work/run.jsonl" "$work/moved.jsonl" --image "$image" --json
has '"disassembly": "ret"'
has '"name": "work+12'
expect 4 diff "$work/run.jsonl" "$work/moved.jsonl" --image "$work/none"
finish
