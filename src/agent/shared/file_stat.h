// The protocol's struct stat.
#pragma once

#include <sys/stat.h>

#include <vector>

#include "base/bytes.h"

namespace tracewell::agent {

/// 64 bytes, big-endian (manual, "struct stat").
std::vector<uint8_t> encode_stat(const struct stat& from);

}  // namespace tracewell::agent
