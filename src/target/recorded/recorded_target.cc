#include "target/recorded/recorded_target.h"

#include <elf.h>

#include <utility>

#include <fmt/format.h>

#include "machine/tdesc.h"
#include "target/recorded/auxv.h"
#include "target/recorded/libraries.h"

namespace tracewell::target {
namespace {

Error recorded(const char* what) {
  return {Errc::Unsupported, std::string("this is a recorded trace: ") + what, {}};
}

}  // namespace

RecordedTarget::RecordedTarget(const Catalog& catalog, symbols::ImageMap images)
    : images_(std::move(images)), modules_(catalog.modules), endian_(catalog.endian) {
  choose_description(catalog);
  choose_auxv(catalog);
}

void RecordedTarget::choose_description(const Catalog& catalog) {
  layout_ = catalog.registers;
  // Without any register in it, a trace still has to answer `g` with a block of some size.
  std::string machine = catalog.machine;
  if (layout_.empty() && layout_.size_bytes == 0) {
    constexpr uint32_t kSseBlock = 560, kI386Block = 312;
    layout_ = machine::default_layout(machine == "i386" ? kI386Block : kSseBlock, machine);
  }
  // GDB would ask us for what a description includes, and drop all of it when we have nothing.
  const bool complete = catalog.target_description.find("xi:include") == std::string::npos;
  if (!catalog.target_description.empty() && complete)
    description_ = catalog.target_description;
  else
    description_ = machine::render_tdesc(layout_, machine);
}

/// The recorded vector, unless the user says that the program was somewhere else.
void RecordedTarget::choose_auxv(const Catalog& catalog) {
  auxv_ = catalog.auxv;
  const symbols::MappedImage* main = program();
  if (!main) return;
  const symbols::ImageFacts& facts = main->image->facts();
  const auto entry = find_auxv(auxv_, AT_ENTRY, catalog.address_bytes, catalog.endian);
  if (entry != main->at(facts.entry)) auxv_ = make_auxv(*main);
}

const symbols::MappedImage* RecordedTarget::program() const {
  for (const symbols::MappedImage& mapped : images_.images())
    if (mapped.image->facts().program) return &mapped;
  return nullptr;
}

std::vector<std::string> RecordedTarget::files() const {
  std::vector<std::string> out;
  for (const symbols::MappedImage& mapped : images_.images()) out.push_back(mapped.image->path());
  const symbols::MappedImage* main = program();
  if (main && !main->image->facts().interpreter.empty())
    out.push_back(main->image->facts().interpreter);
  return out;
}

std::vector<ProcessInfo> RecordedTarget::processes() const {
  // A debugger detaches from what was attached to, and kills the rest when it leaves.
  return {{.pid = kPid, .attached = true}};
}

std::vector<ThreadInfo> RecordedTarget::threads(Pid pid) const {
  if (pid != 0 && pid != kPid) return {};
  std::string name = "recorded";
  if (recorded_tid_ != 0) name = fmt::format("thread {}", recorded_tid_);
  return {{.pid = kPid, .tid = kPid, .name = name, .core = -1}};
}

void RecordedTarget::show_thread(uint64_t recorded_tid) { recorded_tid_ = recorded_tid; }

Status RecordedTarget::read_registers(Tid, std::span<uint8_t>) {
  return {Errc::NotFound, "this is a recorded trace: registers are in its frames only"};
}

Status RecordedTarget::write_registers(Tid, Bytes) {
  return recorded("registers cannot be changed");
}

size_t RecordedTarget::read_memory(Pid pid, uint64_t address, std::span<uint8_t> into) {
  return pid == kPid ? images_.read(address, into) : 0;
}

Status RecordedTarget::write_memory(Pid, uint64_t, Bytes) {
  return recorded("memory cannot be changed");
}

Status RecordedTarget::resume(std::span<const ResumeAction>) { return recorded("it does not run"); }

Result<std::optional<StopEvent>> RecordedTarget::wait() {
  StopEvent event;
  event.kind = StopEvent::Kind::NoneLeft;
  event.pid = kPid;
  return std::optional(std::move(event));
}

Result<std::vector<uint8_t>> RecordedTarget::auxv(Pid) {
  if (auxv_.empty()) return {Errc::NotFound, "the trace has no auxiliary vector"};
  return auxv_;
}

Result<std::string> RecordedTarget::exec_file(Pid) {
  const symbols::MappedImage* main = program();
  if (!main) return {Errc::NotFound, "no executable was given for this trace"};
  return main->image->path();
}

Result<std::string> RecordedTarget::libraries_svr4(Pid) {
  return target::libraries_svr4(images_, program());
}

bool RecordedTarget::read_only(Pid pid, uint64_t address, uint64_t size) {
  return pid == kPid && images_.covers(address, size);
}

}  // namespace tracewell::target
