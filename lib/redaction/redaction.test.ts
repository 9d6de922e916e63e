import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createRedactor } from "./redaction.ts";

const SECRETS = [
  "hunter2-correct-horse",
  "p'a\"s&s<w>o!r(d)*% +/=~\\x",
  "äöü-€-😀 secret!*()'",
  "Abcd1234",
  "k".repeat(30) + "-0123456789-ABCDEFGHIJKLMNOPQRSTUVWXYZ-abcdefghijklmnopqrstuvwxyz/+=".repeat(3),
];

const bytes = (value: string): string[] =>
  [...Buffer.from(value)].map((byte) => byte.toString(16).padStart(2, "0"));
const units = (value: string): string[] =>
  value.split("").map((unit) => unit.charCodeAt(0).toString(16).padStart(4, "0"));
const strict = (value: string): string =>
  encodeURIComponent(value).replaceAll(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
const wrapped = (text: string, width: number, end = "\n"): string =>
  (text.match(new RegExp(`.{1,${width}}`, "g")) ?? []).join(end);
const named: Record<string, string> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&apos;",
};
const html = (value: string): string => value.replaceAll(/[&<>"']/g, (character) => named[character] ?? "");
const base64 = (value: string, before = "", behind = ""): string =>
  Buffer.from(before + value + behind).toString("base64");

/** Encodings in which a program may print a value. */
const FORMS: readonly [name: string, encode: (value: string) => string][] = [
  ["as it stands", (value) => value],
  ["percent-encoded", encodeURIComponent],
  ["percent-encoded by RFC 3986", strict],
  [
    "percent-encoded in lower case",
    (value) => strict(value).replaceAll(/%../g, (byte) => byte.toLowerCase()),
  ],
  ["percent-encoded twice", (value) => strict(strict(value))],
  [
    "percent-encoded byte by byte",
    (value) =>
      bytes(value)
        .map((byte) => `%${byte}`)
        .join(""),
  ],
  ["in a form", (value) => new URLSearchParams({ v: value }).toString().slice(2)],
  ["with HTML names", html],
  ["with HTML names twice", (value) => html(html(value))],
  [
    "with HTML names of all punctuation",
    (value) => html(value).replaceAll("!", "&excl;").replaceAll("*", "&ast;").replaceAll("ä", "&auml;"),
  ],
  ["with decimal references", (value) => [...value].map((one) => `&#${one.codePointAt(0)};`).join("")],
  [
    "with hex references",
    (value) => [...value].map((one) => `&#x${one.codePointAt(0)?.toString(16)};`).join(""),
  ],
  [
    "with hex references in upper case",
    (value) => [...value].map((one) => `&#X${one.codePointAt(0)?.toString(16).toUpperCase()};`).join(""),
  ],
  ["with references for quotes alone", (value) => value.replaceAll("'", "&#39;").replaceAll('"', "&#034;")],
  ["as JSON", (value) => JSON.stringify(value).slice(1, -1)],
  ["as JSON in JSON", (value) => JSON.stringify(JSON.stringify(value)).slice(3, -3)],
  [
    "as JSON in ASCII",
    (value) =>
      units(value)
        .map((unit) => `\\u${unit}`)
        .join(""),
  ],
  [
    "as JSON for HTML",
    (value) =>
      value
        .replaceAll("\\", "\\\\")
        .replaceAll('"', '\\"')
        .replaceAll(/[<>&']/g, (one) => `\\u00${one.charCodeAt(0).toString(16)}`),
  ],
  [
    "in JavaScript bytes",
    (value) =>
      bytes(value)
        .map((byte) => `\\x${byte}`)
        .join(""),
  ],
  ["quoted for a shell", (value) => value.replaceAll("'", "'\\''")],
  ["quoted for a shell with double quotes", (value) => value.replaceAll("'", `'"'"'`)],
  ["quoted for a shell with backslashes", (value) => value.replaceAll(/[^\w\u0080-\uffff]/g, "\\$&")],
  ["quoted for a shell in JSON", (value) => JSON.stringify(value.replaceAll("'", "'\\''")).slice(1, -1)],
  ["in base64", base64],
  ["in base64 behind one byte", (value) => base64(value, "a:", "zz")],
  ["in base64 behind two bytes", (value) => base64(value, "ab", "z")],
  ["in base64url", (value) => Buffer.from(value).toString("base64url")],
  ["in base64 in a URL", (value) => encodeURIComponent(base64(value))],
  ["in base64 in JSON for PHP", (value) => base64(value).replaceAll("/", "\\/")],
  ["in base64 of 76 columns", (value) => wrapped(base64(value, "x".repeat(50)), 76)],
  ["in base64 of 64 columns with CRLF", (value) => wrapped(base64(value, "x".repeat(40)), 64, "\r\n")],
  ["in indented base64", (value) => wrapped(base64(value, "x".repeat(40)), 64, "\n    ")],
  ["in base64 of 76 columns in JSON", (value) => JSON.stringify(wrapped(base64(value, "x".repeat(51)), 76))],
  ["in hex", (value) => bytes(value).join("")],
  ["in upper hex", (value) => bytes(value).join("").toUpperCase()],
  ["in hex of 60 columns", (value) => wrapped(bytes(`${"x".repeat(20)}${value}`).join(""), 60)],
  ["in hex byte by byte", (value) => bytes(value).join(" ")],
  ["in hex with colons", (value) => bytes(value).join(":").toUpperCase()],
  ["in hex in groups", (value) => wrapped(bytes(value).join(""), 4, " ")],
  [
    "in hex in C",
    (value) =>
      bytes(value)
        .map((byte) => `0x${byte}`)
        .join(", "),
  ],
];

function redactor(values: readonly string[]): (text: string) => string {
  const { add, redact } = createRedactor();
  add(values);
  return redact;
}

describe("redaction", () => {
  it.each(FORMS)("finds a secret %s", (name, encode) => {
    const redact = redactor(SECRETS);
    for (const secret of SECRETS) {
      const clean = redact(`before ${encode(secret)} after`);
      expect(clean).toMatch(/^before .*\*\*\*.* after$/s);
      if (!name.includes("base64"))
        expect(clean.replaceAll(/x{8}|(?:78){4,}\s?|7\n?8/g, "").length).toBeLessThan(40);
      // The rest of the base64 around the secret does not reveal it.
      expect(Buffer.from(clean.replaceAll("***", ""), "base64").includes(secret.slice(0, 6))).toBe(false);
    }
  });

  it("finds any secret in any encoding", () => {
    const secret = fc
      .string({ unit: "grapheme", minLength: 4, maxLength: 40 })
      .filter((text) => text.isWellFormed() && /\S{4}/.test(text) && text.length >= 4);
    fc.assert(
      fc.property(secret, fc.constantFrom(...FORMS), (value, [, encode]) => {
        expect(redactor([value])(`<${encode(value)}>`)).toContain("***");
      }),
      { numRuns: 500 },
    );
  });

  it("leaves other text alone", () => {
    const redact = redactor(SECRETS);
    const text = "hunter2, Abcd123, %41%62, 41 62 63, &amp;#39; \\u0041 QWJjZDEy SGVsbG8= 'it'\\''s'";
    expect(redact(text)).toBe(text);
  });

  it("replaces overlapping secrets as one and adjacent ones separately", () => {
    const redact = redactor(["secret", "secret-longer"]);
    expect(redact("secret-longer secret secretsecret")).toBe("*** *** ******");
  });

  it("finds a secret across the chunks of a long text", () => {
    const redact = redactor(["correct-horse"]);
    for (let before = 65_500; before < 65_560; before += 7)
      expect(redact(`${"x".repeat(before)}correct-horse&#33;`)).toBe(`${"x".repeat(before)}***&#33;`);
  });

  it("takes linear time for any text", () => {
    const redact = redactor(['"\\\\\\x"', "%%%%%%%%", "&&&&'''\"\"", "aaaaaaaa"]);
    for (const part of ["\\", "%", "&amp;", "%25", "'", "'\\''", "a ", "61", "&#x0", "YWFh\n"]) {
      const started = process.cpuUsage().user;
      redact(part.repeat(40_000));
      expect(process.cpuUsage().user - started).toBeLessThan(3_000_000);
    }
  });
});
