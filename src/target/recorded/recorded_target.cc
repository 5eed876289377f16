#include "target/recorded/recorded_target.h"

#include <elf.h>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "machine/tdesc.h"
#include "target/recorded/auxv.h"
#include "target/recorded/libraries.h"

namespace tracewell::target {
namespace {

bool is_x86(const symbols::MappedImage& mapped) {
  const symbols::ImageFacts& facts = mapped.image->facts();
  return is_pe(mapped) ? facts.machine == 0x8664 || facts.machine == 0x14c
                       : facts.machine == EM_X86_64 || facts.machine == EM_386;
}

Error recorded(const char* what) {
  return {Errc::Unsupported, std::string("this is a recorded trace: ") + what, {}};
}

}  // namespace

RecordedTarget::RecordedTarget(const Catalog& catalog, symbols::ImageMap images)
    : images_(std::move(images)), modules_(catalog.modules),
      address_bytes_(catalog.address_bytes), endian_(catalog.endian) {
  choose_description(catalog);
  choose_auxv(catalog);
  choose_stand_in();
  open_loader();
}

void RecordedTarget::choose_stand_in() {
  if (program() != nullptr || std::ranges::none_of(images_.images(), is_x86)) return;
  // Without it, a user has to say `sharedlibrary`.
  if (auto made = StandIn::create(address_bytes_)) stand_in_ = *std::move(made);
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
  if (!main || is_pe(*main)) return;
  const symbols::ImageFacts& facts = main->image->facts();
  const auto entry = find_auxv(auxv_, AT_ENTRY, catalog.address_bytes, catalog.endian);
  if (entry != main->at(facts.entry)) auxv_ = make_auxv(*main);
}

/// GDB leaves a PE program where its file wants to be; elsewhere it can only be a library.
const symbols::MappedImage* RecordedTarget::program() const {
  for (const symbols::MappedImage& mapped : images_.images())
    if (mapped.image->facts().program && (!is_pe(mapped) || mapped.bias == 0)) return &mapped;
  return nullptr;
}

bool RecordedTarget::has_elf() const { return !std::ranges::all_of(images_.images(), is_pe); }

/// The program's file names it, and may name any: what is no image is not shown to anybody.
void RecordedTarget::open_loader() {
  const symbols::MappedImage* const main = program();
  if (main == nullptr || main->image->facts().interpreter.empty()) return;
  if (auto found = symbols::Image::open_found(main->image->facts().interpreter); found.ok())
    loader_ = *std::move(found);
}

std::vector<ListedFile> RecordedTarget::files() const {
  std::vector<ListedFile> out;
  const auto add = [&](const std::shared_ptr<const symbols::Image>& image) {
    out.push_back({image->path(), image->file(), image->file_facts().value_or(FileFacts()), image});
  };
  for (const symbols::MappedImage& mapped : images_.images()) add(mapped.image);
  if (loader_) add(loader_);
  if (stand_in_) out.push_back(stand_in_->listed());
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
  if (!main && stand_in_) return stand_in_->path();
  if (!main) return {Errc::NotFound, "no executable was given for this trace"};
  return main->image->path();
}

Result<std::string> RecordedTarget::libraries_svr4(Pid) {
  return target::libraries_svr4(images_, program());
}

Libraries* RecordedTarget::libraries() {
  const auto& images = images_.images();
  return std::any_of(images.begin(), images.end(), is_pe) ? this : nullptr;
}

Result<std::string> RecordedTarget::library_list(Pid) {
  return target::library_list(images_, program());
}

bool RecordedTarget::read_only(Pid pid, uint64_t address, uint64_t size) {
  return pid == kPid && images_.covers(address, size);
}

}  // namespace tracewell::target
