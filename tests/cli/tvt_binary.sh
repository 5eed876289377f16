#!/usr/bin/env bash
# The binary form of .tvt is no unknown file: who opens one is told what it is, and what to do.
. "$(dirname "$0")/common.sh"
printf 'TVTR\x01\0\0\0{}' >"$work/run.tvt"
cp "$work/run.tvt" "$work/other.name"
for name in run.tvt other.name; do
  expect 3 print "$work/$name"
  has "binary form of .tvt" err
  has "ends in .json" err
done
finish
