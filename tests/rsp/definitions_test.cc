// Random definitions, variables, actions and statuses: what is written reads back as the same.
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "rsp/actions.h"
#include "rsp/definitions.h"
#include "rsp/status.h"
#include "rsp/text.h"

namespace tracewell::rsp {
namespace {

class Dice {
 public:
  explicit Dice(uint64_t seed) : random_(seed) {}
  uint64_t below(uint64_t end) { return random_() % end; }
  bool coin() { return below(2) == 0; }
  /// Of any size: one bit to 64.
  uint64_t number() { return random_() >> below(64); }
  std::string text(size_t max) {
    std::string out(below(max + 1), ' ');
    for (char& c : out) c = static_cast<char>(random_());
    return out;
  }
  std::vector<uint8_t> code(size_t max) {
    const std::string raw = text(max);
    return {raw.begin(), raw.end()};
  }

 private:
  std::mt19937_64 random_;
};

Action random_action(Dice& dice) {
  Action action;
  action.kind = static_cast<Action::Kind>(dice.below(4));
  if (action.kind == Action::Kind::Registers) {
    action.register_mask = dice.code(20);
    while (!action.register_mask.empty() && action.register_mask.back() == 0)
      action.register_mask.pop_back();
  }
  if (action.kind == Action::Kind::Memory) {
    action.base_register = dice.coin() ? -1 : static_cast<int32_t>(dice.number() & 0x7fffffff);
    action.offset = dice.number();
    action.length = dice.number();
  }
  if (action.kind == Action::Kind::Expression) action.code = dice.code(30);
  return action;
}

TracepointDef random_definition(Dice& dice) {
  TracepointDef one;
  one.number = static_cast<uint32_t>(dice.number());
  one.address = dice.number();
  one.enabled = dice.coin();
  one.step_count = dice.number();
  one.pass_count = dice.number();
  if (dice.coin()) one.fast_length = dice.number();
  one.is_static = dice.coin();
  one.condition = dice.code(20);
  for (uint64_t i = dice.below(4); i > 0; --i)
    one.actions.push_back(format_action(random_action(dice)));
  for (uint64_t i = dice.below(4); i > 0; --i)
    one.step_actions.push_back(format_action(random_action(dice)));
  static const char* const kTypes[] = {"at", "cond", "cmd"};
  for (uint64_t i = dice.below(5); i > 0; --i)
    one.sources.push_back({kTypes[dice.below(3)], dice.text(30)});
  if (dice.coin()) one.usage = TracepointDef::Usage{dice.number(), dice.number()};
  return one;
}

void expect_same(const TracepointDef& a, const TracepointDef& b) {
  EXPECT_EQ(a.number, b.number);
  EXPECT_EQ(a.address, b.address);
  EXPECT_EQ(a.enabled, b.enabled);
  EXPECT_EQ(a.step_count, b.step_count);
  EXPECT_EQ(a.pass_count, b.pass_count);
  EXPECT_EQ(a.fast_length, b.fast_length);
  EXPECT_EQ(a.is_static, b.is_static);
  EXPECT_EQ(a.condition, b.condition);
  EXPECT_EQ(a.actions, b.actions);
  EXPECT_EQ(a.step_actions, b.step_actions);
  ASSERT_EQ(a.sources.size(), b.sources.size());
  for (size_t i = 0; i < a.sources.size(); ++i) {
    EXPECT_EQ(a.sources[i].type, b.sources[i].type);
    EXPECT_EQ(a.sources[i].text, b.sources[i].text);
  }
  ASSERT_EQ(a.usage.has_value(), b.usage.has_value());
  EXPECT_EQ(a.usage.value_or(TracepointDef::Usage()).hits,
            b.usage.value_or(TracepointDef::Usage()).hits);
  EXPECT_EQ(a.usage.value_or(TracepointDef::Usage()).bytes,
            b.usage.value_or(TracepointDef::Usage()).bytes);
}

TEST(Definitions, PiecesReadBackAsTheSameDefinitions) {
  Dice dice(1);
  for (int round = 0; round < 300; ++round) {
    std::vector<TracepointDef> definitions;
    for (uint32_t i = 0; i < 4; ++i) {
      definitions.push_back(random_definition(dice));
      definitions.back().number = i / 2;  // pairs share a number, not an address
      definitions.back().address = (definitions.back().address & ~uint64_t{3}) | i;
    }
    DefinitionBuilder builder;
    std::vector<TracepointDef> list;
    const size_t chunk = dice.below(10);
    for (const TracepointDef& one : definitions) {
      for (const std::string& piece : format_pieces(one, chunk)) {
        std::string leftover = "not cleared";
        ASSERT_TRUE(builder.apply(piece, &leftover).ok()) << piece;
        ASSERT_TRUE(apply_piece(list, piece).ok()) << piece;
        EXPECT_EQ(leftover, "");
      }
    }
    ASSERT_EQ(builder.definitions().size(), definitions.size());
    ASSERT_EQ(list.size(), definitions.size());
    for (size_t i = 0; i < definitions.size(); ++i) {
      expect_same(builder.definitions()[i], definitions[i]);
      expect_same(list[i], definitions[i]);
    }
  }
}

TEST(Definitions, TakingLeavesAnEmptyBuilder) {
  DefinitionBuilder builder;
  ASSERT_TRUE(builder.apply("T1:10:E:0:0").ok());
  EXPECT_EQ(builder.take().size(), 1u);
  EXPECT_TRUE(builder.definitions().empty());
  ASSERT_TRUE(builder.apply("T1:10:E:0:0").ok());
  EXPECT_EQ(builder.definitions().size(), 1u);
}

TEST(Definitions, ManyTracepointsTakeLinearTime) {
  // A quadratic builder would take minutes for these.
  DefinitionBuilder builder;
  for (uint64_t i = 0; i < 200000; ++i)
    ASSERT_TRUE(builder.apply("T" + hex_number(i & 7) + ":" + hex_number(i << 4) + ":E:0:0").ok());
  EXPECT_EQ(builder.definitions().size(), 200000u);
}

TEST(Definitions, SourcePiecesAreCutAsAsked) {
  TracepointDef one;
  one.sources = {{"cmd", "abcdef"}};
  EXPECT_EQ(format_pieces(one, 4)[1], "Z0:0:cmd:0:6:61626364");
  EXPECT_EQ(format_pieces(one, 4)[2], "Z0:0:cmd:4:6:6566");
  EXPECT_EQ(format_pieces(one, 6).size(), 2u);
}

TEST(Actions, TextsReadBackAsTheSameActions) {
  Dice dice(2);
  for (int round = 0; round < 500; ++round) {
    std::vector<Action> actions;
    std::vector<std::string> pieces;
    std::string text;
    for (uint64_t i = dice.below(6); i > 0; --i) {
      actions.push_back(random_action(dice));
      pieces.push_back(format_action(actions.back()));
      text += pieces.back();
    }
    const auto parsed = parse_actions(text);
    ASSERT_TRUE(parsed.ok()) << text;
    EXPECT_EQ(*parsed, actions) << text;
    EXPECT_EQ(*split_actions(text), pieces) << text;
  }
}

TEST(Actions, AMaskIsWrittenMostSignificantByteFirst) {
  const auto actions = parse_actions("R0140");
  ASSERT_TRUE(actions.ok());
  EXPECT_EQ((*actions)[0].register_mask, (std::vector<uint8_t>{0x40, 0x01}));
}

TEST(Variables, TextsReadBackAsTheSameVariables) {
  Dice dice(3);
  for (int round = 0; round < 500; ++round) {
    VariableDef one;
    one.number = static_cast<uint32_t>(dice.number());
    one.initial_value = static_cast<int64_t>(dice.number());
    one.builtin = dice.coin();
    one.name = dice.text(10);
    for (const bool padded : {false, true}) {
      const auto back = parse_variable(format_variable(one, padded));
      ASSERT_TRUE(back.ok());
      EXPECT_EQ(back->number, one.number);
      EXPECT_EQ(back->initial_value, one.initial_value);
      EXPECT_EQ(back->builtin, one.builtin);
      EXPECT_EQ(back->name, one.name);
    }
  }
}

RunStatus random_status(Dice& dice) {
  RunStatus status;
  status.running = dice.coin();
  status.stop = static_cast<RunStatus::Stop>(dice.below(7));
  status.stop_text = dice.text(10);
  status.stop_tracepoint = static_cast<uint32_t>(dice.number());
  for (auto* number : {&status.frames, &status.frames_created, &status.start_time_us,
                       &status.stop_time_us})
    if (dice.coin()) *number = dice.number();
  for (auto* size : {&status.buffer_free, &status.buffer_size})
    if (dice.coin()) *size = dice.below(0x80000000);
  for (auto* flag : {&status.circular, &status.disconnected})
    if (dice.coin()) *flag = dice.coin();
  for (auto* text : {&status.user_name, &status.notes})
    if (dice.coin()) *text = dice.text(10);
  return status;
}

TEST(Status, TextsReadBackAsTheSameStatus) {
  Dice dice(4);
  for (int round = 0; round < 500; ++round) {
    using Stop = RunStatus::Stop;
    const RunStatus status = random_status(dice);
    std::vector<std::string> unknown;
    const auto wire = parse_status(format_status(status), &unknown);
    ASSERT_TRUE(wire.ok());
    EXPECT_EQ(format_status(*wire), format_status(status));
    EXPECT_EQ(wire->running, status.running);
    // Only an error has room for a text.
    const bool spelled_as_error = status.stop == Stop::Unknown && !status.stop_text.empty();
    EXPECT_EQ(wire->stop, spelled_as_error ? Stop::Failed : status.stop);
    EXPECT_EQ(wire->frames, status.frames);
    EXPECT_EQ(wire->frames_created, status.frames_created);
    EXPECT_EQ(wire->buffer_free, status.buffer_free);
    EXPECT_EQ(wire->buffer_size, status.buffer_size);
    EXPECT_EQ(wire->circular, status.circular);
    EXPECT_EQ(wire->disconnected, status.disconnected);
    EXPECT_EQ(wire->start_time_us, status.start_time_us);
    EXPECT_EQ(wire->stop_time_us, status.stop_time_us);
    EXPECT_EQ(wire->user_name, status.user_name);
    EXPECT_EQ(wire->notes, status.notes);
    const auto file = parse_status(format_status_tfile(status), &unknown);
    ASSERT_TRUE(file.ok());
    EXPECT_EQ(format_status_tfile(*file), format_status_tfile(status));
    EXPECT_TRUE(unknown.empty());
  }
}

}  // namespace
}  // namespace tracewell::rsp
