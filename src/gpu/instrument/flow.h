// Which point can follow which. While code is walked in the order it runs in, nodes are added and joined; a node is a
// point or a mere place where ways meet. Conservative: a way that the code seems to have is taken to be possible, and a
// call goes into the function and past it, so that what is listed holds both for the stream of a warp and for one
// function's own points. One object for all functions of a program. Cost: a search from every point.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace cairn::instrument {

class Flow {
 public:
  static constexpr int kNone = -1;  ///< no way leads here

  /// A node that `from` leads to, or that nothing leads to yet.
  int add(int from = kNone, int point = kNone);
  void join(int from, int to);
  /// `node` calls the function with that key, which may be declared later or elsewhere.
  void call(int node, const std::string &function) { calls_.emplace_back(node, function); }
  /// `node` is the first of a function with that key.
  void enter(const std::string &function, int node) { entries_[function].push_back(node); }

  /// The first point of the function with that key, or kNone.
  [[nodiscard]] int first_point(const std::string &function) const;
  /// Pairs of points, without repetition, by the first and then the second.
  [[nodiscard]] std::vector<std::pair<int, int>> successors() const;

 private:
  struct Node {
    int point;
    std::vector<int> next;
  };
  std::vector<Node> nodes_;
  std::vector<std::pair<int, std::string>> calls_;
  std::map<std::string, std::vector<int>> entries_;
};

}  // namespace cairn::instrument
