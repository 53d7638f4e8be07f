#include "rouse/http/status.hpp"

namespace rouse::http {

std::string_view reason_of(Status status) noexcept {
  switch (status) {
    case Status::continue_:
      return "Continue";
    case Status::switching_protocols:
      return "Switching Protocols";
    case Status::early_hints:
      return "Early Hints";
    case Status::ok:
      return "OK";
    case Status::created:
      return "Created";
    case Status::accepted:
      return "Accepted";
    case Status::no_content:
      return "No Content";
    case Status::reset_content:
      return "Reset Content";
    case Status::partial_content:
      return "Partial Content";
    case Status::multiple_choices:
      return "Multiple Choices";
    case Status::moved_permanently:
      return "Moved Permanently";
    case Status::found:
      return "Found";
    case Status::see_other:
      return "See Other";
    case Status::not_modified:
      return "Not Modified";
    case Status::temporary_redirect:
      return "Temporary Redirect";
    case Status::permanent_redirect:
      return "Permanent Redirect";
    case Status::bad_request:
      return "Bad Request";
    case Status::unauthorized:
      return "Unauthorized";
    case Status::payment_required:
      return "Payment Required";
    case Status::forbidden:
      return "Forbidden";
    case Status::not_found:
      return "Not Found";
    case Status::method_not_allowed:
      return "Method Not Allowed";
    case Status::not_acceptable:
      return "Not Acceptable";
    case Status::request_timeout:
      return "Request Timeout";
    case Status::conflict:
      return "Conflict";
    case Status::gone:
      return "Gone";
    case Status::length_required:
      return "Length Required";
    case Status::precondition_failed:
      return "Precondition Failed";
    case Status::content_too_large:
      return "Content Too Large";
    case Status::uri_too_long:
      return "URI Too Long";
    case Status::unsupported_media_type:
      return "Unsupported Media Type";
    case Status::range_not_satisfiable:
      return "Range Not Satisfiable";
    case Status::expectation_failed:
      return "Expectation Failed";
    case Status::im_a_teapot:
      return "I'm a teapot";
    case Status::misdirected_request:
      return "Misdirected Request";
    case Status::unprocessable_content:
      return "Unprocessable Content";
    case Status::too_early:
      return "Too Early";
    case Status::upgrade_required:
      return "Upgrade Required";
    case Status::precondition_required:
      return "Precondition Required";
    case Status::too_many_requests:
      return "Too Many Requests";
    case Status::header_fields_too_large:
      return "Request Header Fields Too Large";
    case Status::unavailable_for_legal_reasons:
      return "Unavailable For Legal Reasons";
    case Status::internal_server_error:
      return "Internal Server Error";
    case Status::not_implemented:
      return "Not Implemented";
    case Status::bad_gateway:
      return "Bad Gateway";
    case Status::service_unavailable:
      return "Service Unavailable";
    case Status::gateway_timeout:
      return "Gateway Timeout";
    case Status::version_not_supported:
      return "HTTP Version Not Supported";
    case Status::insufficient_storage:
      return "Insufficient Storage";
  }
  return {};
}

}  // namespace rouse::http
