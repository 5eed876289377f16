// Numbers of the trailer that its reader and its writer share.
#pragma once

#include <cstdint>
#include <limits>
#include <string_view>

#include "base/bytes.h"

namespace tracewell::formats::trailer {

inline constexpr std::string_view kMagic = "TWtrail1";
inline constexpr uint32_t kVersion = 1;
// u32 version, u32 sections, u64 length of the trailer, u64 checksum, magic
inline constexpr size_t kFooterBytes = 32;
// 8 characters of tag, u64 offset in the trailer, u64 size
inline constexpr size_t kEntryBytes = 24;
inline constexpr int64_t kNoTime = std::numeric_limits<int64_t>::min();

inline constexpr std::string_view kAuxv = "auxv    ";
inline constexpr std::string_view kModules = "modules ";
inline constexpr std::string_view kFrames = "frames  ";
inline constexpr std::string_view kMasks = "masks   ";
inline constexpr std::string_view kPcs = "pcs     ";
inline constexpr std::string_view kPoints = "points  ";
inline constexpr std::string_view kProcess = "process ";
// Of that section: which of its numbers are known.
inline constexpr uint32_t kStartKnown = 1, kIdKnown = 2;

/// FNV-1a over 64-bit little-endian words, the last one filled up with zeros.
inline uint64_t checksum(Bytes bytes) {
  uint64_t hash = 0xcbf29ce484222325;
  auto mix = [&hash](uint64_t word) { hash = (hash ^ word) * 0x100000001b3; };
  while (bytes.size() >= 8) {
    mix(load_uint(bytes.data(), 8, Endian::Little));
    bytes = bytes.subspan(8);
  }
  if (!bytes.empty()) mix(load_uint(bytes.data(), bytes.size(), Endian::Little));
  return hash;
}

}  // namespace tracewell::formats::trailer
