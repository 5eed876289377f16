// Gives memory back to the system in a thread of its own, piece by piece: the system takes some
// 0.3 s for a gigabyte, and longer where a disk is busy. Whoever traces has others to look after.
#pragma once

#include <atomic>
#include <functional>
#include <thread>
#include <utility>

namespace tracewell::agent {

class PagesBack {
 public:
  /// Gives a piece back; false: that was the last one.
  using Piece = std::function<bool()>;

  PagesBack() = default;
  ~PagesBack() { stop(); }
  PagesBack(const PagesBack&) = delete;
  PagesBack& operator=(const PagesBack&) = delete;

  /// Called in that thread behind each piece, and when all of it is done. May be empty.
  void on_piece(std::function<void()> tell) { tell_ = std::move(tell); }
  /// All pieces; here and now where there can be no thread. None may be under way.
  void start(Piece piece);
  /// All pieces, here and now.
  static void run(const Piece& piece) {
    while (piece()) continue;
  }
  bool ended() const { return ended_.load(std::memory_order_acquire); }
  /// For all of it.
  void wait();
  /// For the piece that is under way; no more of them.
  void stop();

 private:
  std::function<void()> tell_;
  std::atomic<bool> ended_{true}, stop_{false};
  std::thread thread_;
};

}  // namespace tracewell::agent
