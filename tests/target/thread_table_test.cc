// The table of processes and threads, and who hears of what comes and goes.
#include "target/linux/threads/thread_table.h"

#include <memory>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace tracewell::target::live {
namespace {

constexpr Pid kFirst = 1'000'000'007, kSecondOne = 1'000'000'009;  // of no process: pids end before

struct Heard final : ThreadTable::Watcher {
  void on_added(Thread& thread) override { said += fmt::format("+{} ", thread.tid - kFirst); }
  void on_removal(Thread& thread) override {
    EXPECT_EQ(thread.run, Run::Exiting);
    said += fmt::format("-{} ", thread.tid - kFirst);
  }
  void on_process_removed() override { said += "gone "; }
  std::string said;
};

std::shared_ptr<AddressSpace> memory(bool is_32_bit = false) {
  auto out = std::make_shared<AddressSpace>();
  out->is_32_bit = is_32_bit;
  return out;
}

TEST(ThreadTable, TellsOfWhatComesAndGoes) {
  Heard heard;
  ThreadTable table(heard);
  Process& process = table.add_process(kFirst, memory());
  table.add_thread(process, kFirst);
  table.add_thread(process, kFirst + 1);
  EXPECT_EQ(table.all().size(), 2U);
  table.remove_thread(kFirst + 1);
  table.remove_thread(kFirst + 1);
  EXPECT_EQ(table.find(kFirst + 1), nullptr);
  table.remove_process(kFirst);
  EXPECT_EQ(heard.said, "+0 +1 -1 -0 gone ");
  EXPECT_TRUE(table.processes().empty());
  EXPECT_TRUE(table.by_number().empty());
}

TEST(ThreadTable, ANumberIsThatOfWhoCameLast) {
  Heard heard;
  ThreadTable table(heard);
  table.add_thread(table.add_process(kFirst, memory()), kFirst);
  Process& second = table.add_process(kFirst, memory());
  table.add_thread(second, kFirst);
  EXPECT_EQ(heard.said, "+0 -0 gone +0 ");
  EXPECT_EQ(table.find(kFirst)->process, &second);
}

TEST(ThreadTable, TheFirstThreadIsOneThatHasNotEnded) {
  Heard heard;
  ThreadTable table(heard);
  Process& process = table.add_process(kFirst, memory());
  table.add_thread(process, kFirst).run = Run::Exiting;
  Thread& worker = table.add_thread(process, kFirst + 1);
  EXPECT_EQ(table.first_thread(kFirst), &worker);
  worker.run = Run::Exiting;
  EXPECT_EQ(table.first_thread(kFirst), nullptr);
  EXPECT_EQ(table.first_thread(kSecondOne), nullptr);
}

TEST(ThreadTable, KeepsWhatWasRemovedUntilNobodyHoldsIt) {
  Heard heard;
  ThreadTable table(heard);
  const std::shared_ptr<AddressSpace> space = memory();
  Thread& thread = table.add_thread(table.add_process(kFirst, space), kFirst);
  table.remove_process(kFirst);
  EXPECT_EQ(thread.process->space, space);
  table.keep(space);
  EXPECT_EQ(space.use_count(), 3);
  table.forget_removed();
  EXPECT_EQ(space.use_count(), 1);
}

TEST(ThreadTable, OneThatIsGoneHasTheRegistersOfTheLastOne) {
  Heard heard;
  ThreadTable table(heard);
  EXPECT_FALSE(table.is_32_bit(kFirst));
  table.add_process(kFirst, memory(true));
  table.add_process(kSecondOne, memory());
  EXPECT_TRUE(table.is_32_bit(kFirst));
  table.remove_process(kFirst);
  EXPECT_TRUE(table.is_32_bit(kFirst));
  EXPECT_FALSE(table.is_32_bit(kSecondOne));
}

}  // namespace
}  // namespace tracewell::target::live
