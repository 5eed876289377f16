// Guardian: what keeps a traced program whole when its server is killed by a signal that nobody
// can catch. The process that the user started is only the server's face: it hands signals on and
// waits. Its child traces. When the face is killed, the kernel sends the child SIGTERM, and it ends
// as it would have otherwise: what it attached to goes on without a patch left in its code. The
// child has a name of its own (`tw-tracer`), for those who kill by name.
//
// A child that is to end and cannot, since a call of the kernel's holds it that no signal ends, is
// left behind after a while, which the face says.
//
// The other way round there is little to be done: with the tracing process the kernel lets go of
// every program at once, patches and all, and only one process can trace. What was started dies
// with it (PTRACE_O_EXITKILL).
#pragma once

#include <functional>
#include <string_view>

namespace tracewell::server {

/// Returns in the child. The parent stays inside and then exits as the child did. To be called
/// while there is one thread, with handlers for SIGTERM to be installed before watch_face(). `tell`
/// is called in the parent, with a sentence for its user.
void become_guarded(const std::function<void(std::string_view)>& tell);

/// In the child: from now on the face's end is a SIGTERM to us; at once, if it has ended already.
void watch_face();

/// In the child: it is to be left behind, by a face that ends. False: there is no face.
bool stay_behind();

/// The process that the user started.
int server_pid();

/// In the child: is the face gone?
bool face_is_gone();

}  // namespace tracewell::server
