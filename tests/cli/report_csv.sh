#!/usr/bin/env bash
# The cell `fields` of report's CSV is read back as docs/formats/trcfmt.md says: it has what the
# JSON has, whatever stands in names and values.
. "$(dirname "$0")/common.sh"
cd "$work" || exit 1
cat >templates <<'END'
010 1.0 "hook" "text=" G16 LOOP $HL {A0} " a=b=" $D1%D8 " odd\key:" $HD%D1
END
python3 - >trace.jsonl <<'P'
import itertools, json
print(json.dumps({"catalog": {"endian": "little"}}))
texts = ["", ";", "; ", "=", "\\", "\\;", "a; b=c", "x\\", ";;", "\\\\=;", '"q", r', "a=1; text=2"]
texts += ["".join(row) for row in itertools.product(";=\\ b", repeat=3)]
for text in texts:
    print(json.dumps({"kind": "hook", "id": "0100", "subhook": 1, "generic": True,
                      "words": ["0x7"], "data": text.encode().hex(), "tid": 1, "time_ns": 5}))
print(json.dumps({"kind": "hook", "id": "0200", "words": ["0x7", "0x8"], "tid": 1, "time_ns": 5}))
P
expect 0 report trace.jsonl -t templates --format csv
cp out rows.csv
expect 0 report trace.jsonl -t templates --format jsonl
python3 - rows.csv out <<'P' || fail "the fields of CSV are not those of JSON"
import csv, json, sys

def parts(cell, separator):
    """Pieces between those separators that no backslash stands before."""
    pieces, at = [""], 0
    while at < len(cell):
        if cell.startswith(separator, at):
            pieces.append("")
            at += len(separator)
        else:
            size = 2 if cell[at] == "\\" else 1
            pieces[-1] += cell[at:at + size]
            at += size
    return pieces

def plain(text):
    out, at = "", 0
    while at < len(text):
        at += text[at] == "\\"
        out += text[at]
        at += 1
    return out

rows = list(csv.DictReader(open(sys.argv[1], newline="")))
lines = [json.loads(line) for line in open(sys.argv[2])]
assert len(rows) == len(lines) == 138, (len(rows), len(lines))
for row, line in zip(rows, lines):
    fields = dict(map(plain, parts(field, "=")) for field in parts(row["fields"], "; "))
    assert fields == line["fields"], (row["fields"], line["fields"])
    assert row["text"] == line["text"]
assert lines[0]["fields"].keys() == {"text", "a=b", "odd\\key"}, lines[0]["fields"]
P
finish
