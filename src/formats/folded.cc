// Call stacks as flamegraph.pl reads them, "folded": a line `lowest;…;innermost count` for each
// distinct stack. The count is that of instructions executed in the innermost function itself.
// Written only; docs/formats/folded.md
#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "formats/format.h"
#include "formats/steps/call_tree.h"
#include "formats/steps/module_map.h"
#include "formats/steps/steps_only.h"

namespace tracewell::formats {
namespace {

constexpr std::string_view kExtensions[] = {"folded"};
// Of a stack's names. Each stack is written with all of its callers, and there may be as many as
// calls: a small trace would become thousands of times its size.
constexpr size_t kStackMax = 16 << 10;
// Of all whole stacks: deep ones of few bytes each, by the ten thousand, would make as much.
constexpr uint64_t kTextBase = 64 << 20, kTextPerStep = 64;
// Of an innermost function whose callers are left out. A longer one shows as its address.
constexpr size_t kShortNameMax = 64;

class FoldedWriter final : public Sink {
 public:
  static Result<std::unique_ptr<Sink>> create(OutputFile file, const SaveOptions&) {
    return std::unique_ptr<Sink>(new FoldedWriter(std::move(file)));
  }

  std::vector<std::string> refuses(const Catalog& catalog) const override {
    std::vector<std::string> out = {
        "only how many instructions each stack of callers executed is kept"};
    StepsOnly::refuse_processes(catalog, out);
    if (catalog.machine != "x86-64" && catalog.machine != "i386")
      out.push_back(fmt::format("calls and returns of {} are not known", catalog.machine));
    return out;
  }

  Status begin(const Catalog& catalog) override {
    map_ = ModuleMap(catalog);
    names_ = ModuleMap::short_names(catalog, steps_);
    for (std::string& name : names_) std::replace(name.begin(), name.end(), ';', ':');
    tree_.emplace(catalog.machine);
    return {};
  }

  Status write(const Batch& batch) override {
    for (const Event& event : batch.events()) {
      if (const auto* step = std::get_if<Step>(&event.body)) {
        steps_.of_process(event.process);
        tree_->step(event.tid, *step);
        continue;
      }
      const auto* mark = std::get_if<Mark>(&event.body);
      if (mark && mark->session) tree_->restart();
      if (std::holds_alternative<Lost>(event.body)) tree_->gap();
      TW_RETURN_IF_ERROR(steps_.other(event, "folded"));
    }
    return {};
  }

  Status finish() override {
    steps_.count("call{ is|s are} not shown, because stacks are too deep or too many; their "
                 "instructions count as the caller's",
                 tree_->cut());
    steps_.count("instruction{|s} could not be decoded; calls among them are not shown",
                 tree_->undecoded());
    TW_RETURN_IF_ERROR(write_stacks());
    return file_.commit();
  }

  std::vector<std::string> left_out() const override { return steps_.left_out(); }

 private:
  explicit FoldedWriter(OutputFile file) : file_(std::move(file)) {}

  std::string name(const CallTree::Node& node) const {
    if (node.parent == CallTree::kNoParent)
      return node.address == 0 ? "thread" : fmt::format("thread {}", node.address);
    const auto place = map_.find(node.address);
    if (!place) return fmt::format("{:#x}", node.address);
    return fmt::format("{}+{:#x}", names_[place->module], place->offset);
  }

  /// Of each node and all below it.
  static std::vector<uint64_t> all_steps(const std::vector<CallTree::Node>& nodes) {
    std::vector<uint64_t> out(nodes.size());
    for (size_t i = nodes.size(); i-- > 0;) {  // callees come behind their callers
      out[i] += nodes[i].steps;
      if (nodes[i].parent != CallTree::kNoParent) out[nodes[i].parent] += out[i];
    }
    return out;
  }

  /// Depth first, callees by ascending address.
  Status write_stacks() {
    const std::vector<CallTree::Node>& nodes = tree_->nodes();
    const std::vector<uint64_t> all = all_steps(nodes);
    for (const CallTree::Node& node : nodes) text_left_ += kTextPerStep * node.steps;
    uint64_t cut = 0;
    std::vector<uint32_t> order(nodes.size());
    std::iota(order.begin(), order.end(), 0u);
    // Those without a parent come last, the callees of each node in one run.
    std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
      return std::pair(nodes[a].parent, nodes[a].address) <
             std::pair(nodes[b].parent, nodes[b].address);
    });
    struct Level {
      size_t next, end;  // into `order`
      size_t prefix;     // length of the callers' names
    };
    const auto callees = [&](uint32_t parent, size_t prefix) {
      const auto by_parent = [&](uint32_t a, uint32_t b) { return nodes[a].parent < b; };
      const auto low = std::lower_bound(order.begin(), order.end(), parent, by_parent);
      auto high = low;
      while (high != order.end() && nodes[*high].parent == parent) ++high;
      return Level{static_cast<size_t>(low - order.begin()),
                   static_cast<size_t>(high - order.begin()), prefix};
    };
    std::string line;
    uint32_t thread = 0;
    std::vector<Level> levels = {callees(CallTree::kNoParent, 0)};
    while (!levels.empty()) {
      Level& level = levels.back();
      line.resize(level.prefix);
      if (level.next == level.end) {
        levels.pop_back();
        continue;
      }
      const uint32_t index = order[level.next++];
      const uint64_t steps = nodes[index].steps, below = all[index] - steps;
      if (levels.size() == 1) thread = index;
      if (!line.empty()) line += ';';
      line += name(nodes[index]);
      if (steps != 0 && !has_room(line))
        shorten(thread, nodes[index]);
      else if (steps != 0)
        TW_RETURN_IF_ERROR(file_.write(fmt::format("{} {}\n", line, steps)));
      if (below == 0) continue;
      if (line.size() < kStackMax || !has_room(line)) {
        levels.push_back(callees(index, line.size()));
      } else {
        TW_RETURN_IF_ERROR(file_.write(fmt::format("{};… {}\n", line, below)));
        ++cut;
      }
    }
    steps_.count("stack{ is|s are} cut behind 16 KiB of names: what they call is one frame, …",
                 cut);
    return write_short();
  }

  /// Takes the room of a line of these names. Once there is none, there is none for further ones.
  bool has_room(const std::string& names) {
    constexpr size_t kCount = 32;  // and what else stands there
    if (text_left_ < names.size() + kCount) text_left_ = 0;
    text_left_ -= std::min<uint64_t>(text_left_, names.size() + kCount);
    return text_left_ != 0;
  }

  void shorten(uint32_t thread, const CallTree::Node& node) {
    const bool is_thread = node.parent == CallTree::kNoParent;
    short_[{thread, is_thread ? std::nullopt : std::optional(node.address)}] += node.steps;
    ++shortened_;
  }

  /// Stacks for which there was no room, those of one thread and innermost function together.
  Status write_short() {
    for (const auto& [place, steps] : short_) {
      const auto& [thread, function] = place;
      const std::string first = name(tree_->nodes()[thread]);
      if (!function) {
        TW_RETURN_IF_ERROR(file_.write(fmt::format("{} {}\n", first, steps)));
        continue;
      }
      std::string last = name({.parent = thread, .address = *function, .steps = 0});
      if (last.size() > kShortNameMax) last = fmt::format("{:#x}", *function);
      TW_RETURN_IF_ERROR(file_.write(fmt::format("{};…;{} {}\n", first, last, steps)));
    }
    steps_.count("stack{ is|s are} without the frames in the middle, which are one frame, …: the "
                 "text has 64 MiB and 64 bytes for each instruction",
                 shortened_);
    return {};
  }

  OutputFile file_;
  ModuleMap map_;
  StepsOnly steps_;
  std::vector<std::string> names_;
  std::optional<CallTree> tree_;
  uint64_t text_left_ = kTextBase;  // of whole stacks
  uint64_t shortened_ = 0;
  /// Steps in the function, or in the thread outside of any.
  std::map<std::pair<uint32_t, std::optional<uint64_t>>, uint64_t> short_;
};

}  // namespace

const Format& folded_format() {
  static const Format kFormat{.name = "folded",
                              .extensions = kExtensions,
                              .description = "folded call stacks",
                              .binary = false,
                              .create = FoldedWriter::create};
  return kFormat;
}

}  // namespace tracewell::formats
