#include "rsp/thread_id.h"

namespace tracewell::rsp {
namespace {

Error bad_thread_id(const TextReader& in) {
  return {Errc::InvalidArgument, "not a thread id", in.offset()};
}

/// A number from -1 on.
std::optional<int64_t> read_id(TextReader& in) {
  const auto id = in.signed_hex();
  return id && *id >= -1 ? id : std::nullopt;
}

std::string format_id(int64_t id) {
  return id < 0 ? "-1" : hex_number(static_cast<uint64_t>(id));
}

}  // namespace

Result<ThreadId> read_thread_id(TextReader& in) {
  if (!in.skip('p')) {
    const auto tid = read_id(in);
    if (!tid) return bad_thread_id(in);
    return *tid == -1 ? kAllThreads : ThreadId{0, *tid};
  }
  const auto pid = read_id(in);
  if (!pid) return bad_thread_id(in);
  if (!in.skip('.')) return ThreadId{*pid, -1};
  const auto tid = read_id(in);
  if (!tid || (*pid == -1 && *tid != -1)) return bad_thread_id(in);
  return ThreadId{*pid, *tid};
}

Result<ThreadId> parse_thread_id(std::string_view text) {
  TextReader in(text);
  auto id = read_thread_id(in);
  if (id.ok() && !in.done()) return bad_thread_id(in);
  return id;
}

std::string format_thread_id(ThreadId id, bool multiprocess) {
  if (!multiprocess) return format_id(id.tid);
  return "p" + format_id(id.pid) + "." + format_id(id.tid);
}

}  // namespace tracewell::rsp
