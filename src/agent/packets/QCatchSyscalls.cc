// QCatchSyscalls:1[;<number>…], QCatchSyscalls:0: system calls of the current process at whose
// entry and return it stops; without numbers all of them.
#include <algorithm>

#include <fmt/format.h>

#include "agent/packets.h"
#include "base/text/hex.h"
#include "base/text/text.h"

namespace tracewell::agent {

void on_QCatchSyscalls(Session& session, std::string_view body, Reply& reply) {
  constexpr size_t kNumbersMax = 4096;
  const auto words = split(body, ';');
  const bool on = words[0] == "1";
  auto pid = session.current_pid();
  if (words.size() > kNumbersMax)
    return reply.error({Errc::Limit,
                        fmt::format("at most {} system calls can be caught", kNumbersMax - 1), {}});
  if ((!on && body != "0") || !pid) return reply.error(1);
  std::vector<int64_t> numbers;
  for (size_t i = 1; i < words.size(); ++i) {
    auto number = parse_hex(words[i]);
    if (!number || *number > INT32_MAX) return reply.error(1);
    numbers.push_back(static_cast<int64_t>(*number));
  }
  auto status = session.target.system_calls()->catch_system_calls(*pid, on, std::move(numbers));
  if (status) reply.ok();
  else reply.error(1);
}

}  // namespace tracewell::agent
