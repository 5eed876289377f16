#include "rsp/signals.h"

#include <csignal>

#include <gtest/gtest.h>

namespace tracewell::rsp {
namespace {

TEST(Signals, NamesAndNumbersAgreeWithLinux) {
  // The names are those of GDB 13's `info signals`; the numbers are this system's.
  const std::pair<int, const char*> known[] = {
      {SIGHUP, "SIGHUP"},       {SIGINT, "SIGINT"},   {SIGQUIT, "SIGQUIT"}, {SIGILL, "SIGILL"},
      {SIGTRAP, "SIGTRAP"},     {SIGABRT, "SIGABRT"}, {SIGBUS, "SIGBUS"},   {SIGFPE, "SIGFPE"},
      {SIGKILL, "SIGKILL"},     {SIGUSR1, "SIGUSR1"}, {SIGSEGV, "SIGSEGV"}, {SIGUSR2, "SIGUSR2"},
      {SIGPIPE, "SIGPIPE"},     {SIGALRM, "SIGALRM"}, {SIGTERM, "SIGTERM"}, {SIGCHLD, "SIGCHLD"},
      {SIGCONT, "SIGCONT"},     {SIGSTOP, "SIGSTOP"}, {SIGTSTP, "SIGTSTP"}, {SIGTTIN, "SIGTTIN"},
      {SIGTTOU, "SIGTTOU"},     {SIGURG, "SIGURG"},   {SIGXCPU, "SIGXCPU"}, {SIGXFSZ, "SIGXFSZ"},
      {SIGVTALRM, "SIGVTALRM"}, {SIGPROF, "SIGPROF"}, {SIGWINCH, "SIGWINCH"}, {SIGIO, "SIGIO"},
      {SIGPWR, "SIGPWR"},       {SIGSYS, "SIGSYS"},
  };
  for (const auto& [number, name] : known) {
    EXPECT_EQ(gdb_signal_name(gdb_signal_from_linux(number)), name);
    EXPECT_EQ(linux_signal_from_gdb(gdb_signal_from_linux(number)), number) << name;
  }
}

TEST(Signals, RealtimeSignalsAreNamedByNumber) {
  for (int number = 32; number <= 64; ++number) {
    const int gdb = gdb_signal_from_linux(number);
    EXPECT_EQ(gdb_signal_name(gdb), "SIG" + std::to_string(number));
    EXPECT_EQ(linux_signal_from_gdb(gdb), number);
  }
}

TEST(Signals, TheProtocolsOwnNumbers) {
  // Positions in GDB 13's `info signals`, which is in the protocol's order.
  const std::pair<int, const char*> known[] = {
      {1, "SIGHUP"},   {7, "SIGEMT"},  {10, "SIGBUS"}, {12, "SIGSYS"},     {20, "SIGCHLD"},
      {23, "SIGIO"},   {30, "SIGUSR1"}, {33, "SIGPOLL"}, {44, "SIGPRIO"}, {45, "SIG33"},
      {75, "SIG63"},   {76, "SIGCANCEL"}, {77, "SIG32"}, {78, "SIG64"},   {141, "SIG127"},
      {142, "SIGINFO"}};
  for (const auto& [number, name] : known) EXPECT_EQ(gdb_signal_name(number), name);
}

TEST(Signals, WhatOneSideDoesNotHave) {
  EXPECT_EQ(gdb_signal_from_linux(SIGSTKFLT), kGdbSignalUnknown);
  EXPECT_EQ(gdb_signal_from_linux(65), kGdbSignalUnknown);
  EXPECT_EQ(gdb_signal_from_linux(-1), kGdbSignalUnknown);
  EXPECT_EQ(gdb_signal_from_linux(0), kGdbSignalNone);
  EXPECT_EQ(linux_signal_from_gdb(0), 0);
  EXPECT_EQ(linux_signal_from_gdb(33), SIGIO);
  for (const int none : {7, 29, 34, 44, 76, 79, 141, 142, 143, 144, -1, 1000})
    EXPECT_EQ(linux_signal_from_gdb(none), std::nullopt) << none;
  EXPECT_EQ(gdb_signal_name(0), "?");
  EXPECT_EQ(gdb_signal_name(143), "?");
}

}  // namespace
}  // namespace tracewell::rsp
