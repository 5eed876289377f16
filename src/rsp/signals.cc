#include "rsp/signals.h"

#include <array>
#include <cstdint>

namespace tracewell::rsp {
namespace {

/// By protocol number, from 1. The order is history: SIG32 and SIG64 came after their neighbours.
constexpr std::string_view kNames[] = {
    "SIGHUP",    "SIGINT",     "SIGQUIT",  "SIGILL",   "SIGTRAP",   "SIGABRT",  "SIGEMT",
    "SIGFPE",    "SIGKILL",    "SIGBUS",   "SIGSEGV",  "SIGSYS",    "SIGPIPE",  "SIGALRM",
    "SIGTERM",   "SIGURG",     "SIGSTOP",  "SIGTSTP",  "SIGCONT",   "SIGCHLD",  "SIGTTIN",
    "SIGTTOU",   "SIGIO",      "SIGXCPU",  "SIGXFSZ",  "SIGVTALRM", "SIGPROF",  "SIGWINCH",
    "SIGLOST",   "SIGUSR1",    "SIGUSR2",  "SIGPWR",   "SIGPOLL",   "SIGWIND",  "SIGPHONE",
    "SIGWAITING", "SIGLWP",    "SIGDANGER", "SIGGRANT", "SIGRETRACT", "SIGMSG", "SIGSOUND",
    "SIGSAK",    "SIGPRIO",    "SIG33",    "SIG34",    "SIG35",     "SIG36",    "SIG37",
    "SIG38",     "SIG39",      "SIG40",    "SIG41",    "SIG42",     "SIG43",    "SIG44",
    "SIG45",     "SIG46",      "SIG47",    "SIG48",    "SIG49",     "SIG50",    "SIG51",
    "SIG52",     "SIG53",      "SIG54",    "SIG55",    "SIG56",     "SIG57",    "SIG58",
    "SIG59",     "SIG60",      "SIG61",    "SIG62",    "SIG63",     "SIGCANCEL", "SIG32",
    "SIG64",     "SIG65",      "SIG66",    "SIG67",    "SIG68",     "SIG69",    "SIG70",
    "SIG71",     "SIG72",      "SIG73",    "SIG74",    "SIG75",     "SIG76",    "SIG77",
    "SIG78",     "SIG79",      "SIG80",    "SIG81",    "SIG82",     "SIG83",    "SIG84",
    "SIG85",     "SIG86",      "SIG87",    "SIG88",    "SIG89",     "SIG90",    "SIG91",
    "SIG92",     "SIG93",      "SIG94",    "SIG95",    "SIG96",     "SIG97",    "SIG98",
    "SIG99",     "SIG100",     "SIG101",   "SIG102",   "SIG103",    "SIG104",   "SIG105",
    "SIG106",    "SIG107",     "SIG108",   "SIG109",   "SIG110",    "SIG111",   "SIG112",
    "SIG113",    "SIG114",     "SIG115",   "SIG116",   "SIG117",    "SIG118",   "SIG119",
    "SIG120",    "SIG121",     "SIG122",   "SIG123",   "SIG124",    "SIG125",   "SIG126",
    "SIG127",    "SIGINFO",
};
constexpr int kNamed = static_cast<int>(std::size(kNames));
static_assert(kNamed == 142);

/// Protocol numbers of the Linux signals 0 to 31 on x86-64; 16 is SIGSTKFLT.
constexpr uint8_t kFromLinux[] = {
    0,  1,  2,  3,  4,  5,  6,  10, 8,  9,  30, 11, 31, 13, 14, 15,
    kGdbSignalUnknown, 20, 19, 17, 18, 21, 22, 16, 24, 25, 26, 27, 28, 23, 32, 12,
};
static_assert(std::size(kFromLinux) == 32);

constexpr int kGdbPoll = 33;  // SIGPOLL is SIGIO on Linux
constexpr int kGdbRealtime33 = 45;
constexpr int kGdbRealtime32 = 77;
constexpr int kGdbRealtime64 = 78;
constexpr int kLinuxIo = 29;

}  // namespace

int gdb_signal_from_linux(int signal) {
  if (signal < 0 || signal > 64) return kGdbSignalUnknown;
  if (signal < 32) return kFromLinux[signal];
  if (signal == 32) return kGdbRealtime32;
  if (signal == 64) return kGdbRealtime64;
  return kGdbRealtime33 + signal - 33;
}

std::optional<int> linux_signal_from_gdb(int signal) {
  if (signal == kGdbPoll) return kLinuxIo;
  if (signal == kGdbSignalUnknown) return std::nullopt;
  for (int linux_signal = 0; linux_signal <= 64; ++linux_signal)
    if (gdb_signal_from_linux(linux_signal) == signal) return linux_signal;
  return std::nullopt;
}

std::string_view gdb_signal_name(int signal) {
  return signal >= 1 && signal <= kNamed ? kNames[signal - 1] : "?";
}

}  // namespace tracewell::rsp
