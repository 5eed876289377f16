#include "model/stream.h"

namespace tracewell {

Status pump(Source& source, Sink& sink) {
  TW_RETURN_IF_ERROR(sink.begin(source.catalog()));
  Batch batch;
  while (true) {
    TW_ASSIGN_OR_RETURN(const bool more, source.next(batch));
    if (!more) return sink.finish();
    TW_RETURN_IF_ERROR(sink.write(batch));
  }
}

}  // namespace tracewell
