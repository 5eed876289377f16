// Who the processes of a log of trace hooks are, whatever pids and threads are used again.
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "formats/hooklog/processes.h"
#include "formats/hooklog/rings.h"
#include "model/process_table.h"

namespace tracewell::formats::test {
namespace {

using HooklogProcessesTest = HooklogRings;

// The second one has the first one's thread id, the third one its pid, too.
constexpr Who kFirst = {200, 0, 0x5555, 201};
constexpr Who kOther = {201, 0, 0x7777, 201};
constexpr Who kLater = {200, 0, 0x9999, 201};

std::string program(std::string_view path, uint64_t ticks) {
  return text(TRACEWELL_RECORD_PROGRAM, path, ticks);
}

/// "200 /bin/a hook 1" of each hook, as far as the table knows.
Stories programs_of(Source& source) {
  Stories out;
  ProcessTable processes(source.catalog());
  Batch batch;
  for (auto more = source.next(batch); more.ok() && *more; more = source.next(batch))
    for (const Event& event : batch.events()) {
      processes.learn(event);
      const auto* one = std::get_if<Hook>(&event.body);
      const Process* const process = processes.find(event.process);
      if (one == nullptr || process == nullptr) continue;
      out.push_back(fmt::format("{} {} hook {} of thread {}", process->pid, process->image,
                                one->words[0], event.tid));
    }
  return out;
}

TEST_F(HooklogProcessesTest, AThreadIdThatIsUsedAgainShowsTheRightProgram) {
  put("200-0-1.0", packet(kFirst, 0, program("/bin/first", 1100) + hook(1, 1200)));
  put("201-0-2.0", packet(kOther, 0, program("/bin/other", 1300) + hook(2, 1400)));
  put("200-0-3.0", packet(kLater, 0, program("/bin/later", 1500) + hook(3, 1600)));
  const Stories wanted = {"200 /bin/first hook 1 of thread 201",
                          "201 /bin/other hook 2 of thread 201",
                          "200 /bin/later hook 3 of thread 201"};
  auto whole = open_source(*InputFile::open((folder_ / "metadata").string()), "hooklog", {},
                           problems_);
  ASSERT_TRUE(whole.ok());
  EXPECT_EQ((*whole)->catalog().processes.size(), 3u);
  EXPECT_EQ(programs_of(**whole), wanted);
  EXPECT_EQ(programs_of(*follow()), wanted);
}

TEST_F(HooklogProcessesTest, APacketSaysWhoItsProcessIs) {
  std::ofstream(folder_ / "metadata", std::ios::app) << "\nenv {\n  hostname = \"there\";\n};\n";
  std::string bytes = packet(kFirst, 0, program("/bin/first", 1100) + hook(1, 1200));
  tracewell_packet head;
  std::memcpy(&head, bytes.data(), sizeof head);
  head.identity[0] = 0xb00;
  head.start = 7;
  std::memcpy(bytes.data(), &head, sizeof head);
  put("200-0-1.0", bytes);
  auto whole = open_source(*InputFile::open((folder_ / "metadata").string()), "hooklog", {},
                           problems_);
  ASSERT_TRUE(whole.ok());
  const Process wanted = {.id = ProcessId{0xb00, 0x5555},
                          .pid = 200,
                          .start_ns = 70'000'000,
                          .host = "there",
                          .boot = "0000000000000b00",
                          .image = "/bin/first"};
  EXPECT_EQ((*whole)->catalog().processes, std::vector{wanted});
  // Followed, it is told in front of its first event, and has that event's number.
  const auto one = follow();
  EXPECT_TRUE(one->catalog().processes.empty());
  Batch batch;
  ASSERT_TRUE(*one->next(batch));
  ASSERT_EQ(batch.size(), 3u);
  const Event& told = batch.events()[0];
  ASSERT_TRUE(is_only_known(told));
  EXPECT_EQ(told.seq, 0u);
  EXPECT_EQ(batch.events()[1].seq, 0u);
  EXPECT_EQ(batch.events()[2].seq, 1u);
  EXPECT_EQ(*std::get<Change>(told.body).process, wanted);
}

/// A ring that says another identity each time takes no numbers from others for good.
TEST(HooklogNumbers, OfProcessesThatAreGoneAreGivenAgain) {
  HooklogProcesses processes;
  const tracewell_packet head = {};
  Batch batch;
  const uint32_t honest = processes.of(7, 1);
  EXPECT_EQ(honest, 1u);
  processes.tell(honest, {head, std::nullopt}, 0, batch);
  for (uint32_t i = 2; i <= kProcessesMax; ++i) ASSERT_EQ(processes.of(8, i), i);
  EXPECT_EQ(processes.of(8, 1), 0u);
  processes.keep({{7, 1}, {8, 3}});
  EXPECT_EQ(processes.of(7, 1), honest);
  EXPECT_EQ(processes.of(9, 1), 2u);
  EXPECT_EQ(processes.of(9, 2), 4u);
  EXPECT_EQ(processes.of(8, 3), 3u);
  EXPECT_TRUE(processes.is_told(honest));
  EXPECT_FALSE(processes.is_told(2));
}

/// Rings of one process are of one, and what commands did is nobody's.
TEST_F(HooklogProcessesTest, RingsOfOneProcessAreOfOne) {
  Who second = kFirst;
  second.ring = 1;
  second.tid = 202;
  put("200-0-1.0", packet(kFirst, 0, hook(1, 1200)));
  put("200-1-2.0", packet(second, 0, program("/bin/first", 1300) + hook(2, 1400)));
  put("0-0", packet({}, 0, text(TRACEWELL_RECORD_MARK, "TRACE ON channel 0", 1000)));
  auto whole = open_source(*InputFile::open((folder_ / "metadata").string()), "hooklog", {},
                           problems_);
  ASSERT_TRUE(whole.ok());
  ASSERT_EQ((*whole)->catalog().processes.size(), 1u);
  EXPECT_EQ((*whole)->catalog().processes[0].image, "/bin/first");
  Batch batch;
  ASSERT_TRUE(*(*whole)->next(batch));
  ASSERT_EQ(batch.size(), 4u);
  EXPECT_EQ(batch.events()[0].process, 0u);
  for (const Event& event : batch.events().subspan(1)) EXPECT_EQ(event.process, 1u);
}

}  // namespace
}  // namespace tracewell::formats::test
