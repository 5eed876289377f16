#!/usr/bin/env bash
# at, find, hits, calls and diff --image: what the program calls the places of steps, and its data.
. "$(dirname "$0")/common.sh"
cat >"$work/prog.c" <<'EOF'
long total = 1;
__attribute__((naked, noinline)) void work(void) { __asm__("movq $5, total\n ret"); }
__attribute__((naked)) int main(void) { __asm__("call work\n nop\n ret"); }
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

# A name stands wherever an address may: of a variable it is all of it, of a function its begin.
same_as() {  # ADDRESSES... -- NAMES...: both commands answer the same
  expect 0 "$@"
  diff "$work/first" "$work/out" >/dev/null || fail "$*: $(cat "$work/out")"
}
run=$work/run.jsonl
expect 0 find "$run" write "$data,8" --image "$image"
cp "$work/out" "$work/first"
for name in total total,8 total+7 total+0x4,4; do
  same_as find "$run" write "$name" --image "$image"
done
expect 1 find "$run" write total+8 --image "$image"
expect 0 find "$run" exec "$callee" --image "$image"
cp "$work/out" "$work/first"
same_as find "$run" exec work --image "$image"
expect 0 find "$run" exec work,13 --image "$image"
lines 2
expect 0 at "$run" 1 --image "$image" --mem "$data,8"
cp "$work/out" "$work/first"
same_as at "$run" 1 --image "$image" --mem total
expect 0 convert "$run" "$work/work.tf" --at work,main --image "$image"
expect 0 info "$work/work.tf" --json
has '"records": 2,'

# MODULE!NAME is a name in one image.
expect 0 find "$run" exec "$callee" --image "$image"
cp "$work/out" "$work/first"
same_as find "$run" exec 'prog!work' --image "$image"
expect 2 find "$run" exec 'other!work' --image "$image"
expect 0 at "$run" 1 --image "$image" --mem "$data,8"
cp "$work/out" "$work/first"
same_as at "$run" 1 --image "$image" --mem 'prog!total'
expect 0 convert "$run" "$work/work.tf" --at 'prog!work,main' --image "$image"

# A trace that tells no instructions has those of the image.
sed 's/, "opcode": "[0-9a-f]*"//' "$run" >"$work/bare.jsonl"
expect 1 calls "$work/bare.jsonl"
expect 0 calls "$work/bare.jsonl" --image "$image"
has "$callee <work at prog.c:2>  steps 1 to 2  thread 7  from $main <main at prog.c:3>  call"
expect 0 at "$work/bare.jsonl" 0 --image "$image"
has "pc $main <main at prog.c:3>  e8"
expect 0 hits "$work/bare.jsonl" --image "$image" --by-address
has "$main <main at prog.c:3>  call"
expect 0 find "$work/bare.jsonl" exec main --image "$image"
has 'call'
expect 0 print "$work/bare.jsonl" --image "$image" --where 'mnemonic == "call"'
has "$main"
expect 0 info "$work/bare.jsonl" --image "$image"
has prog

expect 2 find "$run" exec work
has 'find exec work: wanted is ADDR or ADDR,LEN; names of places come from --image FILE[@BASE]' err
expect 2 convert "$run" "$work/none.tf" --at work
has '--at: not an address: work' err
expect 2 find "$run" write nope --image "$image"
has 'find write nope: the images have nothing that is called nope' err
expect 2 at "$run" 1 --mem total,0 --image "$image"
has 'wanted is ADDR or ADDR,LEN' err

# Names of C++ are given as people write them; those of several places name none.
cat >"$work/two.cc" <<'EOF'
namespace book { int match(int a) { return a; } }
static int twice = 1;
int *other();
int main() { return book::match(twice + *other()); }
EOF
echo 'static int twice = 2; int *other() { return &twice; }' >"$work/other.cc"
c++ -O0 -no-pie -o "$work/two" "$work/two.cc" "$work/other.cc"
match=0x$(nm "$work/two" | awk '$3 == "_ZN4book5matchEi" { print $1 }' | sed 's/^0*//')
cat >"$work/two.jsonl" <<EOF
{"catalog":{"machine":"x86-64"}}
{"kind":"step","pc":"$match","opcode":"90"}
EOF
for name in book::match 'book::match(int)' _ZN4book5matchEi; do
  expect 0 find "$work/two.jsonl" exec "$name" --image "$work/two"
done
expect 2 find "$work/two.jsonl" exec book --image "$work/two"
expect 2 find "$work/two.jsonl" read twice --image "$work/two"
has '2 places are called twice: 0x' err

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
