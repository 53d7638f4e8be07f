#include "rouse/exec/park.hpp"

namespace rouse {

Park::~Park() = default;

}  // namespace rouse
