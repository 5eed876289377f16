// Random logs of processes whose pids and threads are used again: each hook is its own process's,
// read whole or followed, and in JSON lines made of either.
#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "formats/hooklog/rings.h"
#include "formats/support.h"
#include "sanitized.h"

namespace tracewell::formats::test {
namespace {

class HooklogProcessesProperty : public HooklogRings {
 protected:
  /// Makes the log anew. The stories of its hooks, by their numbers, which are their order.
  Stories make_log(uint32_t seed) {
    std::mt19937 random(seed);
    const auto below = [&](uint32_t limit) { return static_cast<uint32_t>(random() % limit); };
    for (const std::string& one : files_) std::filesystem::remove(folder_ / one);
    files_.clear();
    struct Ring {
      Who who;
      std::string program, records;
    };
    std::vector<Ring> rings;
    for (uint32_t process = 0; process <= below(5); ++process) {
      const uint32_t pid = 200 + below(3);
      const std::string program = fmt::format("/bin/{}", process);
      for (uint32_t ring = 0; ring <= below(3); ++ring)
        rings.push_back({{pid, ring, (seed + 1) * 1000 + process * 100, 201 + below(4)},
                         program, text(TRACEWELL_RECORD_PROGRAM, program, kBegin + 1)});
    }
    Stories out;
    for (uint64_t number = 0; number < 40; ++number) {
      Ring& ring = rings[below(static_cast<uint32_t>(rings.size()))];
      ring.records += hook(number, kBegin + 10 + number);
      out.push_back(fmt::format("{} {} hook {} of thread {}", ring.who.pid, ring.program, number,
                                ring.who.tid));
    }
    for (size_t i = 0; i < rings.size(); ++i) {
      files_.push_back(fmt::format("{}-{}-{}.0", rings[i].who.pid, rings[i].who.ring, i));
      put(files_.back(), packet(rings[i].who, 0, rings[i].records));
    }
    return out;
  }
  /// As a reader of the stream learns it.
  static Stories hooks_of(Source& source) {
    std::map<uint64_t, std::string> found;
    ProcessTable processes(source.catalog());
    Batch batch;
    for (auto more = source.next(batch); more.ok() && *more; more = source.next(batch))
      for (const Event& event : batch.events()) {
        processes.learn(event);
        const auto* one = std::get_if<Hook>(&event.body);
        if (one == nullptr) continue;
        const Process* const process = processes.find(event.process);
        found[one->words[0]] =
            fmt::format("{} {} hook {} of thread {}", process ? process->pid : 0,
                        process ? process->image : "", one->words[0], event.tid);
      }
    Stories out;
    for (const auto& [number, story] : found) out.push_back(story);
    return out;
  }
  std::unique_ptr<Source> whole() {
    auto out = open_source(*InputFile::open((folder_ / "metadata").string()), "hooklog", {},
                           problems_);
    EXPECT_TRUE(out.ok());
    return *std::move(out);
  }

 private:
  std::vector<std::string> files_;
};

TEST_F(HooklogProcessesProperty, EachHookIsItsProcesss) {
  for (uint32_t seed = 0; seed < 40; seed += tracewell::test::kEach) {
    SCOPED_TRACE(seed);
    const Stories wanted = make_log(seed);
    EXPECT_EQ(hooks_of(*whole()), wanted);
    EXPECT_EQ(hooks_of(*follow()), wanted);
    Opened known_before(written(*whole(), "jsonl"));
    EXPECT_EQ(hooks_of(*known_before.source), wanted);
    // There the changes tell it.
    Opened known_late(written(*follow(), "jsonl"));
    EXPECT_TRUE(known_late.source->catalog().processes.empty());
    EXPECT_EQ(hooks_of(*known_late.source), wanted);
  }
}

}  // namespace
}  // namespace tracewell::formats::test
