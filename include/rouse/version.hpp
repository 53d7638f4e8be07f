// The version of rouse, for the preprocessor. This is the only place where it is written down: the
// build reads it from here, and stops if the string and the numbers disagree.
#pragma once

#define ROUSE_VERSION_MAJOR 0
#define ROUSE_VERSION_MINOR 1
#define ROUSE_VERSION_PATCH 0
#define ROUSE_VERSION "0.1.0"
