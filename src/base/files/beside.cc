#include "base/files/beside.h"

#include <utility>

#include <fmt/format.h>

#include "base/files/paths.h"
#include "base/files/planted.h"
#include "base/text/text.h"

namespace tracewell {

Result<Place> place_to_keep(const std::string& path, const Original& original) {
  TW_ASSIGN_OR_RETURN(Place place, place_beside(path));
  const auto refuse = [&](std::string_view why) {
    return Error{Errc::InvalidArgument, fmt::format("cannot write {}: {}", printable(path), why),
                 {}};
  };
  if (!place.folder.valid()) return refuse("it stands for an open file");
  FoundRules rules;
  rules.folder = place.folder.get();
  const auto there = open_found(file_name_of(original.path), rules);
  if (!there.ok()) return refuse(there.error().message);
  TW_ASSIGN_OR_RETURN(const FileFacts facts, facts_of(there->get(), original.path));
  if (!facts.is_same(original.facts))
    return refuse(fmt::format("{} is another file by now than the one that was opened",
                              printable(original.path)));
  return place;
}

}  // namespace tracewell
