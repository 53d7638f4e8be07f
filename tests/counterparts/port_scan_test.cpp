// The example port_scan, on ports of loopback that the test opens.
#include <string>

#include "counterparts/support.hpp"

namespace rouse::test {
namespace {

class PortScan : public Counterpart {};

TEST_F(PortScan, FindsThePortsThatAreOpenAndNoOther) {
  const std::string port_scan = built_example("port_scan");
  if (IsSkipped()) return;
  const std::uint16_t port = free_port();
  const std::string first = std::to_string(port);

  const Ended closed = run_program({port_scan, "127.0.0.1", first, first});
  EXPECT_EQ(closed.output, "0 of 1 ports of 127.0.0.1 are open\n");
  EXPECT_EQ(closed.status, 0);

  auto listener = rt.block_on(net::TcpListener::bind(text_of(port)));
  const Ended open = run_program({port_scan, "localhost", first, first});
  EXPECT_EQ(open.output, first + "\n1 of 1 ports of localhost are open\n");

  // Many at once, among them this one.
  const Ended many = run_program({port_scan, "127.0.0.1", "9000", "32000"});
  EXPECT_EQ(many.status, 0);
  EXPECT_TRUE(("\n" + many.output).find("\n" + first + "\n") != std::string::npos) << many.output;
  EXPECT_TRUE(many.output.find(" of 23001 ports") != std::string::npos) << many.output;
}

TEST_F(PortScan, SaysHowToUseItIfThePortsAreNone) {
  const std::string port_scan = built_example("port_scan");
  if (IsSkipped()) return;
  EXPECT_EQ(run_program({port_scan, "127.0.0.1", "1", "65536"}).status, 2);
  EXPECT_EQ(run_program({port_scan, "127.0.0.1", "one", "two"}).status, 2);
}

}  // namespace
}  // namespace rouse::test
