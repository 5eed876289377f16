// RecordedTarget: what is left of a program in its trace. One process with one thread that stands
// still for ever. Registers and written memory are only in the trace's frames; between them there
// is what cannot have changed: the read-only parts of images that the user has at hand.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/catalog.h"
#include "symbols/image_map.h"
#include "target/listed_file.h"
#include "target/recorded/stand_in.h"
#include "target/target.h"

namespace tracewell::target {

class RecordedTarget final : public Target, private ProcessFacts, private Libraries {
 public:
  static constexpr Pid kPid = 1;  // no trace file says which it was

  /// Copies what it needs of the catalog. `images`: what the user allowed, where it was mapped.
  RecordedTarget(const Catalog& catalog, symbols::ImageMap images);

  std::vector<ProcessInfo> processes() const override;
  std::vector<ThreadInfo> threads(Pid pid) const override;
  const RegisterLayout& layout(Pid) const override { return layout_; }
  const std::string& target_description(Pid) const override { return description_; }
  Endian endian() const override { return endian_; }

  /// NotFound: outside of frames nothing is known of registers.
  Status read_registers(Tid tid, std::span<uint8_t> block) override;
  Status write_registers(Tid tid, Bytes block) override;
  size_t read_memory(Pid pid, uint64_t address, std::span<uint8_t> into) override;
  Status write_memory(Pid pid, uint64_t address, Bytes bytes) override;

  /// Unsupported.
  Status resume(std::span<const ResumeAction> actions) override;
  /// NoneLeft, at once.
  Result<std::optional<StopEvent>> wait() override;
  Status interrupt() override { return {}; }
  ProcessFacts* facts() override { return this; }
  /// Of a program of Windows.
  Libraries* libraries() override;

  /// The thread whose frame is being looked at (0 = not known) becomes the name of the only one:
  /// GDB takes a thread that comes and goes between frames for dead.
  void show_thread(uint64_t recorded_tid);

  /// The image that a debugger takes for the program's, or nullptr.
  const symbols::MappedImage* program() const;
  /// Is there an ELF image?
  bool has_elf() const;
  /// What a debugger may read of this machine: the images, and the loader that the program names.
  std::vector<ListedFile> files() const;

 private:
  Result<std::vector<uint8_t>> auxv(Pid pid) override;
  Result<std::string> exec_file(Pid pid) override;
  Result<std::vector<Module>> modules(Pid) override { return modules_; }
  Result<std::string> libraries_svr4(Pid pid) override;
  Result<std::string> library_list(Pid pid) override;
  bool read_only(Pid pid, uint64_t address, uint64_t size) override;

  void choose_description(const Catalog& catalog);
  void choose_auxv(const Catalog& catalog);
  void choose_stand_in();
  void open_loader();

  symbols::ImageMap images_;
  std::vector<Module> modules_;
  RegisterLayout layout_;
  std::string description_;
  std::vector<uint8_t> auxv_;
  std::optional<StandIn> stand_in_;
  std::shared_ptr<const symbols::Image> loader_;
  uint64_t recorded_tid_ = 0;
  uint32_t address_bytes_;
  Endian endian_;
};

}  // namespace tracewell::target
