#include "rsp/breakpoint.h"

#include "rsp/text.h"

namespace tracewell::rsp {
namespace {

Error bad_breakpoint(const TextReader& in) {
  return {Errc::InvalidArgument, "bad breakpoint packet", in.offset()};
}

/// `X<len>,<code>` any number of times. GDB puts nothing between them; the manual's wording allows
/// a `;` there.
Status read_codes(TextReader& in, std::vector<std::vector<uint8_t>>& codes) {
  while (in.skip('X') || in.skip(";X")) {
    auto code = in.sized_hex_bytes();
    if (!code) return bad_breakpoint(in);
    codes.push_back(*std::move(code));
  }
  return {};
}

}  // namespace

Result<BreakpointRequest> parse_breakpoint(std::string_view packet) {
  TextReader in(packet);
  BreakpointRequest request;
  request.insert = in.peek() == 'Z';
  if (!in.skip('Z') && !in.skip('z')) return bad_breakpoint(in);
  const auto type = in.hex_until(',');
  if (!type) return bad_breakpoint(in);
  if (*type > static_cast<uint64_t>(BreakpointRequest::Type::AccessWatch))
    return Error{Errc::Unsupported, "unknown breakpoint type", 1};
  request.type = static_cast<BreakpointRequest::Type>(*type);
  const auto address = in.hex_until(',');
  if (!address) return bad_breakpoint(in);
  const auto kind = in.hex();
  if (!kind) return bad_breakpoint(in);
  request.address = *address;
  request.kind = *kind;
  TW_RETURN_IF_ERROR(read_codes(in, request.conditions));
  if (in.skip(";cmds:")) {
    const auto persist = in.hex_until(',');
    if (!persist) return bad_breakpoint(in);
    request.persist = *persist != 0;
    TW_RETURN_IF_ERROR(read_codes(in, request.commands));
  }
  if (!in.done()) return bad_breakpoint(in);
  return request;
}

}  // namespace tracewell::rsp
