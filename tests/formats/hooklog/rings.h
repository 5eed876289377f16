// A log of trace hooks with rings, made byte by byte: as collectors and programs leave it, and as a
// process does that has a ring mapped and writes there what it likes.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "formats/format.h"
#include "formats/hooklog/follow.h"
#include "model/process_table.h"
#include "tracewell/hook_layout.h"

namespace tracewell::formats::test {

constexpr uint64_t kBegin = 1000, kEnd = 2000;  // ticks of packets

inline std::string record(uint8_t id, uint64_t ticks, std::string_view body) {
  std::string out(8, '\0');
  out[0] = static_cast<char>(id);
  std::memcpy(out.data() + 2, &ticks, 6);
  out += body;
  out.resize((out.size() + 3) / 4 * 4);
  return out;
}
inline std::string hook(uint64_t word, uint64_t ticks = 1500) {
  std::string body(12, '\0');
  body[3] = 1;  // hook id 0100
  std::memcpy(body.data() + 4, &word, 8);
  return record(TRACEWELL_RECORD_WORDS_64 + 1, ticks, body);
}
inline std::string text(uint8_t id, std::string_view what, uint64_t ticks = 1500) {
  const auto length = static_cast<uint16_t>(what.size());
  std::string body(2, '\0');
  std::memcpy(body.data(), &length, 2);
  return record(id, ticks, body + std::string(what));
}

/// Who a ring or packet says it is.
struct Who {
  uint32_t pid = 0, ring = 0;
  uint64_t random = 0;
  uint32_t tid = 0;
  uint64_t stream() const { return random + ring; }
};

inline std::string packet(const Who& who, uint64_t number, std::string_view records,
                          uint64_t lost = 0) {
  tracewell_packet head = {};
  head.magic = TRACEWELL_PACKET_MAGIC;
  head.stream_id = TRACEWELL_PACKET_STREAM;
  head.stream = who.stream();
  head.packet_bits = head.content_bits = 8 * (sizeof head + records.size());
  head.ticks_begin = kBegin;
  head.ticks_end = kEnd;
  head.lost = lost;
  head.number = number;
  head.pid = who.pid;
  head.tid = who.tid;
  head.records = 1;
  head.state = TRACEWELL_PACKET_WHOLE;
  head.identity[1] = who.random;
  head.ring = who.ring;
  std::string out(reinterpret_cast<const char*>(&head), sizeof head);
  return out += records;
}

inline std::string ring(const Who& who, const std::vector<std::string>& packets) {
  tracewell_ring head = {};
  head.magic = TRACEWELL_RING_MAGIC;
  head.version = TRACEWELL_RING_VERSION;
  head.packet_bytes = TRACEWELL_PACKET_BYTES_MIN;
  head.slots = static_cast<uint32_t>(packets.size());
  head.pid = who.pid;
  head.number = who.ring;
  head.identity[1] = who.random;
  std::string out(reinterpret_cast<const char*>(&head), sizeof head);
  out.resize(TRACEWELL_HOOK_PAGE);
  for (const std::string& one : packets) {
    out += one;
    out.resize((out.size() + TRACEWELL_HOOK_PAGE - 1) / TRACEWELL_HOOK_PAGE *
               TRACEWELL_HOOK_PAGE);
    out.resize(out.size() + TRACEWELL_PACKET_BYTES_MIN - TRACEWELL_HOOK_PAGE);
  }
  return out;
}

/// "200/201 hook 5", "mark TRACE ON channel 0", "200/201 lost 3".
inline std::string story_of(const Event& event, const ProcessTable& processes) {
  const std::string who = fmt::format("{}/{}", processes.pid_of(event), event.tid);
  if (const Hook* one = std::get_if<Hook>(&event.body))
    return fmt::format("{} hook {}", who, one->words[0]);
  if (const Mark* mark = std::get_if<Mark>(&event.body)) return fmt::format("mark {}", mark->text);
  const Lost* lost = std::get_if<Lost>(&event.body);
  return lost ? fmt::format("{} lost {}", who, lost->count) : "?";
}

using Stories = std::vector<std::string>;

class HooklogRings : public testing::Test {
 protected:
  HooklogRings() {
    std::string name = (std::filesystem::temp_directory_path() / "rings-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
    std::filesystem::create_directory(folder_ / ".rings");
    std::ofstream(folder_ / "metadata") << "/* CTF 1.8 */ tracewell\nclock {\n"
                                           "  freq = 1000000000;\n  offset_s = 5;\n"
                                           "  offset = 0;\n};\n";
  }
  ~HooklogRings() override { std::filesystem::remove_all(folder_); }

  void put(const std::string& name, const std::string& bytes) {
    std::ofstream(folder_ / name, std::ios::binary) << bytes;
  }
  void append(const std::string& name, const std::string& bytes) {
    std::ofstream(folder_ / name, std::ios::binary | std::ios::app) << bytes;
  }
  /// What only says who a process is, is no story. Of a log that is followed, this is asked for the
  /// last one again and again.
  Stories take_all(Source& source) {
    if (!source.catalog().processes.empty()) known_ = ProcessTable(source.catalog());
    Stories out;
    Batch batch;
    for (auto more = source.next(batch); more.ok() && *more; more = source.next(batch))
      for (const Event& event : batch.events()) {
        known_.learn(event);
        if (!is_only_known(event)) out.push_back(story_of(event, known_));
      }
    return out;
  }
  Stories read() {
    auto source = open_source(*InputFile::open((folder_ / "metadata").string()), "hooklog", {},
                              problems_);
    EXPECT_TRUE(source.ok());
    return source.ok() ? take_all(**source) : Stories();
  }
  std::unique_ptr<HooklogFollow> follow() {
    known_ = {};
    auto out = HooklogFollow::open(
        folder_.string(),
        {[](const std::optional<HooklogUuid>&) { return true; }, [] { return UINT64_MAX - 1; }, {}},
        problems_);
    EXPECT_TRUE(out.ok());
    return *std::move(out);
  }
  std::vector<std::string> codes() const {
    std::vector<std::string> out;
    for (const Problem& one : problems_.kept()) out.push_back(one.code);
    return out;
  }

  std::filesystem::path folder_;
  ProblemLog problems_;
  ProcessTable known_;
};

}  // namespace tracewell::formats::test
