// Framing: streams of frames over streams of bytes. A contents page.
#pragma once

#include "rouse/io/codec.hpp"                   // IWYU pragma: export
#include "rouse/io/framed_read.hpp"             // IWYU pragma: export
#include "rouse/io/framed_write.hpp"            // IWYU pragma: export
#include "rouse/io/length_delimited_codec.hpp"  // IWYU pragma: export
#include "rouse/io/lines_codec.hpp"             // IWYU pragma: export
