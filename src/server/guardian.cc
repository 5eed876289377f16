#include "server/guardian.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "base/check.h"
#include "base/files/open.h"
#include "base/process/oom_score.h"

namespace tracewell::server {
namespace {

pid_t face = 0;                       // in the child
volatile std::sig_atomic_t child = 0;  // in the face
volatile std::sig_atomic_t told_to_end = 0;   // in the face: the child is to end

// Longer than the child waits for anything when it is to end.
constexpr int kHeldSeconds = 20;
// The name of a child that stays behind, which tells the face of it.
constexpr char kStaysName[] = "tw-stays";

void hand_on(int number) {
  if (child != 0) ::kill(child, number);
  if (child != 0) ::kill(child, SIGCONT);  // somebody may have stopped it, and programs with it
  told_to_end = 1;
  // Again and again: one that comes while nobody waits is lost.
  const itimerval each_second{{1, 0}, {1, 0}};
  ::setitimer(ITIMER_REAL, &each_second, nullptr);
}

struct ChildState {
  bool held = false;
  bool stays = false;
};

/// Held: inside a call that no signal ends, SIGKILL included (proc(5): state D). State Z is that of
/// a child whose first thread has ended, while another one is held.
ChildState look() {
  const std::string path = fmt::format("/proc/{}/stat", static_cast<int>(child));
  const auto fd = open_named(path);
  char text[512];
  const ssize_t got = fd.ok() ? ::read(fd->get(), text, sizeof text) : -1;
  const std::string_view stat(text, got > 0 ? static_cast<size_t>(got) : 0);
  const size_t name_end = stat.rfind(") ");
  const std::string_view state = stat.substr(name_end == stat.npos ? stat.size() : name_end + 2, 1);
  return {state == "D" || state == "Z", stat.find(fmt::format("({})", kStaysName)) != stat.npos};
}

using Tell = std::function<void(std::string_view)>;

/// Once a second, while the child is to end: the number of seconds that it is held already.
void look_at_child(int& held, const Tell& tell) {
  const ChildState state = look();
  if (state.stays) std::_Exit(EXIT_FAILURE);  // it has said why
  held = told_to_end != 0 && state.held ? held + 1 : 0;
  if (held < kHeldSeconds) return;
  tell(fmt::format("the process that traces ({}) is held in the kernel, most likely by memory of "
                   "the program whose file system does not answer (FUSE, NFS). No signal ends it. "
                   "It lets go of the program and ends once the file system answers or is "
                   "unmounted (umount -f)",
                   static_cast<int>(child)));
  std::_Exit(EXIT_FAILURE);
}

/// The connection may be standard input and output: its ends must close with the child's.
void let_go_of_standard_streams() {
  const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  if (nothing < 0) return;
  ::dup2(nothing, STDIN_FILENO);
  ::dup2(nothing, STDOUT_FILENO);
  ::close(nothing);
}

[[noreturn]] void be_the_face(const Tell& tell) {
  let_go_of_standard_streams();
  int status = 0, held = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) std::_Exit(EXIT_FAILURE);
    look_at_child(held, tell);
  }
  if (WIFEXITED(status)) std::_Exit(WEXITSTATUS(status));
  tell(fmt::format("the process that traces was killed by signal {}; programs that it was attached "
                   "to may have breakpoints left in their code",
                   WTERMSIG(status)));
  std::_Exit(128 + WTERMSIG(status));
}

}  // namespace

void become_guarded(const Tell& tell) {
  // Signals that come before there is somebody to hand them to wait until there is.
  sigset_t handed_on, before;
  sigemptyset(&handed_on);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&handed_on, number);
  TW_CHECK(::sigprocmask(SIG_BLOCK, &handed_on, &before) == 0);
  face = ::getpid();
  const pid_t born = ::fork();
  if (born < 0) {  // unguarded, then
    face = 0;
    ::sigprocmask(SIG_SETMASK, &before, nullptr);
    return;
  }
  // Who kills by name (`killall -9 tracewell`) means the server, and is not to hit what keeps the
  // traced program whole.
  if (born == 0) ::prctl(PR_SET_NAME, "tw-tracer");
  if (born == 0) shun_oom_killer();
  if (born > 0) {
    child = born;
    struct sigaction action {};
    action.sa_handler = hand_on;
    action.sa_flags = SA_RESTART;
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) ::sigaction(number, &action, nullptr);
    action.sa_handler = [](int) {};
    action.sa_flags = 0;  // it interrupts the wait
    ::sigaction(SIGALRM, &action, nullptr);
  }
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  if (born > 0) be_the_face(tell);
}

void watch_face() {
  if (face == 0) return;
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (face_is_gone()) ::raise(SIGTERM);
}

bool stay_behind() {
  if (face == 0) return false;
  ::prctl(PR_SET_NAME, kStaysName);
  if (!face_is_gone()) ::kill(face, SIGALRM);
  return true;
}

int server_pid() { return face != 0 ? face : ::getpid(); }

bool face_is_gone() { return face != 0 && ::getppid() != face; }

}  // namespace tracewell::server
