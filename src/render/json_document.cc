#include "render/json_document.h"

#include <nlohmann/json.hpp>

#include "base/text/message.h"

namespace tracewell::render {

std::string json_document(const nlohmann::ordered_json& json, int indent) {
  std::string out;
  append_plain_json(
      out, json.dump(indent, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
  return out;
}

}  // namespace tracewell::render
