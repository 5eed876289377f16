// The bytes of an image: those of a copy, where others may write to the file while it is read.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "base/bytes.h"
#include "base/files/file.h"

namespace tracewell::symbols {

/// No file is copied that is larger, and all copies together take no more than kCopiesBytesMax.
constexpr uint64_t kCopyBytesMax = uint64_t{128} << 20, kCopiesBytesMax = uint64_t{512} << 20;

/// The bytes of a file, and what keeps them. Others than the reader and root may write to it while
/// it is read? Then a copy of it as it is now, so that what is told of it fits together. One that
/// is too large for that is read where it is: so whoever reads an image takes each number in it
/// once (elf_headers.h), and hands none of it to a library. Threads may call it.
std::pair<Bytes, std::shared_ptr<const void>> own_bytes(std::shared_ptr<InputFile> file);

}  // namespace tracewell::symbols
