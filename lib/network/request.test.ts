import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { type AddressInfo, createServer as createRawServer, type Socket } from "node:net";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { afterEach, describe, expect, it, onTestFinished } from "vitest";
import { TEST_CERTIFICATE, TEST_KEY } from "../testing/test-certificate.ts";
import { RequestError } from "./errors.ts";
import { openNetwork } from "./network.ts";
import type { Resolve } from "./policy.ts";
import { type HttpRequest, sendRequest } from "./request.ts";

interface Seen {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

async function listen(server: Server): Promise<number> {
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}

/** A server that records requests and sends the configured responses. */
async function serve(answer: (...args: Parameters<RequestListener>) => void) {
  const seen: Seen[] = [];
  const port = await listen(
    createServer(async (incoming, outgoing) => {
      let body = "";
      for await (const chunk of incoming) body += String(chunk);
      seen.push({ method: incoming.method ?? "", path: incoming.url ?? "", headers: incoming.headers, body });
      answer(incoming, outgoing);
    }),
  );
  return { seen, port, url: `http://127.0.0.1:${port}` };
}

/** A server that responds to a request with the bytes that `replayExchange` writes. */
async function serveRaw(answer: (socket: Socket) => void): Promise<string> {
  const server = createRawServer((socket) => {
    socket.on("error", () => undefined);
    socket.once("data", () => answer(socket));
  });
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

const OPEN = openNetwork({ privateAddresses: "allow", loopback: "as private" });

type Options = Partial<Omit<HttpRequest, "url" | "headers">> & {
  readonly headers?: Record<string, string>;
  readonly network?: typeof OPEN;
};

async function ask(url: string, options: Options = {}) {
  const { headers = {}, network = OPEN, ...more } = options;
  const answer = await sendRequest(network, {
    method: "GET",
    timeoutMs: 5_000,
    maxBytes: 100_000,
    signal: new AbortController().signal,
    ...more,
    url: new URL(url),
    headers: new Headers(headers),
  });
  return { ...answer, text: answer.body.toString("utf8") };
}

const failure = (asked: Promise<unknown>): Promise<RequestError> =>
  asked.then(
    () => Promise.reject(new Error("it was answered")),
    (error: unknown) => {
      expect(error).toBeInstanceOf(RequestError);
      return error as RequestError;
    },
  );

describe("a request", () => {
  it("returns status, joined headers and the decompressed body", async () => {
    const packed: Record<string, Buffer> = {
      gzip: gzipSync("packed"),
      br: brotliCompressSync("packed"),
      identity: Buffer.from("packed"),
    };
    const { url, seen } = await serve((incoming, outgoing) => {
      const encoding = (incoming.url ?? "").slice(1);
      outgoing.writeHead(201, { "content-encoding": encoding, "set-cookie": ["a=1", "b=2"] });
      outgoing.end(packed[encoding]);
    });
    for (const encoding of Object.keys(packed)) {
      const answer = await ask(`${url}/${encoding}`);
      expect([answer.status, answer.text, answer.headers["set-cookie"]]).toEqual([201, "packed", "a=1, b=2"]);
    }
    expect(seen[0]?.headers).toMatchObject({ accept: "*/*", "accept-encoding": "gzip, deflate, br" });
  });

  it("to a URL with user name and password authenticates, and reveals neither", async () => {
    const { url, seen, port } = await serve((_, outgoing) => void outgoing.end());
    await ask(`http://ann:p%40ss@127.0.0.1:${port}/x`);
    expect(seen[0]?.headers.authorization).toBe(`Basic ${Buffer.from("ann:p@ss").toString("base64")}`);
    const secret = url.replace("//", "//ann:hidden-word@").replace(String(port), "1");
    expect((await failure(ask(secret))).message).toMatch(
      /^GET http:\/\/127\.0\.0\.1:1\/ failed: .*ECONNREFUSED/,
    );
  });

  it("cannot smuggle a second request through connection headers", async () => {
    const { url, seen } = await serve((_, outgoing) => void outgoing.end());
    const headers = { "content-length": "100", "transfer-encoding": "chunked", connection: "upgrade" };
    await ask(url, { method: "POST", body: "abc", headers });
    expect(seen).toMatchObject([{ body: "abc", headers: { "content-length": "3" } }]);
    expect(seen[0]?.headers["transfer-encoding"]).toBeUndefined();
  });

  it("that is not idempotent uses its own connection; others share one", async () => {
    const { url } = await serve((_, outgoing) => void outgoing.end("x"));
    let connections = 0;
    servers.at(-1)?.on("connection", () => {
      connections += 1;
    });
    for (const method of ["GET", "PUT", "GET"]) await ask(url, { method });
    expect(connections).toBe(1);
    for (const method of ["POST", "PATCH"]) await ask(url, { method, body: "x" });
    expect(connections).toBe(3);
  });

  it("fails if the response is too large, also after decompression", async () => {
    const { url } = await serve((incoming, outgoing) => {
      if (incoming.url === "/bomb") outgoing.writeHead(200, { "content-encoding": "gzip" });
      outgoing.end(incoming.url === "/bomb" ? gzipSync(Buffer.alloc(50_000_000)) : Buffer.alloc(200_000));
    });
    for (const path of ["/large", "/bomb"]) {
      const failed = await failure(ask(`${url}${path}`));
      expect([failed.message, failed.passing]).toEqual([
        expect.stringMatching(/larger than 100000 bytes/),
        false,
      ]);
    }
  });

  it("ends at its timeout, before and during the response, and when it is aborted", async () => {
    const { url } = await serve((incoming, outgoing) => {
      if (incoming.url === "/half") outgoing.writeHead(200).write("half");
    });
    for (const path of ["/none", "/half"]) {
      expect((await failure(ask(`${url}${path}`, { timeoutMs: 60 }))).message).toMatch(
        /timed out after 60 ms/,
      );
    }
    const controller = new AbortController();
    const asked = failure(ask(`${url}/none`, { signal: controller.signal }));
    controller.abort();
    expect((await asked).message).toMatch(/abort/);
  });

  describe.each(["GET", "POST"])("%s, with a partial response without a length", (method) => {
    const half = (finish: (socket: Socket) => void, head = "", body: Uint8Array = Buffer.from("half")) =>
      serveRaw((socket) => {
        socket.write(`HTTP/1.1 200 OK\r\nConnection: close\r\n${head}\r\n`);
        socket.write(body);
        finish(socket);
      });

    it("fails at its timeout and when aborted, instead of returning the partial body", async () => {
      const url = await half((socket) => {
        const trickle = setInterval(() => socket.write("x"), 20);
        socket.once("close", () => clearInterval(trickle));
      });
      expect((await failure(ask(url, { method, timeoutMs: 150 }))).message).toMatch(/timed out after 150 ms/);
      const cancelled = new AbortController();
      setTimeout(() => cancelled.abort(), 50);
      await failure(ask(url, { method, signal: cancelled.signal }));
    });

    it("fails when the connection is reset, and if the compressed body is incomplete", async () => {
      const reset = await half((socket) => setTimeout(() => socket.resetAndDestroy(), 50));
      expect((await failure(ask(reset, { method }))).message).toMatch(/the connection was reset/);
      const packed = gzipSync("x".repeat(1_000));
      const cut = await half((socket) => socket.end(), "Content-Encoding: gzip\r\n", packed.subarray(0, -10));
      expect((await failure(ask(cut, { method }))).message).toMatch(/unexpected end of file/);
      const whole = await half((socket) => socket.end(), "Content-Encoding: gzip\r\n", packed);
      expect((await ask(whole, { method })).text).toBe("x".repeat(1_000));
    });

    it.each(["Content-Length: 10\r\n", "Transfer-Encoding: chunked\r\n"])(
      "fails if the body is shorter than %j declares",
      async (head) => {
        const body = Buffer.from(head.startsWith("C") ? "half" : "4\r\nhalf\r\n");
        for (const finish of [
          (socket: Socket) => void socket.end(),
          (socket: Socket) => void setTimeout(() => socket.resetAndDestroy(), 50),
        ])
          expect((await failure(ask(await half(finish, head, body), { method }))).passing).toBe(true);
      },
    );
  });

  it("reports certificate errors as permanent", async () => {
    const secure = createSecureServer({ key: TEST_KEY, cert: TEST_CERTIFICATE }, (_, outgoing) => {
      outgoing.end("hello");
    });
    const port = await listen(secure as unknown as Server);
    const failed = await failure(ask(`https://127.0.0.1:${port}/`));
    expect(failed.message).toMatch(
      /certificate is self-signed.*NODE_EXTRA_CA_CERTS.*DEPTH_ZERO_SELF_SIGNED_CERT/,
    );
    expect(failed.passing).toBe(false);
    const { port: plain } = await serve((_, outgoing) => void outgoing.end());
    const wrong = await failure(ask(`https://127.0.0.1:${plain}/`));
    expect([wrong.message, wrong.passing]).toEqual([expect.stringMatching(/supports no TLS version/), false]);
  });
});

describe("a redirect", () => {
  it("is followed as by browsers: 303, and POST at 301 and 302, continue as GET without the body", async () => {
    const { url, seen } = await serve((incoming, outgoing) => {
      const status = Number(/^\/(30\d)/.exec(incoming.url ?? "")?.[1] ?? 200);
      outgoing.writeHead(status, status === 200 ? {} : { location: "/end" });
      outgoing.end("end");
    });
    const cases = [
      ["POST", 301, "GET", ""],
      ["POST", 302, "GET", ""],
      ["PUT", 302, "PUT", "b"],
      ["PUT", 303, "GET", ""],
      ["HEAD", 303, "HEAD", ""],
      ["POST", 307, "POST", "b"],
      ["POST", 308, "POST", "b"],
    ] as const;
    for (const [method, status, then, body] of cases) {
      seen.length = 0;
      const headers = { "content-type": "text/plain", "x-own": "1" };
      const answer = await ask(`${url}/${status}`, {
        method,
        headers,
        ...(method === "HEAD" ? {} : { body: "b" }),
      });
      expect([answer.status, answer.url.pathname]).toEqual([200, "/end"]);
      expect([seen[1]?.method, seen[1]?.body, seen[1]?.headers["x-own"]]).toEqual([then, body, "1"]);
      expect(seen[1]?.headers["content-type"]).toBe(then === "GET" ? undefined : "text/plain");
    }
  });

  it("to another origin carries no credentials and no header that contains a secret", async () => {
    const other = await serve((_, outgoing) => void outgoing.end("other"));
    const { url } = await serve((incoming, outgoing) => {
      const location = incoming.url === "/near" ? "/far" : `${other.url.replace("//", "//x:y@")}/end`;
      outgoing.writeHead(302, { location }).end();
    });
    const answer = await ask(`${url}/near`, {
      headers: { authorization: "Bearer a", cookie: "c=1", host: "virtual", "x-key": "sesame", "x-own": "1" },
      isSecret: (value) => value.includes("sesame"),
    });
    expect(answer.text).toBe("other");
    const { headers } = other.seen[0] as Seen;
    expect(headers).toMatchObject({ "x-own": "1", host: `127.0.0.1:${other.port}` });
    for (const name of ["authorization", "cookie", "x-key"]) expect(headers[name]).toBeUndefined();
  });

  it("to another origin carries no body that contains a secret", async () => {
    const other = await serve((_, outgoing) => void outgoing.end("other"));
    const { url } = await serve((_, outgoing) => {
      outgoing.writeHead(307, { location: other.url }).end();
    });
    const isSecret = (text: string) => text.includes("sesame");
    const failed = await failure(ask(url, { method: "POST", body: "open sesame", isSecret }));
    expect(failed.message).toMatch(/would send a secret in the body to 127\.0\.0\.1/);
    expect(other.seen).toHaveLength(0);
    expect((await ask(url, { method: "POST", body: "open", isSecret })).text).toBe("other");
  });

  it("to the same origin carries them", async () => {
    const { url, seen } = await serve((incoming, outgoing) => {
      outgoing.writeHead(incoming.url === "/a" ? 302 : 200, { location: "/b" }).end();
    });
    await ask(`${url}/a`, { headers: { authorization: "Bearer a" } });
    expect(seen.map(({ headers }) => headers.authorization)).toEqual(["Bearer a", "Bearer a"]);
  });

  it("in a loop, or to a URL that is not http, fails", async () => {
    const { url, seen } = await serve((incoming, outgoing) => {
      const location = incoming.url === "/loop" ? "/loop" : "file:///etc/passwd";
      outgoing.writeHead(302, { location }).end();
    });
    expect((await failure(ask(`${url}/loop`))).message).toMatch(/more than 10 redirects/);
    expect(seen).toHaveLength(11);
    for (const path of ["/file"])
      expect((await failure(ask(url + path))).message).toMatch(/URL that is neither http nor https/);
  });

  it("to a metadata address is rejected before any connection", async () => {
    for (const target of [
      "http://169.254.169.254/latest/meta-data/",
      "http://[::ffff:a9fe:a9fe]/",
      "http://2852039166/",
    ]) {
      const { url } = await serve((_, outgoing) => void outgoing.writeHead(302, { location: target }).end());
      const failed = await failure(ask(url));
      expect([failed.message, failed.passing]).toEqual([expect.stringMatching(/metadata/), false]);
    }
  });
});

describe("a name", () => {
  const resolving = (...answers: readonly (readonly string[])[]): { resolve: Resolve; asked: string[] } => {
    const asked: string[] = [];
    const resolve: Resolve = (hostname, _options, callback) => {
      const found = answers[Math.min(asked.length, answers.length - 1)] ?? [];
      asked.push(hostname);
      process.nextTick(
        callback,
        null,
        found.map((address) => ({ address, family: address.includes(":") ? 6 : 4 })),
      );
    };
    return { resolve, asked };
  };

  it("that resolves to a metadata address is rejected, even if private addresses are allowed", async () => {
    for (const address of ["169.254.169.254", "::ffff:169.254.169.254", "fd00:ec2::254"]) {
      const { resolve } = resolving([address]);
      const network = openNetwork({ privateAddresses: "allow", loopback: "as private" }, resolve);
      const failed = await failure(ask("http://rebound.example.org/", { network }));
      expect([failed.message, failed.passing]).toEqual([expect.stringMatching(/rebound.*metadata/), false]);
    }
  });

  it("that resolves to this machine is rejected if private addresses are", async () => {
    const { port, seen } = await serve((_, outgoing) => void outgoing.end("reached"));
    for (const name of [
      "localhost",
      "LOCALHOST",
      "localhost.",
      "127.0.0.1.nip.example.org",
      "ⓛⓞⓒⓐⓛⓗⓞⓢⓣ",
      "ｌｏｃａｌｈｏｓｔ",
      "user@localhost",
    ]) {
      const { resolve } = resolving(["127.0.0.1"]);
      const network = openNetwork({ privateAddresses: "deny", loopback: "as private" }, resolve);
      expect((await failure(ask(`http://${name}:${port}/`, { network }))).message).toMatch(/private address/);
    }
    expect(seen).toHaveLength(0);
  });

  it("is resolved for each connection, and checked each time", async () => {
    const { port, seen } = await serve((_, outgoing) => {
      outgoing.writeHead(200, { connection: "close" }).end("first");
    });
    const { resolve, asked } = resolving(["127.0.0.1"], ["169.254.169.254"]);
    const network = openNetwork({ privateAddresses: "allow", loopback: "as private" }, resolve);
    expect((await ask(`http://rebinding.example.org:${port}/`, { network })).text).toBe("first");
    expect(asked).toHaveLength(1);
    expect((await failure(ask(`http://rebinding.example.org:${port}/`, { network }))).message).toMatch(
      /metadata/,
    );
    expect([asked.length, seen.length]).toEqual([2, 1]);
  });

  it("with allowed and rejected addresses is reached only at the allowed ones", async () => {
    const { port, seen } = await serve((_, outgoing) => void outgoing.end("reached"));
    const { resolve } = resolving(["169.254.169.254", "127.0.0.1"]);
    const network = openNetwork({ privateAddresses: "allow", loopback: "as private" }, resolve);
    expect((await ask(`http://mixed.example.org:${port}/`, { network })).text).toBe("reached");
    expect(seen[0]?.headers.host).toBe(`mixed.example.org:${port}`);
  });
});
