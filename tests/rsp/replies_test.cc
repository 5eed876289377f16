// Replies: windows of qXfer, frame selection, XML text.
#include <string>

#include <gtest/gtest.h>

#include "base/text/xml.h"
#include "rsp/frame_select.h"
#include "rsp/framing.h"
#include "rsp/qxfer.h"

namespace tracewell::rsp {
namespace {

TEST(Qxfer, WindowsOfEverySizeGiveTheDocument) {
  std::string document;
  for (int i = 0; i < 300; ++i) document += static_cast<char>(i);
  for (const size_t packet : {3, 4, 7, 100, 1000}) {
    for (const uint64_t length : {1, 2, 50, 4096}) {
      std::string read;
      while (true) {
        const std::string reply = qxfer_reply(document, read.size(), length, packet);
        ASSERT_LE(reply.size(), packet);
        const auto data = unescape(reply.substr(1));
        ASSERT_TRUE(data.ok());
        ASSERT_LE(data->size(), length);
        read += as_text(*data);
        if (reply[0] == 'l') break;
        ASSERT_EQ(reply[0], 'm');
        ASSERT_FALSE(data->empty());
      }
      EXPECT_EQ(read, document);
    }
  }
}

TEST(Qxfer, EdgesOfTheDocument) {
  EXPECT_EQ(qxfer_reply("abc", 0, 3, 100), "labc");
  EXPECT_EQ(qxfer_reply("abc", 0, 2, 100), "mab");
  EXPECT_EQ(qxfer_reply("abc", 3, 5, 100), "l");
  EXPECT_EQ(qxfer_reply("abc", 4, 5, 100), "E01");
  EXPECT_EQ(qxfer_reply("", 0, 5, 100), "l");
  EXPECT_EQ(qxfer_reply("abc", 1, ~uint64_t{0}, 100), "lbc");
  EXPECT_EQ(qxfer_reply("abc", ~uint64_t{0}, ~uint64_t{0}, 100), "E01");
  EXPECT_EQ(qxfer_reply("#b", 0, 2, 3), "m}\x03");
  EXPECT_EQ(qxfer_reply("#b", 0, 2, 0), "m}\x03");
}

TEST(FrameReply, NumbersAreHex) {
  EXPECT_EQ(format_frame_reply(std::nullopt, 3), "F-1");
  EXPECT_EQ(format_frame_reply(26, 3), "F1aT3");
  EXPECT_EQ(format_frame_reply(0, 0x12), "F0T12");
}

TEST(Xml, AttributesAreEscaped) {
  EXPECT_EQ(escape_xml("/a <b> \"c\" 'd' & e"),
            "/a &lt;b&gt; &quot;c&quot; &apos;d&apos; &amp; e");
}

TEST(Xml, WhatActsOnTerminalsOrIsNoTextIsShown) {
  EXPECT_EQ(escape_xml("a\tb\nc\r"), "a\\x09b\\x0ac\\x0d");
  EXPECT_EQ(escape_xml(std::string_view("a\0b\x1b", 4)), "a\\x00b\\x1b");
  EXPECT_EQ(escape_xml("\xc3\xa4 \xe2\x82\xac \xf0\x9f\x90\x9e"),
            "\xc3\xa4 \xe2\x82\xac \xf0\x9f\x90\x9e");
  EXPECT_EQ(escape_xml("\xc2\x9b" "31m"), "\\xc2\\x9b31m");          // what ESC [ is in 8 bits
  EXPECT_EQ(escape_xml("\xe2\x80\xaetxt"), "\\xe2\\x80\\xaetxt");  // from right to left
  EXPECT_EQ(escape_xml("\xe4z\xe2\x82"), "\\xe4z\\xe2\\x82");
  EXPECT_EQ(escape_xml("\xc0\xaf"), "\\xc0\\xaf");  // overlong
  EXPECT_EQ(escape_xml("a\xef\xbf\xbf" "b"), "a\xef\xbf\xbd" "b");  // no character of XML's
}

TEST(Xml, DocumentsOfOthersArePlain) {
  const std::string plain = "<target>\r\n\t<reg name='a&amp;b'/></target>\n";
  EXPECT_EQ(plain_xml(plain), plain);
  EXPECT_EQ(plain_xml("<r n\xb5='\x1b\xc2\x9b\x7f\xc3\x9b'/>"), "<r n_='______'/>");
  EXPECT_EQ(plain_xml("&#155;&#x9b;"), "&amp;#155;&amp;#x9b;");
  EXPECT_EQ(plain_xml("<!ENTITY e '&#38;#155;'>&"), "<!ENTITY e '&amp;#38;#155;'>&");
}

}  // namespace
}  // namespace tracewell::rsp
