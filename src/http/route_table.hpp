// RouteTable: the routes as a tree of the segments of their paths.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rouse/base/inplace_vector.hpp"
#include "rouse/base/ref_ptr.hpp"
#include "rouse/http/router.hpp"

namespace rouse::http {

class RouteTable : public RefCounted<RouteTable> {
 public:
  static constexpr std::size_t max_parameters = 16;

  Route& add(std::optional<Method> method, std::string_view path, Handler handler);
  Route& set_otherwise(Handler handler);

  /// The route of this request, whose parameters are then those of its path. Null: none; `allow`
  /// has the methods that the path has, if there are any.
  [[nodiscard]] const Route* find(Request& request, std::string& allow) const;

 private:
  /// A route, and what its parameters are called.
  struct Entry {
    explicit Entry(Handler handler) : route(std::move(handler)) {}
    Route route;
    std::vector<std::string> names;
  };
  /// The routes of one path.
  struct Methods {
    std::array<std::unique_ptr<Entry>, 9> by_method;
    std::unique_ptr<Entry> any;

    [[nodiscard]] const Entry* find(Method method) const noexcept;
    [[nodiscard]] bool empty() const noexcept;
  };
  struct Node {
    std::vector<std::pair<std::string, std::unique_ptr<Node>>> words;
    std::unique_ptr<Node> parameter;
    Methods here;
    Methods below;  // {rest...}
  };
  using Captured = InplaceVector<std::string_view, max_parameters>;
  /// What a search has found: a route, or at least a path.
  struct Search {
    Method method;
    Captured captured;
    const Entry* entry = nullptr;
    const Methods* of_path = nullptr;
  };

  static void search(const Node& node, std::string_view rest, Search& found);
  static void look_at(const Methods& methods, Search& found) noexcept;

  Node root_;
  std::unique_ptr<Entry> otherwise_;
};

}  // namespace rouse::http
