// What is kept of the machine and the process, so that a trace can be read after both are gone.
#include <algorithm>

#include "agent/engine/engine.h"

namespace tracewell::agent {

namespace {

// The model's name for the architecture that a target description names.
std::string machine_name(std::string_view description) {
  if (description.find("<architecture>i386:x86-64<") != std::string_view::npos) return "x86-64";
  if (description.find("<architecture>i386<") != std::string_view::npos) return "i386";
  return "unknown";
}

}  // namespace

void Engine::capture_machine() {
  const RegisterLayout& layout = target_.layout(pid_);
  // Frames of an earlier run in another register layout cannot be read beside new ones.
  if (layout.size_bytes != buffer_.register_block_bytes() && buffer_.count() > 0) buffer_.clear();
  buffer_.set_machine(layout.size_bytes, target_.endian());
  machine_ = {};
  machine_.endian = target_.endian();
  machine_.registers = layout;
  machine_.target_description = target_.target_description(pid_);
  machine_.machine = machine_name(machine_.target_description);
  machine_.address_bytes = layout.pc() != nullptr ? layout.pc()->size_bytes : 8;
  collector_.set_address_bytes(machine_.address_bytes);
  capture_modules();
}

// Libraries come and go during a run; the last answer while the process lived is kept.
void Engine::capture_modules() {
  target::ProcessFacts* facts = target_.facts();
  if (facts == nullptr) return;
  if (auto modules = facts->modules(pid_)) machine_.modules = std::move(*modules);
  if (auto auxv = facts->auxv(pid_)) machine_.auxv = std::move(*auxv);
}

Catalog Engine::catalog() {
  const auto processes = target_.processes();
  if (std::ranges::find(processes, pid_, &target::ProcessInfo::pid) != processes.end())
    capture_modules();
  return known_catalog();
}

std::string Engine::description() {
  return buffer_.count() == 0 ? std::string() : machine_.target_description;
}

/// Asks nobody.
Catalog Engine::known_catalog() const {
  Catalog catalog = machine_;
  catalog.tracepoints = definitions_;
  for (size_t i = 0; i < points_.size(); ++i)
    catalog.tracepoints[i].usage = {points_[i].hits, points_[i].bytes};
  catalog.variables = variables();
  catalog.processes = whose_.known();
  catalog.status = status();
  return catalog;
}

}  // namespace tracewell::agent
