// What is typed into the dialogue of a trace in the foreground, and what comes of it.
#include <fcntl.h>
#include <unistd.h>

#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "hooks/foreground/dialogue.h"
#include "base/process/held_signals.h"
#include "hooks/foreground/input_lines.h"
#include "trace_hooks/session_world.h"

namespace tracewell::hooks::test {
namespace {

TEST(Dialogue, SaysWhatComesOfALine) {
  World world;
  std::vector<std::string> ran;
  Dialogue dialogue(world.control(), 0, [&](const std::string& command) -> Result<Waited> {
    ran.push_back(command);
    if (command == "missing") return {Errc::Io, "cannot run /bin/sh"};
    return Waited{0, command == "long" ? SIGTERM : 0};
  });
  for (const char* line : {"q", "quit", "trcstop"}) EXPECT_TRUE(dialogue.answer(line).ends) << line;
  const Dialogue::Answer help = dialogue.answer("what?");
  EXPECT_FALSE(help.ends);
  EXPECT_NE(help.text.find("trcoff    interrupt it\n"), std::string::npos);
  EXPECT_EQ(dialogue.answer("").text, "");

  EXPECT_EQ(dialogue.answer("trcoff").status.error().code, Errc::NotFound) << "there is no session";
  world.start(world.options(Buffering::Circular, kBufferBytesMin));
  const Dialogue::Answer off = dialogue.answer("trcoff");
  EXPECT_TRUE(off.status.ok());
  EXPECT_FALSE(off.ends);
  world.stop();

  EXPECT_FALSE(dialogue.answer("!date").ends);
  EXPECT_EQ(dialogue.answer("!missing").status.error().code, Errc::Io);
  const Dialogue::Answer ended = dialogue.answer("!long");
  EXPECT_TRUE(ended.ends);
  EXPECT_EQ(ended.signal, SIGTERM);
  EXPECT_EQ(ran, (std::vector<std::string>{"date", "missing", "long"}));
}

TEST(InputLines, GiveTheLastOneWithoutAnEnd) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const UniqueFd reading(ends[0]);
  UniqueFd writing(ends[1]);
  ASSERT_EQ(::write(writing.get(), "one\n\ntwo", 8), 8);
  writing.reset();
  const HeldSignals signals;
  InputLines lines(reading.get());
  int signal = 0;
  for (const char* line : {"one", "", "two"}) EXPECT_EQ(lines.next(signals, signal), line);
  EXPECT_EQ(lines.next(signals, signal), std::nullopt);
  EXPECT_EQ(signal, 0);
}

TEST(ShellCommand, IsWaitedFor) {
  const HeldSignals signals;
  sigset_t none;
  sigemptyset(&none);
  EXPECT_EQ(run_shell("exit 3", none, signals)->status, 3);
  const auto killed = run_shell("kill -9 $$", none, signals);
  ASSERT_TRUE(killed.ok());
  EXPECT_EQ(killed->status, 128 + SIGKILL);
  EXPECT_EQ(killed->signal, 0);
}

}  // namespace
}  // namespace tracewell::hooks::test
