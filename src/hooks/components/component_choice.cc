#include "hooks/components/component_choice.h"

#include <fnmatch.h>

#include <algorithm>

#include <fmt/format.h>

#include "base/text/text.h"

namespace tracewell::hooks {
namespace {

bool fits_one_of(const std::vector<std::string>& patterns, const std::string& text) {
  return std::ranges::any_of(patterns, [&](const std::string& pattern) {
    return pattern == "all" || ::fnmatch(pattern.c_str(), text.c_str(), 0) == 0;
  });
}

bool is_selected(const ComponentChoice& choice, const Component& one) {
  return fits_one_of(choice.names, one.name()) || fits_one_of(choice.aliases, one.alias()) ||
         fits_one_of(choice.types, one.type());
}

/// With children, a name stands for all below it, also where no component has it itself.
bool is_below_selected(const ComponentChoice& choice, const Component& one) {
  return std::ranges::any_of(choice.names, [&](const std::string& pattern) {
    return ::fnmatch((pattern + ".*").c_str(), one.name().c_str(), 0) == 0;
  });
}

/// Is `child` below `parent`? By their names.
bool is_below(const Component& child, const Component& parent) {
  return child.pid() == parent.pid() && child.name().starts_with(parent.name() + ".");
}

}  // namespace

Status ComponentChoice::check() const {
  for (const auto* list : {&names, &aliases, &types})
    for (const std::string& one : *list)
      if (one.empty() || one.find_first_of(" \t\n") != std::string::npos)
        return {Errc::InvalidArgument, fmt::format("'{}' is no pattern", printable(one))};
  return {};
}

std::vector<Component> ComponentChoice::of(const std::vector<Component>& all) const {
  std::vector<Component> chosen, out;
  for (const Component& one : all)
    if (!selects() || is_selected(*this, one) || (children && is_below_selected(*this, one)))
      chosen.push_back(one);
  for (const Component& one : all) {
    const bool wanted = std::ranges::any_of(chosen, [&](const Component& it) {
      return (it.pid() == one.pid() && it.name() == one.name()) ||
             (children && is_below(one, it)) || (parents && is_below(it, one));
    });
    if (wanted) out.push_back(one);
  }
  return out;
}

}  // namespace tracewell::hooks
