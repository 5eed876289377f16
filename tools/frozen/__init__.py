"""What tools/gen_frozen_names knows of where names that machines read come from.

What it does not see, and what has to be looked after by other means:
- Keys of JSON that no sample shows have no place in a document, only a name (`json-key`): what a
  symbol, a module or another build of an image adds (`name`, `symbol`, `module`, `source`,
  `other_builds`), and x64dbg's own header. `jsonl-key` alone: `gap_before`.
- Codes of problems that no sample has are names without their format (`problem` alone). What a
  variable holds is told by --unseen.
- Words that commands parse by themselves: `ctctrl`'s memtrace and systrace, sizes (64k), the
  grammar of `--where` but for its fields, `begin` and `end` of `monitor goto`, event groups' files.
- Exit statuses of what no case here does: 5 (the other end of a connection), 128 and a signal's
  number, the channel's number of `trace -g`, those of the program under `serve` and `trace -x`.
- Texts: errors, notices, `tstatus`, `info` and `print` for people, and trap_reasons.def, but for
  the lines of LINES. Nor values of JSON but for those of CLOSED.
- Layouts: fields of structs of include/, rings, buffers, notes, the index, and the metadata of
  logs (docs/formats). Their versions are here (`magic`, `shared-name`), their bytes are not.
- Packets are told by how they begin. Their arguments, stop replies and qXfer documents are GDB's.
- Options of tools/ and of examples/, names of tests' variables, figures of bench/.
"""
