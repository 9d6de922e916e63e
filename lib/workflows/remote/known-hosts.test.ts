import { createHmac } from "node:crypto";
import { describe, expect, it } from "vitest";
import { fingerprint, knownHostsLine, readKnownHosts } from "./known-hosts.ts";

/** A public key in the wire format: its type, then bytes. */
const keyOf = (byte: number, type = "ssh-ed25519"): Buffer => {
  const name = Buffer.from(type);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(name.length);
  return Buffer.concat([length, name, Buffer.alloc(36, byte)]);
};
const OURS = keyOf(1);
const OTHER = keyOf(2);
const RSA = keyOf(3, "ssh-rsa");
const line = (hosts: string, key = OURS, type = "ssh-ed25519"): string =>
  `${hosts} ${type} ${key.toString("base64")} a comment\n`;
const hashed = (name: string): string => {
  const salt = Buffer.alloc(20, 7);
  return `|1|${salt.toString("base64")}|${createHmac("sha1", salt).update(name).digest("base64")}`;
};

describe("a known_hosts file", () => {
  it.each([
    ["the name", line("db.example"), "known"],
    ["the name among others", line("a,db.example,10.0.0.1"), "known"],
    ["the name in capitals", line("DB.Example"), "known"],
    ["a pattern", line("*.example"), "known"],
    ["a pattern with one character", line("d?.example"), "known"],
    ["a pattern with an exception", line("*.example,!db.example"), "unknown"],
    ["a hash of the name", line(hashed("db.example")), "known"],
    ["a hash of another name", line(hashed("other.example")), "unknown"],
    ["another port", line("[db.example]:2222"), "unknown"],
    ["a part of the name", line("example"), "unknown"],
    ["nothing", "", "unknown"],
    ["a comment", `# ${line("db.example")}`, "unknown"],
    ["a broken line", "db.example ssh-ed25519\n\n", "unknown"],
    ["another key", line("db.example", OTHER), "changed"],
    ["a key of another kind", line("db.example", RSA, "ssh-rsa"), "changed"],
    ["several keys", line("db.example", OTHER) + line("db.example"), "known"],
    ["the key revoked", `${line("db.example")}@revoked ${line("*")}`, "revoked"],
    ["another key revoked", `${line("db.example")}@revoked ${line("*", OTHER)}`, "known"],
    ["a certificate authority", `@cert-authority ${line("*.example")}`, "unknown"],
  ])("with %s", (_, text, verdict) => {
    expect(readKnownHosts(text, "db.example", 22).judge(OURS)).toBe(verdict);
  });

  it("names a host with its port if that is not 22", () => {
    expect(readKnownHosts(line("[db.example]:2222"), "db.example", 2222).judge(OURS)).toBe("known");
    expect(readKnownHosts(line("db.example"), "db.example", 2222).judge(OURS)).toBe("unknown");
    expect(readKnownHosts(line(hashed("[db.example]:2222")), "db.example", 2222).judge(OURS)).toBe("known");
  });

  it("lists the types of the keys that it has for a host", () => {
    const text = line("db", RSA, "ssh-rsa") + line("db") + line("other", OTHER, "ecdsa-sha2-nistp256");
    expect(readKnownHosts(text, "db", 22).types).toEqual(["ssh-rsa", "ssh-ed25519"]);
  });

  it("is extended by the line in the error message", () => {
    const added = knownHostsLine("db.example", 2222, OURS);
    expect(readKnownHosts(`${added}\n`, "db.example", 2222).judge(OURS)).toBe("known");
    expect(fingerprint(OURS)).toMatch(/^SHA256:[A-Za-z0-9+/]{43}$/);
  });

  it("with a pattern of many stars is matched in linear time", () => {
    const started = process.cpuUsage().user;
    expect(readKnownHosts(line("*a".repeat(2_000)), "a".repeat(255), 22).judge(OURS)).toBe("unknown");
    expect(process.cpuUsage().user - started).toBeLessThan(500_000);
  });
});
