// The host as a device: what it is asked for has happened when the call returns, so that streams and events are nothing.
#pragma once
#include "runtime/device/device.hpp"

namespace spdistal::runtime {

/// From any thread, all of it.
Device& host_device();

}  // namespace spdistal::runtime
