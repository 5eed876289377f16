#include "rsp/qxfer.h"

#include <algorithm>

#include "rsp/framing.h"
#include "rsp/text.h"

namespace tracewell::rsp {
namespace {

Error bad_request(const TextReader& in) {
  return {Errc::InvalidArgument, "bad qXfer request", in.offset()};
}

Status read_window(TextReader& in, QxferRequest& request) {
  const size_t colon = in.rest().rfind(':');  // an annex may hold colons, a window does not
  if (colon == std::string_view::npos) return bad_request(in);
  request.annex = *in.take(colon);
  in.skip(':');
  const auto offset = in.hex_until(',');
  if (!offset) return bad_request(in);
  const auto length = in.hex();
  if (!length || !in.done()) return bad_request(in);
  request.offset = *offset;
  request.length = *length;
  return {};
}

Status read_data(TextReader& in, QxferRequest& request) {
  if (in.rest().find(':') == std::string_view::npos) return bad_request(in);
  request.annex = in.take_until(':');
  const auto offset = in.hex_until(':');
  if (!offset) return bad_request(in);
  request.offset = *offset;
  TW_ASSIGN_OR_RETURN(request.data, unescape(in.take_rest()));
  return {};
}

}  // namespace

Result<QxferRequest> parse_qxfer(std::string_view body) {
  TextReader in(body);
  QxferRequest request;
  request.object = in.take_until(':');
  if (request.object.empty()) return bad_request(in);
  if (in.skip("read:")) {
    TW_RETURN_IF_ERROR(read_window(in, request));
  } else if (in.skip("write:")) {
    request.write = true;
    TW_RETURN_IF_ERROR(read_data(in, request));
  } else {
    return bad_request(in);
  }
  return request;
}

std::string qxfer_reply(Bytes document, uint64_t offset, uint64_t length, size_t packet_size) {
  if (offset > document.size()) return "E01";
  const Bytes left = document.subspan(offset);
  const Bytes wanted = left.first(std::min<uint64_t>(length, left.size()));
  size_t used = 0;
  const size_t room = std::max<size_t>(packet_size, 3) - 1;
  const std::string data = escape_prefix(wanted, room, used);
  return (used == left.size() ? "l" : "m") + data;
}

}  // namespace tracewell::rsp
