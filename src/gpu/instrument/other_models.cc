#include "gpu/instrument/other_models.h"

#include <sstream>
#include <vector>

namespace cairn::instrument {
namespace {

/// Of a directive, from its `#`: "#pragma", "omp", "target". Empty for other lines.
std::vector<std::string> directive(const std::string &line) {
  const size_t begin = line.find_first_not_of(" \t");
  if (begin == std::string::npos || line[begin] != '#') return {};
  std::istringstream in(line.substr(begin + 1));
  std::vector<std::string> words = {"#"};
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

std::string model_of(const std::vector<std::string> &words) {
  if (words.size() < 3) return {};
  const std::string &first = words[2];
  if (words[1] == "include" && first.find("sycl/sycl.hpp") != std::string::npos) return "SYCL";
  if (words[1] == "include" && first.find("CL/sycl.hpp") != std::string::npos) return "SYCL";
  if (words[1] != "pragma") return {};
  if (first == "acc") return "OpenACC";
  for (size_t i = 3; first == "omp" && i < words.size(); ++i) {
    if (words[i] == "target" || words[i].starts_with("target(")) return "OpenMP offload";
  }
  return {};
}

}  // namespace

OtherModel other_model(const std::string &text) {
  OtherModel found;
  std::istringstream in(text);
  std::string line;
  for (unsigned number = 1; found.name.empty() && std::getline(in, line); ++number) {
    found.name = model_of(directive(line));
    found.line = number;
  }
  found.alone = text.find("__global__") == std::string::npos && text.find("<<<") == std::string::npos;
  return found;
}

}  // namespace cairn::instrument
