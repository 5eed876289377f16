// Whole debugging sessions with a tracing experiment on a made-up target. Each line of the input
// is a packet's text, framed here; a line that begins with `!` is something that happens to the
// program, `~` cuts the connection, and what follows `=` is sent as it is. Whatever comes, the
// session must answer and live.
#include <cstdint>
#include <memory>
#include <string>

#include "agent/engine/engine.h"
#include "agent/session/session.h"
#include "base/check.h"
#include "base/text/text.h"
#include "rsp/framing.h"
#include "target/fake/fake_target.h"

using namespace tracewell;

namespace {

class World {
 public:
  World() {
    for (std::string_view line :
         {"process 7", "thread 7.7 one", "thread 7.8 two", "reg 7.7 rbp 404008",
          "mem 7 401000 554889e54883ec10 ro", "mem 7 404000 68656c6c6f00776f726c642100000000",
          "exec 7 /bin/true", "auxv 7 0000"})
      TW_CHECK(target_.learn(line).ok());
    trace_ = std::make_unique<agent::Engine>(target_, [] { return int64_t{1} << 60; });
    connect();
  }

  void play(std::string_view line) {
    if (line.starts_with('!')) {
      auto event = target_.event(line.substr(1));
      if (event && *event) session_->on_event(**event);
    } else if (line.starts_with('~')) {
      const bool ran = session_->running();
      session_->stopped();
      session_->on_disconnect(ran);
      connect();
    } else if (line.starts_with('=')) {
      session_->feed(as_bytes(line.substr(1)));
    } else {
      session_->feed(as_bytes(rsp::frame(line, false)));
    }
    // What goes out is sound packets.
    rsp::Decoder decoder(rsp::Sender::Stub);
    decoder.feed(session_->take_output());
    while (auto item = decoder.next()) TW_CHECK(item->kind != rsp::Item::Kind::BadPacket);
    if (session_->finished()) connect();
    target_.take_calls();
  }

 private:
  void connect() {
    agent::SessionOptions options;
    options.files = agent::SessionOptions::Files::None;
    options.set = [](std::string_view, std::string_view) { return true; };
    options.print = [](std::string_view) {};
    session_ = std::make_unique<agent::Session>(target_, trace_.get(), options);
  }
  target::FakeTarget target_;
  std::unique_ptr<agent::Engine> trace_;
  std::unique_ptr<agent::Session> session_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  World world;
  for (std::string_view line : split(as_text({data, size}), '\n')) world.play(line);
  return 0;
}
