#!/bin/bash
# What is installed is whole: the links of its documents lead somewhere, each name of the program
# has its manual page, and an example runs with nothing but it.
# timeout 300
set -euo pipefail
fail() { echo "FAILED: $*"; exit 1; }
prefix=$(mktemp -d)
trap 'rm -rf "$prefix"' EXIT
cmake --install "$TRACEWELL_BIN/.." --prefix "$prefix" >"$prefix/log" 2>&1 ||
  fail "cmake --install: $(tail -3 "$prefix/log")"
documents=$(dirname "$(find "$prefix/share" -name README.md -path '*tracewell/README.md')")
python3 - "$documents" <<'P' || fail "links of the documents"
import pathlib, re, sys
root = pathlib.Path(sys.argv[1])
pages = sorted(root.rglob("*.md"))
bad = []
for page in pages:
    text = page.read_text()
    links = [link.split("#")[0] for link in re.findall(r"\]\(([^)\s]+)\)", text)]
    bad += [f"{page.relative_to(root)}: {link}" for link in links
            if link and "://" not in link and not (page.parent / link).exists()]
# Also what the front page only names.
names = re.findall(r"`((?:docs|examples)/[\w./-]*)", (root / "README.md").read_text())
bad += [f"README.md: {name}" for name in names if not (root / name).exists()]
print(*bad, sep="\n")
sys.exit(bool(bad) or len(pages) < 20 or len(names) < 8)
P
for name in "$prefix"/libexec/tracewell/aix/* "$prefix"/bin/*; do
  page=$prefix/share/man/man1/$(basename "$name").1
  [ -s "$page" ] || fail "no $page"
done
[ "$(find "$prefix/share/man/man1" -name 'tr*.1' | wc -l)" -ge 10 ] || fail "few manual pages"
export XDG_RUNTIME_DIR=$prefix/run XDG_STATE_HOME=$prefix/state TRACEWELL_PREFIX=$prefix
mkdir -m 700 "$prefix/run"
"$documents/examples/hooks/run" -h >"$prefix/report" 2>&1 ||
  fail "an example: $(cat "$prefix/report")"
[ "$(grep -c '^0[12]' "$prefix/report")" -ge 20 ] || fail "an example's report"
"$documents/examples/aix/run" >"$prefix/report" 2>&1 ||
  fail "AIX's example: $(cat "$prefix/report")"
grep -q 'MyCustomHook Activity=malloc' "$prefix/report" || fail "AIX's example's report"
echo ok
