import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { sharedServer } from "./shared-server.ts";

interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

const weft = sharedServer();
let server: Server;
let url: string;
let requests: Seen[] = [];
let count = 0;

beforeAll(async () => {
  server = createServer(async (incoming, outgoing) => {
    let body = "";
    for await (const chunk of incoming) body += String(chunk);
    const { method = "", url: path = "", headers } = incoming;
    requests.push({ method, url: path, headers, body });
    const status = Number(/status=(\d+)/.exec(path)?.[1] ?? 200);
    if (path.startsWith("/slow")) return;
    if (path.startsWith("/moved"))
      return void outgoing
        .writeHead(302, { location: new URL(path, url).searchParams.get("to") ?? "" })
        .end();
    if (path.startsWith("/cut")) return void outgoing.destroy();
    if (path.startsWith("/trickle")) {
      // Without Content-Length and chunks, the body ends with the connection.
      outgoing.useChunkedEncodingByDefault = false;
      const more = setInterval(() => outgoing.write("x"), 20);
      return void outgoing.on("close", () => clearInterval(more));
    }
    if (path.startsWith("/once") && requests.length === 1) return void outgoing.writeHead(503).end("busy");
    if (path.startsWith("/endless")) {
      const more = () => {
        while (outgoing.write(Buffer.alloc(64 * 1024, "x")));
      };
      outgoing.on("drain", more);
      return void more();
    }
    outgoing.writeHead(status, { "content-type": "application/json", "x-own": "yes" });
    outgoing.end(JSON.stringify({ path, list: [1, 2] }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
beforeEach(() => {
  requests = [];
});
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

async function runSteps(steps: string, body: Record<string, unknown> = {}) {
  count += 1;
  const name = `http-${count}`;
  await weft.storeWorkflow(`name: ${name}\nsteps:\n${steps}`);
  const run = await weft.run({ module: name, workspace: name, ...body });
  return { ...run, steps: await weft.steps(run.run_id) };
}

describe("seed 2.7: http steps", () => {
  test("the method defaults to GET; status code, body and headers are exported", async () => {
    const { status, steps } = await runSteps(`
  - {name: get-it, type: http, url: "${url}/a?b=c", exports: {second: 'jq("{{get_it_body}}", ".list[1]")'}}
  - {name: use, type: bash, command: "printf '%s|' {{get_it_status_code}} {{get_it_body}} {{get_it_output}} {{second}} {{get_it_http_resp.status_code}}"}
  - {name: head, type: function, function: 'get_it_headers["x-own"] + get_it_status_code'}
`);
    expect(status).toBe("completed");
    expect(requests[0]).toMatchObject({ method: "GET", url: "/a?b=c", body: "" });
    const body = '{"path":"/a?b=c","list":[1,2]}';
    expect(steps["get-it"]).toMatchObject({
      output: body,
      exports: { get_it_status_code: "200", get_it_body: body, get_it_output: body, second: "2" },
    });
    expect(JSON.parse(steps["get-it"]?.exports["get_it_headers"] ?? "")).toMatchObject({
      "content-type": "application/json",
      "x-own": "yes",
    });
    expect(steps["use"]?.output).toBe(`200|${body}|${body}|2|200|`);
    expect(steps["head"]?.output).toBe("yes200");
  });

  test.each(["POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "post"])(
    "%s is sent as its method",
    async (method) => {
      const body = method === "HEAD" ? "" : ', request_body: \'{"t": "{{Target}}"}\'';
      const { status } = await runSteps(
        `  - {name: s, type: http, url: "${url}/m", method: ${method}${body}, headers: {X-Target: "{{Target}}", Content-Type: application/json}}`,
        {
          target: "tgt",
        },
      );
      expect(status).toBe("completed");
      expect(requests).toHaveLength(1);
      expect(requests[0]).toMatchObject({
        method: method.toUpperCase(),
        headers: { "x-target": "tgt", "content-type": "application/json" },
      });
      expect(requests[0]?.body).toBe(method === "HEAD" ? "" : '{"t": "tgt"}');
    },
  );

  test("a 4xx response completes the step; 5xx fails it after its attempts", async () => {
    const { status, steps, error_message } = await runSteps(`
  - {name: gone, type: http, url: "${url}/?status=404"}
  - {name: broken, type: http, url: "${url}/?status=500"}
`);
    expect(steps["gone"]).toMatchObject({ status: "completed", exports: { gone_status_code: "404" } });
    expect([status, error_message]).toEqual(["failed", expect.stringMatching(/answered 500/)]);
    expect(requests.filter((one) => one.url.includes("500"))).toHaveLength(3);
  });

  test.each(["GET", "POST", "PATCH"])("retries %s with its body after a 5xx", async (method) => {
    const body = method === "GET" ? "" : ", request_body: 'again and again'";
    const { status } = await runSteps(
      `  - {name: s, type: http, method: ${method}, url: "${url}/once"${body}}`,
    );
    const sent = [method, method === "GET" ? "" : "again and again"];
    expect([status, requests.map((one) => [one.method, one.body])]).toEqual(["completed", [sent, sent]]);
  });

  test("retries POST after a closed connection, up to three attempts", async () => {
    const post = `type: http, method: POST, url: "${url}/cut", request_body: x`;
    expect((await runSteps(`  - {name: s, ${post}}`)).status).toBe("failed");
    expect(requests.map(({ method, body }) => [method, body])).toEqual(Array(3).fill(["POST", "x"]));
    requests = [];
    await runSteps(`  - {name: s, ${post}, retry: {max_attempts: 1}}`);
    expect(requests).toHaveLength(1);
  });

  test("renders the method; an empty one is GET, and an invalid one fails the step", async () => {
    const tolerated = "on_error: [{action: continue}]";
    const { steps } = await runSteps(
      `
  - {name: given, type: http, method: "{{verb}}", url: "${url}/given"}
  - {name: part, type: http, method: "p{{rest}}", url: "${url}/part"}
  - {name: empty, type: http, method: "{{nothing}}", url: "${url}/empty"}
  - {name: wrong, type: http, method: "{{Target}}", url: "${url}/wrong", ${tolerated}}
  - {name: each, type: foreach, input: [put, delete], variable: verb, step: {name: one, type: http, method: "[[verb]]", url: "${url}/each"}}
`,
      { target: "GET / HTTP", params: { verb: "patch", rest: "ost" } },
    );
    expect(steps["wrong"]?.error_message).toBe("method: not an HTTP method: GET / HTTP");
    expect(requests.map(({ method, url: path }) => `${method} ${path}`)).toEqual([
      "PATCH /given",
      "POST /part",
      "GET /empty",
      "PUT /each",
      "DELETE /each",
    ]);
  });

  test("retry sets the number of attempts for every method", async () => {
    const retry = "retry: {max_attempts: 2, delay: 10ms}";
    const { status } = await runSteps(
      `  - {name: s, type: http, method: POST, url: "${url}/once", request_body: again, ${retry}}`,
    );
    expect([status, requests.map(({ method, body }) => [method, body])]).toEqual([
      "completed",
      [
        ["POST", "again"],
        ["POST", "again"],
      ],
    ]);
    requests = [];
    expect((await runSteps(`  - {name: s, type: http, url: "${url}/?status=500", ${retry}}`)).status).toBe(
      "failed",
    );
    expect(requests).toHaveLength(2);
  });

  test("timeouts, closed connections and ports, endless responses and invalid URLs fail the step", async () => {
    const tolerated = "on_error: [{action: continue}]";
    const { steps } = await runSteps(
      `
  - {name: slow, type: http, url: "${url}/slow", timeout: 300ms, ${tolerated}}
  - {name: trickle, type: http, url: "${url}/trickle", timeout: 300ms, ${tolerated}}
  - {name: cut, type: http, method: POST, url: "${url}/cut", ${tolerated}}
  - {name: closed, type: http, method: POST, url: "http://127.0.0.1:1/", ${tolerated}}
  - {name: endless, type: http, url: "${url}/endless", ${tolerated}}
  - {name: scheme, type: http, url: "{{Target}}", ${tolerated}}
  - {name: wrong, type: http, url: "{{nothing}}", ${tolerated}}
`,
      { target: "file:///etc/passwd" },
    );
    const errors = Object.fromEntries(
      Object.entries(steps).map(([name, step]) => [name, step.error_message]),
    );
    expect(errors).toEqual({
      slow: expect.stringMatching(/timed out/),
      trickle: expect.stringMatching(/timed out after \d+ ms/),
      cut: expect.stringMatching(/POST .*failed/),
      closed: expect.stringMatching(/ECONNREFUSED|failed/),
      endless: expect.stringMatching(/larger than/),
      scheme: expect.stringMatching(/url/),
      wrong: expect.stringMatching(/url/),
    });
  });

  test("handlers and later steps see the exports of a failed step", async () => {
    const { status, steps } = await runSteps(`
  - name: broken
    type: http
    method: POST
    url: "${url}/?status=503"
    on_error: [{action: export, name: seen, value: "{{broken_status_code}}"}, {action: continue}]
  - {name: closed, type: http, method: POST, url: "http://127.0.0.1:1/", on_error: [{action: continue}]}
  - {name: told, type: function, function: 'JSON.stringify([seen, broken_http_resp.error, broken_http_resp.message, closed_status_code, closed_http_resp.error])'}
`);
    expect([status, JSON.parse(String(steps["told"]?.output))]).toEqual([
      "completed",
      ["503", true, `POST ${url}/?status=503 answered 503`, 0, true],
    ]);
  });

  test("follows redirects, but never to a metadata service", async () => {
    const { steps } = await runSteps(`
  - {name: near, type: http, url: "${url}/moved?to=/a", headers: {Authorization: Bearer x}}
  - {name: far, type: http, url: "${url}/moved?to=http://169.254.169.254/latest/", on_error: [{action: continue}]}
  - {name: direct, type: http, url: "http://0xa9fea9fe/latest/", on_error: [{action: continue}]}
`);
    expect(steps["near"]).toMatchObject({ status: "completed", exports: { near_status_code: "200" } });
    expect(requests.map((one) => one.url)).toEqual([
      "/moved?to=/a",
      "/a",
      "/moved?to=http://169.254.169.254/latest/",
    ]);
    expect(steps["far"]?.error_message).toMatch(/169\.254\.169\.254 is a link-local or metadata address/);
    expect(steps["direct"]?.error_message).toMatch(/169\.254\.169\.254 is a link-local or metadata address/);
  });

  test("can call Weft's own API with the token as a secret", async () => {
    await weft.emit({ topic: "assets.new", workspace: "own-api", data: { value: "own.example" } });
    const { status, steps } = await runSteps(
      `  - {name: s, type: http, url: "${weft.url}/automation/assets?workspace=own-api", headers: {Authorization: "Bearer {{token}}"}, exports: {total: 'jq("{{s_body}}", ".pagination.total")'}}`,
      {
        params: { token: weft.token },
      },
    );
    expect([status, steps["s"]?.exports["total"]]).toEqual(["completed", "1"]);
  });
});
