// lookup_host against getent, which asks the same resolver: the hosts file for "localhost". A name
// server of our own (dnsmasq) can be asked only through /etc/resolv.conf, which is not a test's to
// change; so the test makes a mount and a network namespace where the file is its own. Where the
// system does not let it, that one is skipped.
#include <algorithm>
#include <set>
#include <sstream>
#include <string>

#include "counterparts/support.hpp"

namespace rouse::test {
namespace {

class Lookup : public Counterpart {};

TEST_F(Lookup, LocalhostHasTheAddressesOfTheHostsFile) {
  const std::string getent = program("getent");
  if (IsSkipped()) return;
  std::set<std::string> expected;
  std::istringstream lines(run_program({getent, "ahosts", "localhost"}).output);
  for (std::string line; std::getline(lines, line);) {
    expected.insert(line.substr(0, line.find(' ')));
  }
  ASSERT_FALSE(expected.empty());

  const auto found = run(net::lookup_host({"localhost", 80}));
  std::set<std::string> addresses;
  for (const net::SocketAddr& address : found) {
    EXPECT_EQ(address.port(), 80);
    EXPECT_TRUE(address.ip().is_loopback()) << address;
    addresses.insert(address.ip().to_string());
  }
  EXPECT_EQ(addresses, expected);
  EXPECT_EQ(addresses.size(), found.size()) << "an address was given twice";
}

TEST_F(Lookup, NamesAreAskedOfTheNameServer) {
  const std::string dnsmasq = program("dnsmasq");
  const std::string unshare = program("unshare");
  const std::string ip = program("ip");
  const std::string port_scan = built_example("port_scan");
  if (IsSkipped()) return;
  const std::string separate = unshare + " -Urmnpf --mount-proc --kill-child ";
  const TempDirectory files;
  files.write("resolv.conf", "nameserver 127.0.0.1\n");
  const std::string prepare =
      ip + " link set lo up && mount --bind " + files.file("resolv.conf") + " /etc/resolv.conf";
  if (run_shell(separate + "sh -c '" + prepare + "' 2>&1").status != 0) {
    GTEST_SKIP() << "no namespaces for users: /etc/resolv.conf can't be replaced for a test";
  }

  // The example looks the name up, and finds the name server itself at the address.
  files.write("script", prepare + "\n" + dnsmasq +
                            " --no-daemon --user= --group= --pid-file= --conf-file=/dev/null "
                            "--no-hosts --no-resolv --address=/counterpart.test/127.0.0.1 "
                            "--address=/missing.test/ --listen-address=127.0.0.1 "
                            "--bind-interfaces 2>/dev/null &\n" +
                            "until " + port_scan + " 127.0.0.1 53 53 | grep -q ^53; do " +
                            "sleep 0.05; done\n" + port_scan + " counterpart.test 53 53\n" +
                            port_scan + " missing.test 53 53 2>&1\n");
  const Ended ended = run_shell("exec " + separate + "sh " + files.file("script"));
  EXPECT_EQ(ended.status, 1) << "of the last lookup";
  const std::string expected =
      "53\n1 of 1 ports of counterpart.test are open\nrouse::run: the main task ended with an "
      "exception: Name or service not known\n  thrown after ";
  EXPECT_EQ(ended.output.substr(0, expected.size()), expected) << ended.output;
}

}  // namespace
}  // namespace rouse::test
