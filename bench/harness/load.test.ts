import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, it } from "vitest";
import { expectNoErrors, sendLoad, startLoad } from "./load.ts";

const LARGE = "x".repeat(3_000_000);
const seen: { method: string; path: string; body: string; token: string }[] = [];
const server = createServer(async (request, response) => {
  let body = "";
  for await (const chunk of request) body += String(chunk);
  const { method = "", url: path = "", headers } = request;
  seen.push({ method, path, body, token: headers.authorization ?? "" });
  response.statusCode = path.startsWith("/made") ? 202 : path === "/bad" ? 500 : 200;
  const text = JSON.stringify({ id: path === "/large" ? LARGE : `id-${seen.length}` });
  response.setHeader("content-length", Buffer.byteLength(text));
  response.end(text);
});
let port = 0;

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  port = (server.address() as AddressInfo).port;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

it("sends requests by weight and passes the ids that one kind collects to another", async () => {
  seen.length = 0;
  const report = await sendLoad({
    port,
    token: "secret",
    connections: 1,
    count: 12,
    kinds: [
      { name: "get", weight: 2, method: "GET", path: "/get/{n}" },
      { name: "make", method: "POST", path: "/made", body: '{"n":{n}}', expect: 202, takes: "id" },
      { name: "end", method: "DELETE", path: "/end/{id}", needs: "make" },
    ],
  });
  expect(report.answers).toBe(12);
  expect(report.kinds).toMatchObject({ make: { answers: 3, errors: 0 }, end: { answers: 3 } });
  const ended = seen.filter(({ method }) => method === "DELETE").map(({ path }) => path);
  expect(ended).toEqual((report.taken.make ?? []).map((id) => `/end/${id}`));
  expect(seen.every(({ token }) => token === "Bearer secret")).toBe(true);
  expect(seen.find(({ method }) => method === "POST")?.body).toMatch(/^\{"n":\d+\}$/);
});

it("reports unexpected responses", async () => {
  const load = startLoad({
    port,
    connections: 2,
    count: 4,
    kinds: [{ name: "bad", method: "GET", path: "/bad" }],
  });
  const report = await load.report;
  expect(report.errors).toBe(4);
  expect(report.statuses).toEqual({ 500: 4 });
  expect(() => expectNoErrors(report)).toThrow("4 of 4 answers unexpected: bad: 500");
});

it("reads responses that arrive in many parts", async () => {
  const kinds = [{ name: "get", method: "GET", path: "/large", takes: "id" }];
  const report = await sendLoad({ port, connections: 1, count: 3, kinds });
  expect(report.statuses).toEqual({ 200: 3 });
  expect(report.taken.get).toEqual(Array.from({ length: 3 }, () => LARGE));
});

it("keeps a rate until it is stopped", async () => {
  seen.length = 0;
  const load = startLoad({
    port,
    connections: 4,
    rate: 200,
    kinds: [{ name: "get", method: "GET", path: "/get" }],
  });
  while (seen.length < 40) await new Promise((resolve) => setTimeout(resolve, 5));
  const report = await load.stop();
  expect(report.answers).toBe(seen.length);
  // The rate is a maximum, however fast responses arrive.
  expect(report.answers).toBeLessThanOrEqual(((report.endedAt - report.startedAt) * 200) / 1000 + 1);
});

it("reports statistics since the previous call, and rejects after the end", async () => {
  seen.length = 0;
  const load = startLoad({
    port,
    connections: 1,
    rate: 500,
    kinds: [{ name: "get", method: "GET", path: "/get" }],
  });
  while (seen.length < 20) await new Promise((resolve) => setTimeout(resolve, 5));
  const first = await load.recent();
  expect(first).toMatchObject({ errors: 0, p99: { get: expect.any(Number) } });
  expect(first.answers).toBeGreaterThanOrEqual(19);
  expect(first.seconds).toBeGreaterThan(0);
  const second = await load.recent();
  const { answers } = await load.stop();
  expect(first.answers + second.answers).toBeLessThanOrEqual(answers);
  await expect(load.recent()).rejects.toThrow();
});

it("rejects if the server closes the connection", async () => {
  const gone = createServer((request) => request.socket.destroy());
  await new Promise<void>((resolve) => gone.listen(0, "127.0.0.1", resolve));
  const kinds = [{ name: "get", method: "GET", path: "/" }];
  const load = sendLoad({ port: (gone.address() as AddressInfo).port, connections: 1, count: 1, kinds });
  await expect(load).rejects.toThrow("broke off");
  gone.close();
});
