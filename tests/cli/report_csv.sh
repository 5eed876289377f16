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

# Texts of a trace do not act on a terminal, nor show what stands there otherwise; and, where that
# is asked for, are no formulas.
cat >names <<'END'
010 1.0 "" G16 LOOP $HL {A0}
END
printf '020 1.0 "h\xc2\x9bk" "\x1b[2J\xe2\x80\xae \xc3\xa4 \xff"\n' >>names
python3 - >bad.jsonl <<'P'
import json
def put(event):
    print(json.dumps(event))
put({"catalog": {"endian": "little", "extras": {"x.thread.1": "77"}}})
put({"kind": "mark", "text": "process 77: /bin/\u009b2J\u202efdp.\u00e4\u0416", "tid": 1,
     "time_ns": 1})
put({"kind": "hook", "id": "0200", "tid": 1, "time_ns": 1})
for text in (b"c1 \xc2\x9b2J", "bidi \u202egpj.exe \u2066x".encode(), b"raw \xff\x9b\xe2\x80 end",
             b"esc \x1b[2J", "letters \u00e4\u0416\u65e5\U0001f600".encode(),
             b"=1+cmd", b"-2", b"@x", b"+y;=z", b"plain;text"):
    put({"kind": "hook", "id": "0100", "generic": True, "words": ["0x7"], "data": text.hex(),
         "tid": 1, "time_ns": 5})
P
expect 0 report bad.jsonl -t names -O exec=on
cp out text
expect 0 report bad.jsonl -t names --format csv
cp out plain.csv
expect 0 report bad.jsonl -t names --format csv --csv-safe
cp out safe.csv
expect 0 convert bad.jsonl all.csv --csv-safe
expect 2 report bad.jsonl -t names --csv-safe
expect 2 print bad.jsonl --format jsonl --csv-safe
python3 - <<'P' || fail "texts that are not shown as they are"
import csv, unicodedata
for name in ("text", "plain.csv", "safe.csv", "all.csv"):
    shown = open(name, "rb").read().decode()  # no bytes that are none of UTF-8
    bad = {c for c in shown if unicodedata.category(c) in ("Cc", "Cf") and c not in "\r\n\t"}
    assert not bad, (name, bad)
for name in ("text", "plain.csv", "safe.csv"):
    shown = open(name, encoding="utf-8").read()
    for wanted in ("c1 ..2J", "bidi ...gpj.exe ...x", "raw .... end", "esc .[2J",
                   ".[2J... \u00e4 .", "letters \u00e4\u0416\u65e5\U0001f600"):
        assert wanted in shown, (name, wanted)
plain = [row["text"] for row in csv.DictReader(open("plain.csv", newline=""))]
safe = [row["text"] for row in csv.DictReader(open("safe.csv", newline=""))]
assert plain[-5:] == ["=1+cmd", "-2", "@x", "+y;=z", "plain;text"], plain
assert safe[-5:] == ["'=1+cmd", "'-2", "'@x", "'+y;=z", "plain;text"], safe
assert '"plain;text"' in open("safe.csv").read()
for row in csv.reader(open("safe.csv", newline="")):
    assert not any(cell[:1] in "=+@\t\r" and cell for cell in row), row
P
finish
