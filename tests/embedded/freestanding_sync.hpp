// The part of the firmware that tests what of sync needs no system. A lost wake shows as a hang.
#pragma once

bool notify_works() noexcept;
bool mutex_works() noexcept;
bool barrier_works() noexcept;
bool once_cell_works() noexcept;
