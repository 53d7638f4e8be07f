// Handshakes: what both ends agree on.
#include <array>
#include <string>
#include <utility>

#include "rouse/io/copy.hpp"

#include "tls/support.hpp"

namespace {

using namespace rouse;
using namespace rouse::test;

TEST(Handshake, BothEndsCanTalk) {
  const tls::Connector connector(client_config());
  const tls::Acceptor acceptor(server_config());
  auto [client, server] = connect(connector, acceptor);
  ASSERT_TRUE(client) << client.error().message();
  ASSERT_TRUE(server) << server.error().message();
  block_on(client->write_all("hello"));
  block_on(client->flush());
  std::array<char, 16> buf{};
  EXPECT_EQ(block_on(server->read(buf)), 5U);
  EXPECT_EQ(std::string(buf.data(), 5), "hello");
  block_on(server->write_all("bye"));
  block_on(server->shutdown());
  EXPECT_EQ(block_on(client->read_to_string()), "bye");
}

}  // namespace
