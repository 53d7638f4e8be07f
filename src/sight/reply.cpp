#include "sight/reply.hpp"

#include "sight/answer.hpp"

namespace rouse::sight {

Reply reply_to(std::string_view path, std::string_view query) {
  HttpHead head{HttpStatus::ok, {}};
  head.request.path = path;
  head.request.query = query;
  BodyRoom room;
  Answer answer;
  answer.make(head, room);
  Reply reply;
  reply.status = static_cast<unsigned>(answer.status());
  reply.content_type = answer.content_type();
  reply.policy = answer.policy();
  reply.body = answer.body();
  return reply;
}

}  // namespace rouse::sight
