import type { IncomingMessage } from "node:http";
import type { NetworkInterfaceInfo } from "node:os";
import { describe, expect, it } from "vitest";
import { clientAddress } from "./forwarding.ts";
import { nodeAddress } from "./node-address.ts";

const requestFrom = (remoteAddress: string, forwarded?: string): IncomingMessage =>
  ({ headers: { "x-forwarded-for": forwarded }, socket: { remoteAddress } }) as unknown as IncomingMessage;

describe("the address of a client", () => {
  it.each([
    [0, "203.0.113.9", "192.0.2.1"],
    [1, "203.0.113.9", "203.0.113.9"],
    [1, "forged, 203.0.113.9", "203.0.113.9"],
    [2, "forged, 203.0.113.9, 10.0.0.2", "203.0.113.9"],
    [1, undefined, "192.0.2.1"],
    [3, "203.0.113.9", "192.0.2.1"],
  ])("behind %d proxies with %j is %s", (proxies, forwarded, expected) => {
    expect(clientAddress(requestFrom("192.0.2.1", forwarded), proxies)).toBe(expected);
  });
});

describe("the address of a node", () => {
  const address = (name: string, more: object = {}): NetworkInterfaceInfo[] =>
    [{ address: name, family: "IPv4", internal: false, ...more }] as NetworkInterfaceInfo[];
  const interfaces = {
    lo: address("127.0.0.1", { internal: true }),
    metadata: address("169.254.172.2"),
    eth1: [...address("fe80::1", { family: "IPv6" }), ...address("10.0.1.7")],
  };

  it.each([
    ["0.0.0.0", "10.0.1.7:4444"],
    ["::", "10.0.1.7:4444"],
    ["127.0.0.1", "127.0.0.1:4444"],
    ["::1", "[::1]:4444"],
  ])("that listens at %s is %s", (host, expected) => {
    expect(nodeAddress(host, 4444, interfaces)).toBe(expected);
  });

  it("is the machine's own if it has no network", () => {
    expect(nodeAddress("0.0.0.0", 4444, {})).toBe("127.0.0.1:4444");
  });
});
