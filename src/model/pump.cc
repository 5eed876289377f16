#include "model/stream.h"

namespace tracewell {

Status pump(Source& source, Sink& sink, const std::function<Status()>& go_on) {
  TW_RETURN_IF_ERROR(sink.begin(source.catalog()));
  Batch batch;
  while (true) {
    if (go_on) TW_RETURN_IF_ERROR(go_on());
    TW_ASSIGN_OR_RETURN(const bool more, source.next(batch));
    if (!more) return sink.finish();
    TW_RETURN_IF_ERROR(sink.write(batch));
  }
}

Status pump(Source& source, Sink& sink) { return pump(source, sink, {}); }

}  // namespace tracewell
