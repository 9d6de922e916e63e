import { describe, expect, it } from "vitest";
import { renderUrl } from "./render-url.ts";
import { TemplateError } from "./template-error.ts";

describe("a URL", () => {
  it.each([
    ["{{v}}/x", "https://h:1/a?b#c", "https://h:1/a?b#c/x"],
    ["\n {{v}}/x", "https://h", "https://h/x"],
    ["{{none}}{{v}}", "a/b", "a%2Fb"],
    ["{{s}}{{v}}", "a/b", "https://ha%2Fb"],
    ["https://h/{{v}}/y", "a/b?c#d e", "https://h/a%2Fb%3Fc%23d%20e/y"],
    ["https://h/{{v}}/y", "../..", "https://h/..%2F../y"],
    ["https://h/?q={{v}}&r=1", "a&b=c #é", "https://h/?q=a%26b%3Dc%20%23%C3%A9&r=1"],
    ["https://h/?q={{v}}", "..", "https://h/?q=.."],
    ["https://{{v}}/x", "example.com:8080", "https://example.com:8080/x"],
    ["https://{{v}}/x", "[::1]:80", "https://[::1]:80/x"],
    ["https://{{v}}/x", "user@evil.com/p?q#f", "https://user%40evil.com%2Fp%3Fq%23f/x"],
    ["https://{{v}}?x", "a\\b", "https://a%5Cb?x"],
    ["{{p}}://{{v}}/x", "h:1", "https://h:1/x"],
    ["https://h/{{v | raw}}", "a/b?c", "https://h/a/b?c"],
    ["https://h/{{v | urlencode}}", "a/b", "https://h/a%2Fb"],
    ["https://h/{{v}}", "\ud800", "https://h/%EF%BF%BD"],
    ["https://h/{{v}}", "{{s}}", "https://h/%7B%7Bs%7D%7D"],
  ])("%j with %j", (template, v, expected) => {
    expect(renderUrl(template, { v, s: "https://h", p: "https" })).toBe(expected);
  });

  it.each([".", ".."])("rejects a value that is the path segment %j", (v) => {
    expect(() => renderUrl("https://h/a/{{v}}/b", { v })).toThrow(TemplateError);
  });
});
