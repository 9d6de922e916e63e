import { type ChildProcess, fork, spawn } from "node:child_process";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";

const WEFT = fileURLToPath(new URL("./weft.js", import.meta.url));
const RUNNER = fileURLToPath(new URL("./test-command-runner.ts", import.meta.url));

export interface CommandResult {
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

/** A running command. */
export interface RunningCommand {
  readonly child: ChildProcess;
  readonly ended: Promise<CommandResult>;
  /** Its standard output so far. */
  out(): string;
}

/** The environment of a command: it inherits only PATH. */
const environment = (given: CommandOptions["env"]): Record<string, string> => ({
  PATH: process.env.PATH ?? "",
  // No server listens on this port, so a server on the default port is not found.
  PORT: "9",
  ...given,
});

/** Starts `weft` in a child process. */
export function startCommand(args: readonly string[], options: CommandOptions): RunningCommand {
  const { promise: ended, resolve } = Promise.withResolvers<CommandResult>();
  const child = spawn(process.execPath, [WEFT, ...args], {
    cwd: options.cwd,
    env: environment(options.env),
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

/** A command for the runner. */
export interface RunnerCommand {
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

let runner: ChildProcess | undefined;
let previous: Promise<unknown> = Promise.resolve();

/**
 * Runs `weft` in a process that runs one command after the other, which is much faster than a process per command.
 * Commands with standard input, and those that start processes or handle signals, need `startCommand`.
 */
export function runCommand(
  args: readonly string[],
  { cwd, env }: Omit<CommandOptions, "input">,
): Promise<CommandResult> {
  const result = previous.then(() => sendToRunner({ args, cwd, env: environment(env) }));
  previous = result.catch(() => {});
  return result;
}

function sendToRunner(command: RunnerCommand): Promise<CommandResult> {
  runner ??= startRunner();
  const child = runner;
  return new Promise((resolve, reject) => {
    const exited = (code: number | null): void => {
      runner = undefined;
      reject(new Error(`weft ${command.args.join(" ")} ended its process with ${code}`));
    };
    child.once("exit", exited);
    child.once("message", (message) => {
      child.off("exit", exited);
      resolve(message as CommandResult);
    });
    child.send(command);
  });
}

/** It ends with this process. */
function startRunner(): ChildProcess {
  const child = fork(RUNNER, {
    execArgv: [],
    env: environment({}),
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  child.unref();
  child.channel?.unref();
  return child;
}

export interface RecordedRequest {
  /** `GET /automation/runs?limit=2` */
  readonly line: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

export interface StubResponse {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON; a string is sent unchanged. */
  readonly body?: unknown;
}

export interface StubServer extends AsyncDisposable {
  readonly url: string;
  readonly requests: readonly RecordedRequest[];
}

/** Starts a server with the given responses; undefined is a 404, like that of the real server. */
export async function startStubServer(
  respond: (request: RecordedRequest) => StubResponse | undefined,
): Promise<StubServer> {
  const requests: RecordedRequest[] = [];
  const server = createServer((incoming, outgoing) => {
    const chunks: Buffer[] = [];
    incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
    incoming.on("end", () => {
      const body = Buffer.concat(chunks).toString();
      const request = { line: `${incoming.method} ${incoming.url}`, body, headers: incoming.headers };
      requests.push(request);
      const response = respond(request) ?? { status: 404, body: { error: true, message: "Not found" } };
      outgoing.writeHead(response.status ?? 200, response.headers ?? {});
      outgoing.end(typeof response.body === "string" ? response.body : JSON.stringify(response.body ?? {}));
    });
  }).listen(0, "127.0.0.1");
  await new Promise<void>((resolve) => server.once("listening", () => resolve()));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
