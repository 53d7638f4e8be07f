// Prometheus: a text in the exposition format, version 0.0.4, strictly parsed: each metric has its
// HELP and TYPE, once, in front of its samples; no sample is there twice; histograms are whole.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <limits>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sight/json.hpp"

namespace rouse::test {

class Prometheus {
 public:
  using Labels = std::map<std::string, std::string>;
  struct Sample {
    std::string name;
    Labels labels;
    double value = 0;
  };

  /// Throws std::runtime_error, and says what is wrong.
  explicit Prometheus(std::string_view text) {
    if (text.empty() || text.back() != '\n') fail("the last line has no end");
    while (!text.empty()) {
      const std::size_t end = text.find('\n');
      line_ = text.substr(0, end);
      text.remove_prefix(end + 1);
      if (line_.starts_with("# HELP ")) {
        begin_family(line_.substr(7));
      } else if (line_.starts_with("# TYPE ")) {
        set_type(line_.substr(7));
      } else {
        add_sample();
      }
    }
    for (const auto& [family, type] : types_) {
      if (type == "histogram") check_histogram(family);
    }
  }

  [[nodiscard]] const std::vector<Sample>& samples() const { return samples_; }
  [[nodiscard]] const std::map<std::string, std::string>& types() const { return types_; }
  /// Of all samples of that name that have these labels, and maybe more.
  [[nodiscard]] double sum(const std::string& name, const Labels& labels = {}) const {
    double sum = 0;
    for (const Sample& sample : samples_) {
      if (sample.name == name && has(sample, labels)) sum += sample.value;
    }
    return sum;
  }
  [[nodiscard]] std::size_t count(const std::string& name, const Labels& labels = {}) const {
    return static_cast<std::size_t>(std::count_if(
        samples_.begin(), samples_.end(),
        [&](const Sample& sample) { return sample.name == name && has(sample, labels); }));
  }

 private:
  static bool has(const Sample& sample, const Labels& labels) {
    return std::all_of(labels.begin(), labels.end(), [&](const auto& label) {
      const auto found = sample.labels.find(label.first);
      return found != sample.labels.end() && found->second == label.second;
    });
  }
  [[noreturn]] void fail(const std::string& why) const {
    throw std::runtime_error("no metrics: " + why + ": " + std::string(line_));
  }
  static bool is_name(std::string_view text) {
    if (text.empty() || (text[0] >= '0' && text[0] <= '9')) return false;
    return text.find_first_not_of(
               "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789") ==
           std::string_view::npos;
  }

  void begin_family(std::string_view rest) {
    const std::size_t space = rest.find(' ');
    if (space == std::string_view::npos || space + 1 == rest.size()) fail("no help");
    family_ = rest.substr(0, space);
    if (!is_name(family_)) fail("a wrong name");
    if (!types_.emplace(family_, "").second) fail("twice");
  }
  void set_type(std::string_view rest) {
    const std::size_t space = rest.find(' ');
    if (rest.substr(0, space) != family_ || !types_[family_].empty()) fail("a TYPE out of place");
    const std::string type(rest.substr(space + 1));
    if (type != "counter" && type != "gauge" && type != "histogram") fail("a wrong type");
    if ((type == "counter") != family_.ends_with("_total")) fail("counters alone are _total");
    types_[family_] = type;
  }

  void add_sample() {
    Sample sample;
    std::string_view left = line_;
    const std::size_t end = left.find_first_of("{ ");
    if (end == std::string_view::npos) fail("no value");
    sample.name = left.substr(0, end);
    left.remove_prefix(end);
    const std::string& type = types_[family_];
    if (type == "histogram"
            ? sample.name != family_ + "_bucket" && sample.name != family_ + "_sum" &&
                  sample.name != family_ + "_count"
            : type.empty() || sample.name != family_) {
      fail("a sample out of place");
    }
    if (left[0] == '{') parse_labels(left, sample.labels);
    if (left.empty() || left[0] != ' ') fail("no space before the value");
    sample.value = number(left.substr(1));
    if (!seen_.emplace(sample.name, sample.labels).second) fail("the same sample twice");
    samples_.push_back(std::move(sample));
  }
  void parse_labels(std::string_view& left, Labels& labels) {
    do {
      left.remove_prefix(1);
      const std::size_t equals = left.find("=\"");
      if (equals == std::string_view::npos || !is_name(left.substr(0, equals))) fail("a label");
      const std::string name(left.substr(0, equals));
      left.remove_prefix(equals + 2);
      std::string value;
      while (!left.empty() && left[0] != '"') {
        if (left[0] == '\\') {
          left.remove_prefix(1);
          if (left.empty() || (left[0] != '\\' && left[0] != '"' && left[0] != 'n')) fail("escape");
          value += left[0] == 'n' ? '\n' : left[0];
          left.remove_prefix(1);
          continue;
        }
        const std::size_t length = Json::utf8_length(left);
        if (length == 0 || static_cast<unsigned char>(left[0]) < 0x20) fail("no plain UTF-8");
        value += left.substr(0, length);
        left.remove_prefix(length);
      }
      if (left.size() < 2) fail("no end of a label");
      left.remove_prefix(1);
      if (!labels.emplace(name, value).second) fail("a label twice");
    } while (left[0] == ',');
    if (left[0] != '}') fail("no end of the labels");
    left.remove_prefix(1);
  }
  double number(std::string_view text) const {
    if (text == "+Inf") return std::numeric_limits<double>::infinity();
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) fail("no number");
    return value;
  }

  /// For each set of other labels: buckets that grow, with +Inf, which is the count.
  void check_histogram(const std::string& family) {
    std::map<Labels, std::vector<std::pair<double, double>>> buckets;
    for (const Sample& sample : samples_) {
      if (sample.name != family + "_bucket") continue;
      Labels labels = sample.labels;
      const double bound = number(labels["le"]);
      labels.erase("le");
      buckets[labels].emplace_back(bound, sample.value);
    }
    for (const auto& [labels, steps] : buckets) {
      for (std::size_t i = 1; i < steps.size(); ++i) {
        if (steps[i].first <= steps[i - 1].first) fail(family + ": bounds out of order");
        if (steps[i].second < steps[i - 1].second) fail(family + ": buckets are cumulative");
      }
      if (steps.back().first != std::numeric_limits<double>::infinity()) fail(family + ": no +Inf");
      if (count(family + "_sum", labels) != 1) fail(family + ": no sum");
      if (count(family + "_count", labels) != 1) fail(family + ": no count");
      if (sum(family + "_count", labels) != steps.back().second) fail(family + ": another count");
    }
  }

  std::string_view line_;
  std::string family_;
  std::map<std::string, std::string> types_;
  std::set<std::pair<std::string, Labels>> seen_;
  std::vector<Sample> samples_;
};

}  // namespace rouse::test
