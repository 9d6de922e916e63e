import { type ChildProcess, spawn } from "node:child_process";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";

const WEFT = fileURLToPath(new URL("./weft.js", import.meta.url));

export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly error: string;
}

export interface CommandOptions {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Standard input. */
  readonly input?: string;
}

/** A command that runs. */
export interface RunningCommand {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
  /** What it wrote to standard output so far. */
  out(): string;
}

/** Starts `weft` as a process of its own, with nothing of this one's environment but the path. */
export function startCommand(args: readonly string[], options: CommandOptions): RunningCommand {
  const { promise: ended, resolve } = Promise.withResolvers<Ended>();
  const child = spawn(process.execPath, [WEFT, ...args], {
    cwd: options.cwd,
    // A port on which nobody listens: none of a server that happens to run here is found.
    env: { PATH: process.env.PATH ?? "", PORT: "9", ...options.env },
    stdio: ["pipe", "pipe", "pipe"],
  });
  let out = "";
  let error = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    out += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    error += text;
  });
  child.stdin.on("error", () => {});
  child.stdin.end(options.input ?? "");
  child.on("close", (code) => resolve({ code, out, error }));
  return { child, ended, out: () => out };
}

/** What a stub was asked. */
export interface Asked {
  /** `GET /automation/runs?limit=2` */
  readonly what: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

export interface StubAnswer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON, text as it stands. */
  readonly body?: unknown;
}

export interface Stub extends AsyncDisposable {
  readonly url: string;
  readonly asked: readonly Asked[];
}

/** A server that answers what it is told to; `Not found` for all else, as the real one. */
export async function startStub(answer: (asked: Asked) => StubAnswer | undefined): Promise<Stub> {
  const asked: Asked[] = [];
  const server = createServer((incoming, outgoing) => {
    const chunks: Buffer[] = [];
    incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
    incoming.on("end", () => {
      const body = Buffer.concat(chunks).toString();
      const one = { what: `${incoming.method} ${incoming.url}`, body, headers: incoming.headers };
      asked.push(one);
      const found = answer(one) ?? { status: 404, body: { error: true, message: "Not found" } };
      outgoing.writeHead(found.status ?? 200, found.headers ?? {});
      outgoing.end(typeof found.body === "string" ? found.body : JSON.stringify(found.body ?? {}));
    });
  }).listen(0, "127.0.0.1");
  await new Promise<void>((resolve) => server.once("listening", () => resolve()));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
