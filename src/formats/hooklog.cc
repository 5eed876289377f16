// A log of trace hooks: a folder that is a trace in the Common Trace Format 1.8, which babeltrace2
// and others read, too. docs/formats/hooklog.md
//
// What is odd about it: the packets in it were written by threads that may have been killed between
// any two instructions, and are taken as they are (ring/hook_packet.h). A log whose session was not
// stopped has packets in rings, which only this reader looks at. The text of the metadata is our
// own and not any that the format allows; others' traces are not read.
#include "base/text/text.h"
#include "formats/format.h"
#include "formats/hooklog/reader.h"
#include "ring/hook_packet.h"

namespace tracewell::formats {
namespace {

constexpr std::string_view kExtensions[] = {"hooklog"};

bool sniff(Bytes head) {
  if (as_text(head).starts_with("/* CTF 1.8 */"))
    return as_text(head).find("tracewell") != std::string_view::npos;
  return ring::read_hook_packet(head).has_value();
}

}  // namespace

const Format& hooklog_format() {
  static const Format kFormat{.name = "hooklog",
                              .extensions = kExtensions,
                              .description = "a log of trace hooks, in CTF 1.8",
                              .sniff = sniff,
                              .open = HooklogReader::open};
  return kFormat;
}

}  // namespace tracewell::formats
