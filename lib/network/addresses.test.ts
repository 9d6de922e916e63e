import { describe, expect, it } from "vitest";
import type { NetworkPolicy } from "../settings/config.ts";
import { kindOfAddress } from "./addresses.ts";
import { checkHost } from "./policy.ts";

describe("the kind of an address", () => {
  it.each([
    ["169.254.169.254", "internal"],
    ["169.254.170.2", "internal"],
    ["169.254.100.1", "internal"],
    ["100.100.100.200", "internal"],
    ["168.63.129.16", "internal"],
    ["fd00:ec2::254", "internal"],
    ["fe80::1%eth0", "internal"],
    ["::ffff:169.254.169.254", "internal"],
    ["::ffff:a9fe:a9fe", "internal"],
    ["::ffff:0:a9fe:a9fe", "internal"],
    ["::169.254.169.254", "internal"],
    ["64:ff9b::a9fe:a9fe", "internal"],
    ["2002:a9fe:a9fe::1", "internal"],
    ["2001:0:1:2:3:4:5601:5601", "internal"],
    ["no address", "internal"],
    ["", "internal"],
    ["127.0.0.1", "loopback"],
    ["0.0.0.0", "loopback"],
    ["::1", "loopback"],
    ["::", "loopback"],
    ["::127.0.0.1", "loopback"],
    ["64:ff9b::7f00:1", "loopback"],
    ["10.0.0.1", "private"],
    ["172.31.255.255", "private"],
    ["192.168.1.1", "private"],
    ["100.64.0.1", "private"],
    ["198.18.0.1", "private"],
    ["224.0.0.1", "private"],
    ["255.255.255.255", "private"],
    ["fc00::1", "private"],
    ["ff02::1", "private"],
    ["64:ff9b:1::1", "private"],
    ["2002:c0a8:0101::1", "private"],
    ["172.32.0.1", "public"],
    ["8.8.8.8", "public"],
    ["::ffff:8.8.8.8", "public"],
    ["64:ff9b::808:808", "public"],
    ["2002:808:808::1", "public"],
    ["2606:4700::1111", "public"],
  ])("%s is %s", (address, kind) => {
    expect(kindOfAddress(address)).toBe(kind);
  });
});

const ALLOW: NetworkPolicy = { privateAddresses: "allow", loopback: "as private" };
const DENY: NetworkPolicy = { privateAddresses: "deny", loopback: "as private" };
const IN_LAMBDA: NetworkPolicy = { privateAddresses: "allow", loopback: "deny" };

const refusal = (url: string, policy: NetworkPolicy): string => {
  try {
    checkHost(new URL(url), policy);
    return "";
  } catch (error) {
    return (error as Error).message;
  }
};

describe("the host of a URL", () => {
  it.each([
    "http://169.254.169.254/latest/meta-data/",
    "http://2852039166/",
    "http://0xa9fea9fe/",
    "http://0xa9.0xfe.0xa9.0xfe/",
    "http://0251.0376.0251.0376/",
    "http://169.254.43518/",
    "http://169.16689662/",
    "http://①⑥⑨.②⑤④.①⑥⑨.②⑤④/",
    "http://１６９.２５４.１６９.２５４/",
    "http://169.254.169.254./",
    "http://user@169.254.169.254/",
    "http://example.org%5C@169.254.169.254/",
    "http://[::ffff:a9fe:a9fe]/",
    "http://[::ffff:169.254.169.254]/",
    "http://[fd00:ec2::254]/",
    "http://169.254.170.2/v2/credentials",
    "http://169.254.100.1/",
    "http://metadata.google.internal/computeMetadata/v1/",
    "http://METADATA.google.internal./",
    "https://metadata/",
  ])("%s is rejected under every policy", (url) => {
    expect(refusal(url, ALLOW)).toMatch(/metadata/);
    expect(refusal(url, DENY)).toMatch(/metadata/);
  });

  it.each([
    "http://127.1/",
    "http://2130706433/",
    "http://0x7f000001/",
    "http://0177.0.0.1/",
    "http://0/",
    "http://[::1]/",
    "http://[64:ff9b::7f00:1]/",
    "http://[::127.0.0.1]/",
    "http://127.0.0.1:9001/2018-06-01/runtime/invocation/next",
  ])("%s is this machine: rejected like private addresses, and in Lambda", (url) => {
    expect(refusal(url, ALLOW)).toBe("");
    expect(refusal(url, DENY)).toMatch(/private address.*HTTP_STEP_PRIVATE_ADDRESSES/);
    expect(refusal(url, IN_LAMBDA)).toMatch(/loopback address of the function's machine/);
  });

  it.each(["http://10.1.2.3/", "http://192.168.0.1/", "http://[fc00::1]/"])(
    "%s is private: rejected only by the policy",
    (url) => {
      expect(refusal(url, ALLOW)).toBe("");
      expect(refusal(url, IN_LAMBDA)).toBe("");
      expect(refusal(url, DENY)).toMatch(/private address/);
    },
  );

  it("on the Internet is allowed", () => {
    expect(refusal("https://8.8.8.8/", DENY)).toBe("");
    expect(refusal("https://example.org/", DENY)).toBe("");
  });
});
