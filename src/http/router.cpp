#include "rouse/http/router.hpp"

#include <algorithm>

#include "rouse/base/assert.hpp"

#include "http/head.hpp"
#include "http/request_access.hpp"
#include "http/route_table.hpp"

namespace rouse::http {
namespace {

/// Takes the first segment off; nothing is left behind the last one.
std::string_view take_segment(std::string_view rest, std::optional<std::string_view>& next) {
  const std::size_t slash = rest.find('/');
  next = slash == std::string_view::npos ? std::nullopt : std::optional(rest.substr(slash + 1));
  return rest.substr(0, slash);
}

bool is_placeholder(std::string_view segment) noexcept {
  return segment.starts_with('{') && segment.ends_with('}') && segment.size() > 2;
}
std::string_view name_in(std::string_view placeholder) noexcept {
  return placeholder.substr(1, placeholder.size() - 2);
}

bool is_word(std::string_view word, std::string_view segment) {
  if (segment.find('%') == std::string_view::npos) return segment == word;
  return percent_decoded(segment) == word;
}

template <class Node>
Node& made(std::unique_ptr<Node>& node) {
  if (!node) node = std::make_unique<Node>();
  return *node;
}

}  // namespace

const RouteTable::Entry* RouteTable::Methods::find(Method method) const noexcept {
  const Entry* entry = by_method[static_cast<std::size_t>(method)].get();
  if (!entry && method == Method::head) {
    entry = by_method[static_cast<std::size_t>(Method::get)].get();
  }
  return entry ? entry : any.get();
}

bool RouteTable::Methods::empty() const noexcept {
  return !any && std::ranges::none_of(by_method, [](const auto& entry) { return bool(entry); });
}

Route& RouteTable::add(std::optional<Method> method, std::string_view path, Handler handler) {
  ROUSE_ASSERT(path.starts_with('/'), "the path of a route begins with '/': routes.get(\"/a\", f)");
  ROUSE_ASSERT(handler, "a route without a handler");
  auto entry = std::make_unique<Entry>(std::move(handler));
  Node* node = &root_;
  bool is_tail = false;
  for (std::optional<std::string_view> rest = path.substr(1); rest;) {
    ROUSE_ASSERT(!is_tail, "{rest...} is the end of the path of a route: nothing comes behind it");
    const std::string_view segment = take_segment(*rest, rest);
    if (!is_placeholder(segment)) {
      ROUSE_ASSERT(segment.find_first_of("{}") == std::string_view::npos,
                   "a {name} in the path of a route is all between two '/': \"/a/{name}/b\"");
      const auto word = std::ranges::find(
          node->words, segment, [](const auto& each) { return std::string_view(each.first); });
      if (word == node->words.end()) {
        node->words.emplace_back(segment, std::make_unique<Node>());
        node = node->words.back().second.get();
      } else {
        node = word->second.get();
      }
      continue;
    }
    std::string_view name = name_in(segment);
    is_tail = name.ends_with("...");
    if (is_tail) {
      name.remove_suffix(3);
    } else {
      node = &made(node->parameter);
    }
    entry->names.emplace_back(name);
  }
  ROUSE_ASSERT(entry->names.size() <= max_parameters, "a route has at most 16 {names}");
  Methods& methods = is_tail ? node->below : node->here;
  std::unique_ptr<Entry>& place =
      method ? methods.by_method[static_cast<std::size_t>(*method)] : methods.any;
  ROUSE_ASSERT(!place, "two routes with the same method and path: which one is it to be?");
  place = std::move(entry);
  return place->route;
}

Route& RouteTable::set_otherwise(Handler handler) {
  ROUSE_ASSERT(handler, "a route without a handler");
  otherwise_ = std::make_unique<Entry>(std::move(handler));
  return otherwise_->route;
}

void RouteTable::look_at(const Methods& methods, Search& found) noexcept {
  if (!found.of_path && !methods.empty()) found.of_path = &methods;
  found.entry = methods.find(found.method);
}

/// Words first, then a parameter, then what is below: the first of them that has the method.
void RouteTable::search(const Node& node, std::string_view rest, Search& found) {
  std::optional<std::string_view> next;
  const std::string_view segment = take_segment(rest, next);
  const auto go_on = [&](const Node& child) {
    if (next) {
      search(child, *next, found);
    } else {
      look_at(child.here, found);
    }
    return found.entry != nullptr;
  };
  for (const auto& [word, child] : node.words) {
    if (is_word(word, segment) && go_on(*child)) return;
  }
  if (node.parameter && !segment.empty()) {
    found.captured.push_back(segment);
    if (go_on(*node.parameter)) return;
    found.captured.pop_back();
  }
  if (node.below.empty()) return;
  look_at(node.below, found);
  if (found.entry) found.captured.push_back(rest);
}

const Route* RouteTable::find(Request& request, std::string& allow) const {
  Search found{request.method(), {}, nullptr, nullptr};
  const std::string_view target = origin_form(request.target());
  const std::string_view path = target.substr(0, target.find('?'));
  if (path.starts_with('/')) search(root_, path.substr(1), found);
  if (!found.entry) {
    if (otherwise_) return &otherwise_->route;
    if (!found.of_path) return nullptr;
    for (std::size_t i = 0; i < found.of_path->by_method.size(); ++i) {
      const bool is_head = i == static_cast<std::size_t>(Method::head);
      if (!found.of_path->by_method[i] &&
          !(is_head && found.of_path->by_method[static_cast<std::size_t>(Method::get)])) {
        continue;
      }
      allow += name_of(static_cast<Method>(i));
      allow += ", ";
    }
    allow += "OPTIONS";
    return nullptr;
  }
  RequestAccess access(request);
  for (std::size_t i = 0; i < found.captured.size(); ++i) {
    // It was decoded as a part of the path before.
    access.add_parameter(found.entry->names[i],
                         percent_decoded(found.captured[i]).value_or(std::string()));
  }
  return &found.entry->route;
}

Router::Router() : table_(make_ref<RouteTable>()) {}
Router::Router(const Router& other) noexcept = default;
Router::Router(Router&& other) noexcept = default;
Router& Router::operator=(Router other) noexcept {
  std::swap(table_, other.table_);
  return *this;
}
Router::~Router() = default;

Route& Router::add(Method method, std::string_view path, Handler handler) {
  return table_->add(method, path, std::move(handler));
}
Route& Router::any(std::string_view path, Handler handler) {
  return table_->add(std::nullopt, path, std::move(handler));
}
Route& Router::otherwise(Handler handler) { return table_->set_otherwise(std::move(handler)); }

}  // namespace rouse::http
