#include "target/debuggee.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include <elf.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace tracewell::target {

Watchdog::Watchdog(int seconds, const char* what) {
  thread_ = std::thread([this, seconds, what] {
    std::unique_lock lock(mutex_);
    if (over_.wait_for(lock, std::chrono::seconds(seconds), [this] { return done_; })) return;
    std::fprintf(stderr, "watchdog: %s took more than %d s\n", what, seconds);
    std::abort();
  });
}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    done_ = true;
  }
  over_.notify_all();
  thread_.join();
}

HitHandler::Next CountingHandler::on_hit(HitContext& hit) {
  ++hits[hit.pc()];
  ++by_thread[hit.tid()];
  if (collect_registers) block.assign(hit.registers().begin(), hit.registers().end());
  if (steps_wanted == 0) return Next::Continue;
  steps_left_[hit.tid()] = steps_wanted;
  return Next::Step;
}

HitHandler::Next CountingHandler::on_step(HitContext& hit) {
  step_pcs.push_back(hit.pc());
  return --steps_left_[hit.tid()] > 0 ? Next::Step : Next::Continue;
}

uint64_t CountingHandler::total() const {
  uint64_t sum = 0;
  for (const auto& [address, count] : hits) sum += count;
  return sum;
}

std::string inferior(const std::string& name) {
  return fmt::format("{}/{}", TRACEWELL_INFERIORS_DIR, name);
}

namespace {

template <class Header, class Section, class Symbol>
uint64_t address_in(const std::string& bytes, const std::string& symbol) {
  const auto at = [&]<class T>(uint64_t offset, T) {
    T value{};
    if (offset + sizeof value <= bytes.size())
      std::memcpy(&value, bytes.data() + offset, sizeof value);
    return value;
  };
  const auto header = at(0, Header{});
  for (size_t i = 0; i < header.e_shnum; ++i) {
    const auto table = at(header.e_shoff + i * sizeof(Section), Section{});
    if (table.sh_type != SHT_SYMTAB) continue;
    const auto names = at(header.e_shoff + table.sh_link * sizeof(Section), Section{});
    for (uint64_t offset = 0; offset < table.sh_size; offset += sizeof(Symbol)) {
      const auto one = at(table.sh_offset + offset, Symbol{});
      if (symbol == bytes.c_str() + names.sh_offset + one.st_name) return one.st_value;
    }
  }
  return 0;
}

}  // namespace

uint64_t link_time_address(const std::string& file, const std::string& symbol) {
  std::ifstream in(file, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(in)), {});
  if (bytes.size() > EI_CLASS && bytes[EI_CLASS] == ELFCLASS32)
    return address_in<Elf32_Ehdr, Elf32_Shdr, Elf32_Sym>(bytes, symbol);
  return address_in<Elf64_Ehdr, Elf64_Shdr, Elf64_Sym>(bytes, symbol);
}

StopEvent Debuggee::launch(std::vector<std::string> argv, bool shell) {
  const Watchdog watchdog(30, "launch");
  argv[0] = program_ = inferior(argv[0]);
  Processes::LaunchOptions options;
  options.argv = std::move(argv);
  options.startup_with_shell = shell;
  auto event = target->process_control()->launch(options);
  EXPECT_TRUE(event.ok()) << event.error().text();
  if (!event.ok()) return {};
  pid = event->pid;
  told = event->tid;
  target->trace_sites()->set_handler(&handler);
  return *event;
}

StopEvent Debuggee::attach(Pid process) {
  const Watchdog watchdog(30, "attach");
  auto event = target->process_control()->attach(process);
  EXPECT_TRUE(event.ok()) << event.error().text();
  if (!event.ok()) return {};
  pid = event->pid;
  told = event->tid;
  program_ = *target->facts()->exec_file(pid);
  target->trace_sites()->set_handler(&handler);
  return *event;
}

uint64_t Debuggee::symbol(const std::string& name) {
  const uint64_t address = link_time_address(program_, name);
  EXPECT_NE(address, 0u) << name;
  auto modules = target->facts()->modules(pid);
  EXPECT_TRUE(modules.ok());
  return address + modules->at(0).bias;
}

void Debuggee::resume_all(int signal) {
  std::vector<ResumeAction> actions;
  for (const ThreadInfo& thread : target->threads(0)) {
    ResumeAction action;
    action.tid = thread.tid;
    if (thread.tid == told) action.signal = signal;
    actions.push_back(action);
  }
  const Status status = target->resume(actions);
  EXPECT_TRUE(status.ok()) << status.error().text();
}

StopEvent Debuggee::wait(int seconds) {
  const Watchdog watchdog(seconds, "wait()");
  auto event = target->wait();
  EXPECT_TRUE(event.ok()) << event.error().text();
  if (!event.ok()) return {};
  EXPECT_TRUE(event->has_value()) << "woken";
  if (!event->has_value()) return {};
  if ((*event)->tid != 0) told = (*event)->tid;
  return **event;
}

StopEvent Debuggee::step(Tid tid, int signal) {
  ResumeAction action;
  action.tid = tid;
  action.kind = ResumeAction::Kind::Step;
  action.signal = signal;
  EXPECT_TRUE(target->resume({&action, 1}).ok());
  return wait();
}

std::vector<uint8_t> Debuggee::block(Tid tid) {
  std::vector<uint8_t> bytes(target->layout(pid).size_bytes);
  const Status status = target->read_registers(tid, bytes);
  EXPECT_TRUE(status.ok()) << status.error().text();
  return bytes;
}

uint64_t Debuggee::register_of(Tid tid, const std::string& name) {
  const Register* reg = target->layout(pid).find(name);
  return load_uint(block(tid).data() + reg->offset, reg->size_bytes, Endian::Little);
}

void Debuggee::set_register(Tid tid, const std::string& name, uint64_t value) {
  const Register* reg = target->layout(pid).find(name);
  std::vector<uint8_t> bytes = block(tid);
  store_uint(bytes.data() + reg->offset, value, reg->size_bytes, Endian::Little);
  const Status status = target->write_registers(tid, bytes);
  EXPECT_TRUE(status.ok()) << status.error().text();
}

void Debuggee::breakpoint(uint64_t address) {
  const Status status =
      target->breakpoints()->insert(pid, Breakpoints::Kind::Software, address, 1);
  EXPECT_TRUE(status.ok()) << status.error().text();
}

void Debuggee::remove_breakpoint(uint64_t address) {
  const Status status =
      target->breakpoints()->remove(pid, Breakpoints::Kind::Software, address, 1);
  EXPECT_TRUE(status.ok()) << status.error().text();
}

void Debuggee::site(uint64_t address) {
  const Status status = target->trace_sites()->insert(pid, address);
  EXPECT_TRUE(status.ok()) << status.error().text();
}

Pid start_untraced(std::vector<std::string> argv, int out_fd) {
  argv[0] = inferior(argv[0]);
  std::vector<char*> words;
  for (std::string& word : argv) words.push_back(word.data());
  words.push_back(nullptr);
  const pid_t child = fork();
  if (child != 0) return child;
  // A test that a sanitizer ends lets its programs go, which would keep ctest's pipe open.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (out_fd >= 0) dup2(out_fd, STDOUT_FILENO);
  execv(words[0], words.data());
  _exit(126);
}

std::string run_untraced(std::vector<std::string> argv, int& status) {
  const Watchdog watchdog(60, "a program");
  int ends[2];
  EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
  const Pid child = start_untraced(std::move(argv), ends[1]);
  close(ends[1]);
  std::string output;
  char buffer[4096];
  for (ssize_t got = 0; (got = read(ends[0], buffer, sizeof buffer)) > 0;)
    output.append(buffer, static_cast<size_t>(got));
  close(ends[0]);
  waitpid(static_cast<pid_t>(child), &status, 0);
  return output;
}

namespace {

bool succeeds(std::vector<std::string> argv) {
  int status = 0;
  (void)run_untraced(std::move(argv), status);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

bool runs_32_bit_programs() { return succeeds({"ends_32", "exit", "0"}); }

bool has_debug_registers() { return succeeds({"debug_registers"}); }

std::ostream& operator<<(std::ostream& out, StopEvent::Kind kind) {
  constexpr const char* kNames[] = {"Signal", "Breakpoint", "Hardware", "Watchpoint", "Stepped",
                                    "Interrupted", "Fork", "Vfork", "VforkDone", "Exec",
                                    "Exited", "Signalled", "NoneLeft"};
  return out << kNames[static_cast<size_t>(kind)];
}

}  // namespace tracewell::target
