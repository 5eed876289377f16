#include "rsp/framing.h"

#include <algorithm>

namespace tracewell::rsp {
namespace {

constexpr size_t kRepeatMin = 3;
constexpr size_t kRepeatMax = 97;
constexpr uint8_t kEscapeXor = 0x20;

constexpr bool must_escape(uint8_t byte) {
  return byte == '#' || byte == '$' || byte == '}' || byte == '*';
}

/// The longest repeat count up to `left` whose character may be sent: not the framing characters,
/// and not the acknowledgements, which a peer out of step would take for such.
size_t allowed_repeat(size_t left) {
  size_t repeat = std::min(left, kRepeatMax);
  while (true) {
    const char count = static_cast<char>(repeat + 29);
    if (count != '#' && count != '$' && count != '+' && count != '-') return repeat;
    --repeat;
  }
}

/// Where the next run begins that is worth shortening.
size_t next_run(std::string_view payload, size_t at) {
  const char* const c = payload.data();
  for (; at + kRepeatMin < payload.size(); ++at)
    if (c[at] == c[at + 1] && c[at] == c[at + 2] && c[at] == c[at + 3]) return at;
  return payload.size();
}

void append_runs(std::string& out, std::string_view payload) {
  static_assert(kRepeatMin == 3, "next_run() compares so many");
  size_t at = 0;
  while (at < payload.size()) {
    const size_t run = next_run(payload, at);
    out.append(payload, at, run - at);
    if (run == payload.size()) return;
    size_t end = run + 1;
    while (end < payload.size() && payload[end] == payload[run] && end - run <= kRepeatMax) ++end;
    const size_t repeat = allowed_repeat(end - run - 1);
    out += payload[run];
    out += '*';
    out += static_cast<char>(repeat + 29);
    at = run + 1 + repeat;
  }
}

}  // namespace

std::string frame(std::string_view payload, bool run_length) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  out.reserve(payload.size() + 4);
  out += '$';
  if (run_length)
    append_runs(out, payload);
  else
    out += payload;
  uint8_t sum = 0;
  for (size_t i = 1; i < out.size(); ++i) sum = static_cast<uint8_t>(sum + out[i]);
  out += '#';
  out += kDigits[sum >> 4];
  out += kDigits[sum & 15];
  return out;
}

std::string plain_text(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c < ' ' || c > '~' || must_escape(static_cast<uint8_t>(c))) c = '?';
  return out;
}

std::string escape(Bytes bytes) {
  size_t used = 0;
  return escape_prefix(bytes, SIZE_MAX, used);
}

std::string escape_prefix(Bytes bytes, size_t limit, size_t& used) {
  std::string out;
  out.reserve(std::min(limit, bytes.size() + bytes.size() / 32));
  used = 0;
  while (used < bytes.size() && out.size() < limit) {
    const Bytes rest = bytes.subspan(used).first(std::min(bytes.size() - used, limit - out.size()));
    const auto plain = static_cast<size_t>(std::ranges::find_if(rest, must_escape) - rest.begin());
    out.append(reinterpret_cast<const char*>(rest.data()), plain);
    used += plain;
    if (plain == rest.size()) continue;
    if (limit - out.size() < 2) break;
    out += '}';
    out += static_cast<char>(rest[plain] ^ kEscapeXor);
    ++used;
  }
  return out;
}

Result<std::vector<uint8_t>> unescape(std::string_view text) {
  std::vector<uint8_t> out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    auto byte = static_cast<uint8_t>(text[i]);
    if (byte == '}') {
      if (++i == text.size())
        return Error{Errc::Protocol, "binary data end in the middle of an escape", i - 1};
      byte = static_cast<uint8_t>(text[i]) ^ kEscapeXor;
    }
    out.push_back(byte);
  }
  return out;
}

}  // namespace tracewell::rsp
