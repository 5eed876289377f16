// Framing against a naive model: whatever is sent comes out, however it is cut.
#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "rsp/framing.h"

namespace tracewell::rsp {
namespace {

using ItemKind = Item::Kind;

struct Stream {
  std::string bytes;
  std::vector<std::pair<ItemKind, std::string>> items;
};

std::string random_bytes(std::mt19937& random, size_t size) {
  // Few characters, so that runs and escapes meet often.
  static constexpr char kAlphabet[] = {'0', '0', '0', '#', '$', '}', '*', '\x03', ']', '\xff', 'x'};
  std::string out;
  while (out.size() < size) {
    const char c = random() % 8 == 0 ? static_cast<char>(random()) : kAlphabet[random() % 11];
    out.append(random() % 6 == 0 ? random() % 300 : 1, c);
  }
  out.resize(size);
  return out;
}

Stream random_stream(std::mt19937& random, bool runs) {
  Stream stream;
  for (int i = 0; i < 12; ++i) {
    const std::string payload = escape(as_bytes(random_bytes(random, random() % 400)));
    std::string packet = frame(payload, runs);
    switch (random() % 7) {
      case 0:
        stream.bytes += '+';
        stream.items.emplace_back(ItemKind::Ack, "");
        break;
      case 1:
        stream.bytes += '-';
        stream.items.emplace_back(ItemKind::Nak, "");
        break;
      case 2:
        stream.bytes += '\x03';
        stream.items.emplace_back(ItemKind::Interrupt, "");
        break;
      case 3:
        stream.bytes += "junk\n";
        break;
      case 4:
        packet.front() = '%';
        stream.bytes += packet;
        stream.items.emplace_back(ItemKind::Notification, payload);
        break;
      case 5:
        packet.back() = packet.back() == '0' ? '1' : '0';
        stream.bytes += packet;
        stream.items.emplace_back(ItemKind::BadPacket, "");
        break;
      default:
        stream.bytes += packet;
        stream.items.emplace_back(ItemKind::Packet, payload);
    }
  }
  return stream;
}

std::vector<std::pair<ItemKind, std::string>> drain(Decoder& decoder) {
  std::vector<std::pair<ItemKind, std::string>> items;
  while (auto item = decoder.next()) items.emplace_back(item->kind, item->payload);
  return items;
}

TEST(Framing, RandomStreamsComeOutHoweverTheyAreCut) {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    const bool runs = round % 2 == 0;
    const Stream stream = random_stream(random, runs);
    Decoder decoder(runs ? Sender::Stub : Sender::Client);
    std::vector<std::pair<ItemKind, std::string>> items;
    for (size_t at = 0; at < stream.bytes.size();) {
      const size_t size = 1 + random() % (round % 3 == 0 ? 2 : 500);
      decoder.feed(std::string_view(stream.bytes).substr(at, size));
      at += size;
      if (random() % 2 == 0) continue;
      for (auto& item : drain(decoder)) items.push_back(item);
    }
    for (auto& item : drain(decoder)) items.push_back(item);
    ASSERT_EQ(items, stream.items) << "round " << round;
  }
}

TEST(Framing, EveryCutOfAStreamGivesTheSame) {
  std::mt19937 random(2);
  const Stream stream = random_stream(random, true);
  for (size_t cut = 0; cut <= stream.bytes.size(); ++cut) {
    Decoder decoder(Sender::Stub);
    decoder.feed(std::string_view(stream.bytes).substr(0, cut));
    auto items = drain(decoder);
    decoder.feed(std::string_view(stream.bytes).substr(cut));
    for (auto& item : drain(decoder)) items.push_back(item);
    ASSERT_EQ(items, stream.items) << "cut at " << cut;
  }
}

TEST(Framing, EveryRunLengthIsSentWithAllowedCounts) {
  for (size_t length = 0; length < 420; ++length) {
    const std::string payload = "a" + std::string(length, '0') + "b";
    const std::string packet = frame(payload, true);
    for (size_t i = 1; i + 3 < packet.size(); ++i) {
      if (packet[i - 1] != '*') continue;
      EXPECT_GE(packet[i], ' ');
      EXPECT_LE(packet[i], '~');
      EXPECT_EQ(std::string_view("#$+-").find(packet[i]), std::string_view::npos) << packet;
    }
    EXPECT_LE(packet.size(), payload.size() + 4);
    Decoder decoder(Sender::Stub);
    decoder.feed(packet);
    const auto item = decoder.next();
    ASSERT_TRUE(item);
    EXPECT_EQ(item->payload, payload);
  }
}

TEST(Framing, RunsAsTheManualShowsThem) {
  EXPECT_EQ(frame("0000", true), "$0* #7a");
  EXPECT_EQ(frame("000", true), "$000#90");
  EXPECT_EQ(frame("00000000", true), "$0*\"00#dc");  // a count of seven would be '$'
  EXPECT_EQ(frame("0000", false), "$0000#c0");
}

TEST(Framing, EscapesAreUndone) {
  std::string all;
  for (int c = 0; c < 256; ++c) all += static_cast<char>(c);
  const std::string escaped = escape(as_bytes(all));
  EXPECT_EQ(escaped.size(), all.size() + 4);
  EXPECT_EQ(escaped.find_first_of("#$*"), std::string::npos);
  const auto back = unescape(escaped);
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(as_text(*back), all);
  EXPECT_FALSE(unescape("ab}").ok());
}

TEST(Framing, PlainTextMayStandInAnyPayload) {
  EXPECT_EQ(plain_text("cannot open /a #1 $x *y } \xc3\xa4\n"), "cannot open /a ?1 ?x ?y ? ???");
}

TEST(Framing, APacketIsBoundedByTheLimitEvenWhenItNeverEnds) {
  Decoder decoder(Sender::Client, 100);
  decoder.feed("$");
  for (int i = 0; i < 1000; ++i) {
    decoder.feed(std::string(1000, 'x'));
    ASSERT_FALSE(decoder.next());
  }
  decoder.feed("$g#67");
  const auto item = decoder.next();
  ASSERT_TRUE(item);
  EXPECT_EQ(item->payload, "g");
}

TEST(Framing, NoAckBeginsWithTheNextItem) {
  Decoder decoder(Sender::Client);
  decoder.feed("+$QStartNoAckMode#b0+$g#00");
  EXPECT_EQ(decoder.next()->kind, ItemKind::Ack);
  EXPECT_EQ(decoder.next()->payload, "QStartNoAckMode");
  decoder.set_no_ack(true);
  const auto item = decoder.next();
  ASSERT_TRUE(item);
  EXPECT_EQ(item->kind, ItemKind::Packet);
  EXPECT_EQ(item->payload, "g");
}

/// Line ends and telnet's BREAK, with or without SysRq's g, are no junk once a debugger has spoken.
TEST(Framing, JunkIsToldToThoseWhoAsk) {
  const auto junk = [](std::string_view text) {
    Decoder decoder(Sender::Client);
    decoder.tell_junk(true);
    decoder.feed("$?#3f");
    decoder.feed(text);
    size_t count = 0;
    for (const auto& [kind, payload] : drain(decoder)) count += kind == ItemKind::Junk ? 1 : 0;
    return count;
  };
  EXPECT_EQ(junk("+$a#61\r\n\xff\xf3$a#61\xff\xf3g-\x03%a#61\n"), 0u);
  EXPECT_EQ(junk("$a b#e3$a$a#61$a#00"), 0u) << "inside a packet";
  EXPECT_EQ(junk("$a#61 / H"), 4u);
  EXPECT_EQ(junk("g$a#61\xf3"), 2u) << "neither is BREAK";
  EXPECT_EQ(junk("\xff" "g"), 1u);
  Decoder silent(Sender::Client);
  silent.feed(" junk $a#61");
  EXPECT_EQ(drain(silent).size(), 1u);
}

/// What is taken up to the first Junk, in pieces of that size, by somebody who obeys no more then.
struct Beginning {
  Beginning(std::string_view text, size_t piece) {
    decoder.tell_junk(true);
    for (; !text.empty() && !junk; text.remove_prefix(std::min(piece, text.size()))) {
      decoder.feed(text.substr(0, piece));
      while (auto item = decoder.next()) {
        junk = item->kind == ItemKind::Junk;
        if (junk) break;
        too_soon |= item->kind == ItemKind::TooSoon;
        if (item->kind != ItemKind::Packet) continue;
        packets += item->payload + "|";
        if (item->payload == "QStartNoAckMode") decoder.set_no_ack(true);
      }
    }
  }
  Decoder decoder{Sender::Client};
  std::string packets;
  bool junk = false, too_soon = false;
};

TEST(Framing, DebuggersAreToldFromPages) {
  const std::string gdb = "qSupported:multiprocess+;swbreak+;xmlRegisters=i386";
  const auto say = [](std::vector<std::string> payloads) {
    std::string out = "+";
    for (const std::string& payload : payloads) out += frame(payload, false) + "+";
    return out;
  };
  for (const std::string& text : std::vector<std::string>{
           say({gdb, "vMustReplyEmpty", "QStartNoAckMode", "!", "Hg0", "qTStatus", "?", "g"}),
           say({"qSupported", "Hc-1", "qC", "qOffsets", "?", "g"}),              // 6.8
           say({"Hc-1", "qC", "qOffsets", "?", "k"}),                            // 5.3
           say({"vMustReplyEmpty", "QStartNoAckMode", "Hgp0.0", "?", "g"}),
           say({"vMustReplyEmpty", "Hg0", "qTStatus", "qTfV", "qTsV", "?"}),  // without qSupported
           say({"QStartNoAckMode", gdb, "QThreadSuffixSupported", "qProcessInfo"}),  // LLDB
           say({"?", "vFile:open:2f,0,0", "vFile:pwrite:5,0,a b\r\n"}),
           say({"X401000,3:a\n ", "c"}), "\x03" + say({"?", "g"}), "\xff\xf3g" + say({gdb, "g"}),
           "-+-" + say({"m0,4", "g"})}) {
    for (const size_t piece : {size_t{1}, size_t{2}, size_t{7}, text.size()}) {
      const Beginning one(text, piece);
      EXPECT_FALSE(one.junk || one.too_soon || one.decoder.in_doubt()) << text;
      EXPECT_EQ(std::ranges::count(one.packets, '|'), std::ranges::count(text, '$')) << text;
    }
  }
}

/// The method holds what its page likes, so far as HTTP lets it.
std::vector<std::string> methods() {
  std::vector<std::string> out;
  const std::string kill = frame("k", false), quiet = frame("QStartNoAckMode", false);
  for (const std::string& body : {std::string(), kill, quiet, "+" + quiet, quiet + kill,
                                  frame("Hc-1", false), quiet + quiet, std::string("%x#78"),
                                  frame("G" + std::string(600, '0'), false)}) {
    for (const std::string_view end : {"", "$", "$k", "$k#", "$k#6", "#", "#0", "$$", "+", "k"})
      out.push_back(body + std::string(end));
    out.push_back(std::string(16384 - body.size(), '+') + body);
    out.push_back(body + std::string(16384 - body.size(), '+'));
  }
  return out;
}

/// Nothing of a request is handed out, but for what changes nothing and stands in front of a cut.
TEST(Framing, NothingOfARequestIsObeyed) {
  const std::string evil = frame("qSupported:x", false) + frame("vRun;2f", false) + "#00" +
                           frame("vFile:open:2f,601,1ff", false) + frame("k", false);
  for (const std::string& method : methods()) {
    const std::string text = method + " /" + evil + " HTTP/1.1\r\nHost: x\r\n\r\n" + evil;
    for (const size_t piece :
         {size_t{1}, size_t{3}, method.size(), method.size() + 1, text.size()}) {
      if (piece == 0) continue;
      const Beginning one(text, piece);
      ASSERT_TRUE(one.junk) << method;
      ASSERT_TRUE(one.decoder.in_doubt());
      std::string rest = one.packets;
      for (const std::string_view harmless : {"QStartNoAckMode|", "Hc-1|"})
        while (rest.starts_with(harmless)) rest.erase(0, harmless.size());
      ASSERT_EQ(rest, "") << method;
    }
  }
}

TEST(Framing, OnlyDebuggersEndDoubt) {
  for (const std::string_view text : {
           "$x:#00", "$x:#zz", "$x:$?#3f", "$$?#3f", "$x $?#3f", "\n$?#3f", "%x:#b2$?#3f", " ",
           "$\x7f", "$x\x80", "$\t", "\x16\x03\x01", "PRI * HTTP/2.0\r\n", "GET /$?#3f"}) {
    const Beginning one(text, text.size());
    EXPECT_TRUE(one.junk && one.decoder.in_doubt()) << text;
    EXPECT_EQ(one.packets, "") << text;
  }
  for (const std::string_view body : {"k", "g", "D", "c", "R00", "G00", "QTStart", "x/y", "qTfP"}) {
    const Beginning one(frame(body, false), 1);
    EXPECT_TRUE(one.too_soon && !one.junk && one.decoder.in_doubt()) << body;
    EXPECT_EQ(one.packets, "") << body;
  }
  constexpr size_t kMax = Decoder::kDoubtfulBytesMax;
  const std::string_view first = "$?#3f";
  EXPECT_FALSE(Beginning(std::string(kMax - 2, '+') + std::string(first), 100).junk);
  EXPECT_TRUE(Beginning(std::string(kMax - 1, '+') + std::string(first), 100).junk);
}

}  // namespace
}  // namespace tracewell::rsp
