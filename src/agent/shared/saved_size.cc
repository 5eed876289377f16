#include "agent/shared/saved_size.h"

#include <fmt/format.h>

namespace tracewell::agent {
namespace {

std::string megabytes(uint64_t bytes) {
  return fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6);
}

}  // namespace

std::string saved_size_text(const Session& session) {
  if (!session.trace || !session.trace->control()) return "";
  const RunStatus status = session.trace->status();
  const uint64_t saved = session.trace->frames().stream_bytes();
  const uint64_t size = status.buffer_size.value_or(0);
  if (saved <= size) return "";
  return fmt::format("the frames take {} when they are saved, and {} here", megabytes(saved),
                     megabytes(size - status.buffer_free.value_or(0)));
}

}  // namespace tracewell::agent
