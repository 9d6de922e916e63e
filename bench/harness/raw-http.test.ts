import fc from "fast-check";
import { expect, it } from "vitest";
import { parseResponse, rawRequest } from "./raw-http.ts";

const HEAD = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n";
const whole = (body: string): string => `${HEAD}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
const chunked = (parts: readonly string[]): string => {
  const chunks = [...parts.filter((part) => part !== ""), ""].map(
    (part) => `${Buffer.byteLength(part).toString(16)}\r\n${part}\r\n`,
  );
  return `${HEAD}Transfer-Encoding: chunked\r\n\r\n${chunks.join("")}`;
};

it("returns a response only when it is complete", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.option(fc.integer({ min: 1, max: 20 })), (value, chunk) => {
      const body = JSON.stringify(value);
      const text =
        chunk === null ? whole(body) : chunked(body.match(new RegExp(`.{1,${chunk}}`, "gsu")) ?? []);
      const bytes = Buffer.from(text);
      for (let length = 0; length < bytes.length; length += 1)
        expect(parseResponse(bytes.subarray(0, length))).toBeUndefined();
      expect(parseResponse(bytes)?.status).toBe(200);
      expect(parseResponse(bytes)?.body.toString()).toBe(body);
    }),
    { numRuns: 50 },
  );
});

it("a request has the Content-Length of its body in bytes", () => {
  expect(rawRequest("POST", "/x", { token: "t", body: '"é"' })).toBe(
    'POST /x HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer t\r\ncontent-type: application/json\r\ncontent-length: 4\r\n\r\n"é"',
  );
  expect(rawRequest("GET", "/x", {})).toBe("GET /x HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n");
});
