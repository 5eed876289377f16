#!/usr/bin/env bash
# tracewell convert, of traces of executed instructions: the commands of the how-to page as they
# stand there, what is told, and modules that come from images.
. "$(dirname "$0")/common.sh"
page=$TRACEWELL_SOURCE/docs/how-to/convert-an-instruction-trace.md
sample=$cases/folded/calls/input.jsonl

# A program that the page can give as an image, and a trace whose steps are inside of it.
echo 'int main(void) { return 0; }' >"$work/prog.c"
cc -fPIE -pie -o "$work/prog" "$work/prog.c"
cp "$sample" "$work/run.jsonl"
cat >>"$work/run.jsonl" <<'EOF'
{"kind":"step","tid":5,"pc":"0x555555555129","opcode":"55"}
EOF

# Every command of the page.
count=0
while IFS= read -r line; do
  count=$((count + 1))
  (cd "$work" && PATH=$TRACEWELL_BIN:$PATH eval "$line") >"$work/out.$count" 2>"$work/err.$count" ||
    {
      fail "$line"
      cat "$work/err.$count"
    }
done < <(sed -n 's/^    \$ //p' "$page")
[ "$count" -ge 15 ] || fail "only $count commands in the page"

head -1 "$work/run.tenet" | grep -q '^rax=0x0,.*,rip=0x401000$' || fail 'first line of Tenet'
[ "$(wc -l <"$work/run.tenet")" = 25 ] || fail "lines of one thread: $(wc -l <"$work/run.tenet")"
[ "$(wc -l <"$work/part.tenet")" = 19 ] || fail "lines of a part: $(wc -l <"$work/part.tenet")"
grep -q '^thread 5;prog.exe+0x1011 3$' "$work/run.folded" || fail 'the step that was added'
grep -q '^thread 5;prog.exe+0x1000;prog.exe+0x1010 9$' "$work/run.folded" || fail 'folded'
grep -q '^prog.exe+1012$' "$work/run.modoff" || fail 'modoff'
grep -q 'prog+1129' "$work/run.modoff" && fail 'a module that nobody has named'
grep -q '^prog+1129$' "$work/run-image.modoff" || fail 'modoff with an image'
grep -aq '^BB Table: [0-9]* bbs$' "$work/run.drcov" || fail 'drcov'
python3 -c '
import json, sys
trace = json.load(open(sys.argv[1]))
assert trace["arch"] == "x64" and trace["ip_reg"] == "rip", trace.keys()
rows = trace["trace"]
assert [row["id"] for row in rows] == list(range(len(rows))), "ids are places"
assert rows[0]["disasm"].startswith("call 0x"), rows[0]
assert all(len(row["regs"]) == len(trace["regs"]) for row in rows)
assert all(row["regs"][trace["regs"]["rip"]] == row["ip"] for row in rows)
' "$work/run-viewer.json" || fail 'the JSON of the viewer'

# What is lost is told, before and after.
expect 0 convert "$work/run.jsonl" "$work/told.modoff"
has 'no order, no registers, no memory' err
has 'the size of module nosize.dll is not known' err
has '2 executed instructions are outside of all modules' err
expect 0 convert "$work/run.jsonl" "$work/told.tenet"
has 'instructions of other threads are left out' err
expect 0 print "$work/run.jsonl" --format modoff
has 'prog.exe+1000'
has '2 executed instructions are outside of all modules' err

# No module is where anybody knows: said, with what helps.
cat >"$work/lost.jsonl" <<'EOF'
{"catalog":{"machine":"x86-64","modules":[{"path":"C:\\a\\lost.exe"}]}}
{"kind":"step","pc":"0x140001004","opcode":"90"}
EOF
for name in lost.drcov lost.modoff; do
  expect 1 convert "$work/lost.jsonl" "$work/$name"
  has 'say where they were: --image FILE@BASE, or --module NAME@BASE,SIZE' err
done
expect 0 convert "$work/lost.jsonl" - --format modoff --module LOST.EXE@0x140000000,0x2000 \
  --module other@1,1
has 'LOST.EXE+1004'
expect 0 convert "$work/lost.jsonl" - --format modoff --module lost.exe@0x140000000,0x2000
has 'lost.exe+1004'
expect 1 convert "$work/lost.jsonl" - --format modoff --module lost.exe@0x150000000,0x2000
for bad in lost.exe lost.exe@5 @5,5 lost.exe@x,5 lost.exe@5,0; do
  expect 2 convert "$work/lost.jsonl" - --format modoff --module "$bad"
  has 'wanted is NAME@BASE,SIZE' err
done

# Where steps were left out, the next one does not go on from the last; a thread by itself does.
steps=$TRACEWELL_SOURCE/tests/cli/steps.jsonl
expect 0 convert "$steps" - --format jsonl --where 'tid == 8'
if grep -q lost "$work/out"; then fail 'a gap where there is none'; fi
expect 0 convert "$steps" "$work/part.jsonl" --where 'mnemonic != "nop" && step != 5'
[ "$(grep -c '"kind":"lost".*"count":2,"why":"left out"' "$work/part.jsonl")" = 1 ] ||
  fail "gaps: $(grep lost "$work/part.jsonl")"
expect 0 convert "$steps" "$work/part.trace64" --where 'mnemonic != "nop" && step != 5'
has '1 gap between steps is not marked' err
# What the last steps of two threads changed; of a trace64 nobody knows that.
python3 - >"$work/ends.jsonl" <<'PYTHON'
print('{"catalog":{"machine":"x86-64"}}')
for tid in 1, 1, 2, 3, 1, 2, 3:
    known = ',"registers":{"rip":"0x11"}' if tid != 3 else ''
    print('{"kind":"step","tid":%d,"pc":"0x10","opcode":"90"%s}' % (tid, known))
PYTHON
expect 0 convert "$work/ends.jsonl" "$work/whole.trace64"
has '2 last steps of threads do not tell what they changed' err
expect 0 convert "$work/whole.trace64" "$work/again.trace64"
if grep -q 'last step' "$work/err"; then fail 'what was not known was left out'; fi
expect 0 convert "$steps" "$work/marked.trace64" --mark-gaps \
  --where 'mnemonic != "nop" && step != 5'
expect 0 print "$work/marked.trace64"
[ "$(grep -c '^lost .*left out' "$work/out")" = 1 ] || fail "marked gaps: $(cat "$work/out")"

# What is read is not written over, by whatever name.
cp "$sample" "$work/same.jsonl"
ln "$work/same.jsonl" "$work/hard.jsonl"
ln -s same.jsonl "$work/soft.jsonl"
mkdir "$work/folder"
for name in same.jsonl hard.jsonl soft.jsonl folder/../same.jsonl; do
  expect 2 convert "$work/same.jsonl" "$work/$name"
  has 'are the same file' err
done
cmp "$sample" "$work/same.jsonl" || fail 'the input was written over'

# A name by which x64dbg would not find it.
cat >"$work/narrow.jsonl" <<'EOF'
{"catalog":{"machine":"i386","address_bytes":4}}
{"kind":"step","pc":"0x1000","opcode":"90"}
EOF
sed 's/i386","address_bytes":4/x86-64"/' "$work/narrow.jsonl" >"$work/wide.jsonl"
for name in narrow:64:32 wide:32:64; do
  IFS=: read -r kind wrong right <<<"$name"
  expect 0 convert "$work/$kind.jsonl" "$work/$kind.trace$wrong"
  has "this is $right-bit code in spite of the name; x64dbg looks for it in .trace$right files" err
  expect 0 convert "$work/$kind.jsonl" "$work/$kind.trace$right"
  if grep -q 'in spite of' "$work/err"; then fail "$kind.trace$right: $(cat "$work/err")"; fi
  expect 0 convert "$work/$kind.jsonl" "$work/$kind.trace$wrong" --format jsonl
  if grep -q 'in spite of' "$work/err"; then fail "jsonl: $(cat "$work/err")"; fi
done

# Frames are no instructions.
expect 3 convert "$cases/tfile/gdb-tsave/input.tf" "$work/frames.drcov"
has 'event 0 is not an executed instruction' err
[ -e "$work/frames.drcov" ] && fail 'a file without a block'

# A module of the trace learns its size from an image; what it knew stays.
cat >"$work/placed.jsonl" <<EOF
{"catalog":{"machine":"x86-64","modules":[{"path":"/there/prog"},\
{"path":"other","start":"0x1000","size":16}]}}
{"kind":"step","pc":"0x555555555129","opcode":"55"}
{"kind":"step","pc":"0x1004","opcode":"55"}
EOF
expect 0 convert "$work/placed.jsonl" - --format modoff --image "$work/prog@0x555555554000"
[ "$(cat "$work/out")" = "$(printf 'prog+1129\nother+4')" ] || fail "placed: $(cat "$work/out")"
expect 0 convert "$work/placed.jsonl" - --format jsonl --image "$work/prog@0x555555554000"
has '"path":"/there/prog","bias":"0x555555554000","start":"0x555555554000"'
expect 4 convert "$work/placed.jsonl" "$work/x.modoff" --image "$work/none"

# Steps of other threads that are left out wrote memory, too: what is known of it from before is not
# taken for told. Formats without a word for that say so.
shared() {
  echo '{"catalog":{"machine":"x86-64"}}'
  local step='{"kind":"step","tid":%d,"pc":"%s","opcode":"%s"%s}\n'
  local bytes=',"memory":[{"addr":"0x7000","size":8,"access":"%s","old":"aa00000000000000"%s}]'
  printf "$step" 4 0x1000 488b03 "$(printf "$bytes" read '')"
  printf "$step" 8 0x2000 488903 "$(printf "$bytes" write ',"new":"bb00000000000000"')"
  printf "$step" 4 0x1003 90 '' 4 0x1004 90 ''
}
shared >"$work/shared.jsonl"
for part in part.jsonl part.trace64; do
  expect 0 convert --where 'tid == 4' "$work/shared.jsonl" "$work/$part"
  expect 0 at --json "$work/$part" 2 --mem 0x7000,8
  has '"bytes":"aa00000000000000","states":"kkkkkkkk"'
  expect 0 convert "$work/$part" "$work/once-more.jsonl"
  [ "$(grep -c '"gap_before":true' "$work/once-more.jsonl")" = 1 ] || fail "the gap of $part"
done
gap='1 gap between instructions, in which others may have written memory, is not'
expect 0 convert --compat "$work/part.jsonl" "$work/compat.trace64"
has "$gap marked, because a user block would say so" err
for part in part.tenet part.tvt; do
  expect 0 convert --where 'tid == 4' "$work/shared.jsonl" "$work/$part"
  has "$gap shown" err
done

# Addresses of steps that become frames: all are numbers, and some step is at one of them.
for bad in zz '' '0x1000,' '0x1000,zz' -5 99999999999999999999999 '0x1000 0x1004'; do
  expect 2 convert --at "$bad" "$cases/../cli/steps.jsonl" "$work/bad.tf"
  has '--at: not an address' err
  [ -e "$work/bad.tf" ] && fail "a file for --at '$bad'"
done
expect 0 convert --at "1,2" --at 0x1001 "$cases/../cli/steps.jsonl" "$work/good.tf" --from 0
has 'r10 and 48 more are not known in any frame, and GDB shows 0 there' err
expect 0 info --json "$work/good.tf"
has '"records": 1,'
expect 0 convert "$cases/../cli/steps.jsonl" "$work/all.tf"
has 'rcx, rdx, rsi, rdi, rbp, r8, r9, r10 and 48 more are not known in any frame' err
has ': rbx is not known in some frames, and GDB shows 0 there' err
expect 1 convert --at 1,2 "$cases/../cli/steps.jsonl" "$work/nothing.tf"
has "no step is at 1,2; $work/nothing.tf is not written" err
[ -e "$work/nothing.tf" ] && fail 'a file with nothing in it'
finish
