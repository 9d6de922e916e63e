import { createHash, createHmac, timingSafeEqual } from "node:crypto";

export type Verdict = "known" | "unknown" | "changed" | "revoked";

interface Entry {
  readonly type: string;
  readonly key: string;
  readonly revoked: boolean;
}

/** The keys that a known_hosts file has for one host. */
export interface KnownKeys {
  /** Types of the keys, to request one of them from the host. */
  readonly types: readonly string[];
  /** `changed` if the file has only other keys for the host. */
  judge(key: Buffer): Verdict;
}

/**
 * Reads a file in the format of OpenSSH: names with `*`, `?` and `!`, hashed names, `@revoked`. Keys of certificate
 * authorities are ignored.
 */
export function readKnownHosts(text: string, host: string, port: number): KnownKeys {
  const name = hostName(host, port);
  const entries = text.split("\n").flatMap((line) => entryFor(line, name));
  const valid = entries.filter(({ revoked }) => !revoked);
  return {
    types: [...new Set(valid.map(({ type }) => type))],
    judge: (key) => {
      const base64 = key.toString("base64");
      if (entries.some((entry) => entry.revoked && entry.key === base64)) return "revoked";
      if (valid.length === 0) return "unknown";
      return valid.some((entry) => entry.key === base64) ? "known" : "changed";
    },
  };
}

/** The name of a host in OpenSSH files. */
export function hostName(host: string, port: number): string {
  const lower = host.toLowerCase();
  return port === 22 ? lower : `[${lower}]:${port}`;
}

/** The known_hosts line for a key. */
export function knownHostsLine(host: string, port: number, key: Buffer): string {
  return `${hostName(host, port)} ${keyType(key)} ${key.toString("base64")}`;
}

/** In the format of `ssh-keygen -l`. */
export function fingerprint(key: Buffer): string {
  return `SHA256:${createHash("sha256").update(key).digest("base64").replace(/=+$/, "")}`;
}

/** Every public key begins with the name of its type. */
export function keyType(key: Buffer): string {
  const length = key.length >= 4 ? key.readUInt32BE(0) : 0;
  return key.toString("latin1", 4, 4 + Math.min(length, 64));
}

function entryFor(line: string, name: string): Entry[] {
  const words = line.trim().split(/\s+/);
  const marker = words[0]?.startsWith("@") ? words.shift() : undefined;
  const [hosts, type, key] = words;
  if (hosts === undefined || type === undefined || key === undefined || hosts.startsWith("#")) return [];
  if (marker !== undefined && marker !== "@revoked") return [];
  return isMeant(hosts, name) ? [{ type, key, revoked: marker !== undefined }] : [];
}

function isMeant(hosts: string, name: string): boolean {
  if (hosts.startsWith("|")) return isHashOf(hosts, name);
  const patterns = hosts.toLowerCase().split(",");
  if (patterns.some((pattern) => pattern.startsWith("!") && matches(pattern.slice(1), name))) return false;
  return patterns.some((pattern) => matches(pattern, name));
}

function isHashOf(hashed: string, name: string): boolean {
  const [, version, salt = "", hash = ""] = hashed.split("|");
  if (version !== "1") return false;
  const wanted = Buffer.from(hash, "base64");
  const found = createHmac("sha1", Buffer.from(salt, "base64")).update(name).digest();
  return wanted.length === found.length && timingSafeEqual(wanted, found);
}

/** Supports only `*` and `?`; linear, since matching only backtracks to the last star. */
function matches(pattern: string, name: string): boolean {
  let at = 0;
  let star = -1;
  let resume = 0;
  let index = 0;
  while (index < name.length) {
    const character = pattern[at];
    if (character === "*") {
      star = at;
      resume = index;
      at += 1;
    } else if (character === "?" || character === name[index]) {
      at += 1;
      index += 1;
    } else if (star >= 0) {
      at = star + 1;
      resume += 1;
      index = resume;
    } else return false;
  }
  while (pattern[at] === "*") at += 1;
  return at === pattern.length;
}
