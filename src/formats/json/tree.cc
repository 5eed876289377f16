#include "formats/json/tree.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace tracewell::formats::json {
namespace {

/// The vector below an object, which can be indexed by number.
using Members = Json::object_t::Container;

/// The number of each member in the order of their names; those of one name as they stand.
/// Sorted and not hashed: nobody can choose names that make it slow.
std::vector<size_t> by_name(const Members& members) {
  std::vector<size_t> order(members.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::sort(order, [&](size_t a, size_t b) {
    const int names = members[a].first.compare(members[b].first);
    return names != 0 ? names < 0 : a < b;
  });
  return order;
}

}  // namespace

Json& add_member(Json& object, std::string name, Json value) {
  Members& members = object.get_ref<Json::object_t&>();
  members.emplace_back(std::move(name), std::move(value));
  return members.back().second;
}

void join_repeated(Json& object) {
  Members& members = object.get_ref<Json::object_t&>();
  const std::vector<size_t> order = by_name(members);
  std::vector<bool> gone;
  for (size_t i = 0, end = 0; i < order.size(); i = end) {
    const std::string& name = members[order[i]].first;
    for (end = i + 1; end < order.size() && members[order[end]].first == name; ++end) {
      if (gone.empty()) gone.resize(members.size());
      gone[order[end]] = true;
    }
    if (end > i + 1) members[order[i]].second = std::move(members[order[end - 1]].second);
  }
  if (gone.empty()) return;
  Members kept;  // their names are const: nothing can be moved up in place
  for (size_t i = 0; i < members.size(); ++i)
    if (!gone[i]) kept.emplace_back(members[i].first, std::move(members[i].second));
  members.swap(kept);
}

namespace {

/// Takes what the parser reads, in its order.
class TreeBuilder final : public nlohmann::json_sax<Json> {
 public:
  Json take() { return std::move(root_); }

  bool null() override { return put(nullptr); }
  bool boolean(bool value) override { return put(value); }
  bool number_integer(number_integer_t value) override { return put(value); }
  bool number_unsigned(number_unsigned_t value) override { return put(value); }
  bool number_float(number_float_t value, const string_t&) override { return put(value); }
  bool string(string_t& value) override { return put(std::move(value)); }
  bool binary(binary_t&) override { return false; }  // no text has any

  bool start_object(size_t) override { return open(Json::object()); }
  bool key(string_t& name) override {
    name_ = std::move(name);
    return true;
  }
  bool end_object() override {
    join_repeated(*open_.back());
    open_.pop_back();
    return true;
  }
  bool start_array(size_t) override { return open(Json::array()); }
  bool end_array() override {
    open_.pop_back();
    return true;
  }

  bool parse_error(size_t, const std::string&, const nlohmann::detail::exception&) override {
    return false;
  }

 private:
  /// Where the value came to stand: until the next one comes beside it.
  Json& place(Json value) {
    if (open_.empty()) return root_ = std::move(value);
    Json& parent = *open_.back();
    if (parent.is_array()) return parent.get_ref<Json::array_t&>().emplace_back(std::move(value));
    return add_member(parent, std::move(name_), std::move(value));
  }
  bool put(Json value) {
    place(std::move(value));
    return true;
  }
  bool open(Json value) {
    open_.push_back(&place(std::move(value)));
    return true;
  }

  Json root_;
  std::vector<Json*> open_;  // objects and arrays, the outermost one first
  std::string name_;         // of the member whose value comes next
};

}  // namespace

std::optional<Json> build_tree(std::string_view text) {
  TreeBuilder builder;
  if (!Json::sax_parse(text.begin(), text.end(), &builder)) return std::nullopt;
  return builder.take();
}

}  // namespace tracewell::formats::json
