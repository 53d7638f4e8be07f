#include "sight/metrics.hpp"
#include "sight/sites.hpp"
#include "sys/describe_code.hpp"

namespace rouse::sight {
namespace {

void write_place(Out& out, std::string_view member, const std::source_location& place) {
  out.put(",\"").put(member).put("\":{\"file\":").put_json(place.file_name());
  out.put(",\"line\":").put(std::uint64_t{place.line()});
  out.put(",\"column\":").put(std::uint64_t{place.column()});
  out.put(",\"function\":").put_json(place.function_name()).put('}');
}

void write(Out& out, const MergedSite& site) {
  out.put("{\"tasks\":").put(site.tasks).put(",\"polls\":").put(site.polls);
  out.put(",\"busy_ns\":").put(site.busy_ns).put(",\"longest_ns\":").put(site.longest_ns);
  if (site.longest_at.line() != 0) write_place(out, "longest_at", site.longest_at);
  if (site.name != nullptr) out.put(",\"name\":").put_json(site.name);
  if (site.place.source().line() != 0) write_place(out, "spawned", site.place.source());
  if (site.place.code() != 0) {
    const sys::CodePlace code = sys::place_of_code(site.place.code());
    out.put(",\"spawned\":{\"module\":").put_json(code.module == nullptr ? "" : code.module);
    out.put(",\"offset\":\"").put_hex(code.offset).put("\"}");
  }
  out.put('}');
}

}  // namespace

void write_sites(Out& out) {
  const MergedSites merged;
  out.put("{\"format\":1,\"sites\":[");
  for (const MergedSite& site : merged.sites()) {
    out.put(&site == merged.sites().data() ? "\n" : ",\n");
    write(out, site);
  }
  out.put("],\n\"others\":");
  write(out, merged.others());
  out.put("}\n");
}

}  // namespace rouse::sight
