// What libelf and libdw may be handed of a file: bytes that stay what they are.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "base/bytes.h"
#include "base/file.h"

namespace tracewell::symbols {

/// No file is copied that is larger, and all copies together take no more than kCopiesBytesMax.
constexpr uint64_t kCopyBytesMax = uint64_t{128} << 20, kCopiesBytesMax = uint64_t{512} << 20;

/// The bytes of a file, and what keeps them. Others than the reader and root may write to it while
/// it is read? Then a copy of it as it is now: those libraries look at a header, and look again for
/// what it says. One that is too large for that is read where it is. Threads may call it.
std::pair<Bytes, std::shared_ptr<const void>> own_bytes(std::shared_ptr<InputFile> file);

}  // namespace tracewell::symbols
