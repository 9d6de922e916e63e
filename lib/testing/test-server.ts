import { type ChildProcess, spawn } from "node:child_process";
import { openSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type * as z from "zod";
import type { emitResponse } from "../events/emit.ts";
import type { EventRecord } from "../events/log/list.ts";
import type { historyRecord, RunRecord, stepRecord } from "../workflows/runs/read.ts";
import type { saveResponse } from "../workflows/uploads/upload.ts";

/** The program of `npm start`: it runs the bundle, which starts five times as fast as the sources. */
const SERVER = fileURLToPath(new URL("../../localstack/main.js", import.meta.url));
const COMPILED = fileURLToPath(new URL("../../node_modules/.cache/weft-compiled", import.meta.url));
const POLL_MS = 20;
/** Over emulators a start makes all resources first. */
const READY_MS = 90_000;

export interface TestServerOptions {
  /** A new temporary folder where it is not given; that one is removed at the end. */
  readonly dataDir?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Files laid into the data folder before the start, by path. `secrets.env` is made readable by its owner alone. */
  readonly files?: Readonly<Record<string, string>>;
  /** A file that receives the log. Default: the memory of this process. */
  readonly logPath?: string;
  /** The program and its first arguments; the server itself where it is not given. */
  readonly program?: readonly string[];
}

export interface TestResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The parsed body; undefined where it is no JSON. */
  readonly json: unknown;
  /** `message` of an error body; empty where there is none. */
  readonly message: string;
}

export type StepRecord = z.infer<typeof stepRecord>;
export interface Page<Item> {
  readonly data: readonly Item[];
  readonly pagination: { readonly total: number; readonly offset: number; readonly limit: number };
}

export interface RequestOptions {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Another token, or none where it is null. */
  readonly token?: string | null;
}

/** What a client does with a server. */
export interface TestClient {
  readonly url: string;
  readonly dataDir: string;
  readonly token: string;
  /** What it has written to standard error so far: its log. */
  log(): string;
  /** `path` below `/automation`, or from the root where it starts with `//`. A text body is sent as it is, without a content type. */
  call(method: string, path: string, options?: RequestOptions): Promise<TestResponse>;
  /** Rejects where the answer is an error. */
  get<Body>(path: string): Promise<Body>;
  /** Stores a workflow from YAML. */
  storeWorkflow(yaml: string): Promise<z.infer<typeof saveResponse>>;
  emit(body: Readonly<Record<string, unknown>>): Promise<z.infer<typeof emitResponse>>;
  /** The log, newest first, 10,000 records unless the query says otherwise. */
  events(query?: Readonly<Record<string, string>>): Promise<readonly EventRecord[]>;
  /** Starts a run and gives its id. */
  startRun(body: Readonly<Record<string, unknown>>): Promise<string>;
  /** Waits for the end of a run and gives its record. */
  waitForRun(runId: string): Promise<RunRecord>;
  run(body: Readonly<Record<string, unknown>>): Promise<RunRecord>;
  /** Steps of a run, by name. */
  steps(runId: string): Promise<Readonly<Record<string, StepRecord>>>;
  history(runId: string): Promise<readonly z.infer<typeof historyRecord>[]>;
}

/** A server in its own process. */
export interface TestServer extends TestClient, AsyncDisposable {
  readonly pid: number;
  readonly child: ChildProcess;
  /** Asks it to stop; resolves with its exit code. */
  stop(): Promise<number | null>;
  kill(): Promise<void>;
}

/** Waits until `check` gives something truthy, and gives that. Throws with what it waited for. */
export async function waitUntil<T>(
  what: string,
  check: () => Promise<T> | T,
  timeoutMs = 20_000,
): Promise<Exclude<T, undefined | null | false>> {
  const end = performance.now() + timeoutMs;
  for (;;) {
    const found = await check();
    if (found) return found as Exclude<T, undefined | null | false>;
    if (performance.now() > end) throw new Error(`waited ${timeoutMs} ms for: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

const FINISHED = new Set(["completed", "failed", "cancelled"]);

/** Starts a server and waits for its ready line. Rejects with its log when it does not come up. */
export async function startTestServer(options: TestServerOptions = {}): Promise<TestServer> {
  const dataDir = options.dataDir ?? (await mkdtemp(join(tmpdir(), "weft-e2e-")));
  for (const [path, text] of Object.entries(options.files ?? {})) {
    await mkdir(join(dataDir, path, ".."), { recursive: true });
    await writeFile(join(dataDir, path), text, { mode: 0o600 });
  }
  const { logPath } = options;
  const [program = process.execPath, ...args] = options.program ?? [process.execPath, SERVER];
  const child = spawn(program, args, {
    env: {
      ...process.env,
      PORT: "0",
      WEFT_ACCESS_TOKEN: "",
      // For servers that run their sources; a bundle has its own.
      ...(options.program === undefined ? {} : { NODE_COMPILE_CACHE: COMPILED }),
      ...options.env,
      WEFT_DATA_DIR: dataDir,
    },
    stdio: ["pipe", "pipe", logPath === undefined ? "pipe" : openSync(logPath, "a")],
  });
  let out = "";
  let log = "";
  child.stdout?.on("data", (chunk: Buffer) => {
    out += chunk.toString();
  });
  child.stderr?.on("data", (chunk: Buffer) => {
    log += chunk.toString();
  });
  const closed = new Promise<number | null>((resolve) => child.once("close", resolve));
  let isClosed = false;
  void closed.then(() => {
    isClosed = true;
  });
  const readLog = (): string => (logPath === undefined ? log : readFileSync(logPath, "utf8"));
  const removeFolder = async (): Promise<void> => {
    if (options.dataDir === undefined) await rm(dataDir, { recursive: true, force: true, maxRetries: 5 });
  };
  await waitUntil("the ready line", () => isClosed || out.includes("\n"), READY_MS);
  const url = / automation=(\S+)\/automation/.exec(out)?.[1];
  if (url === undefined) {
    await closed;
    await removeFolder();
    throw new Error(`the server did not start: ${readLog()}`);
  }
  const token =
    options.env?.WEFT_ACCESS_TOKEN ?? (await readFile(join(dataDir, "access-token"), "utf8")).trim();

  return {
    ...connectTestClient({ url, dataDir, token, log: readLog }),
    pid: child.pid as number,
    child,
    stop: () => {
      child.kill("SIGTERM");
      return closed;
    },
    kill: async () => {
      child.kill("SIGKILL");
      await closed;
    },
    [Symbol.asyncDispose]: async () => {
      child.kill("SIGKILL");
      await closed;
      await removeFolder();
    },
  };
}

/** A client of a running server. */
export function connectTestClient({
  url,
  dataDir,
  token,
  log,
}: Pick<TestClient, "url" | "dataDir" | "token" | "log">): TestClient {
  const call: TestClient["call"] = async (method, path, { body, headers, token: other = token } = {}) => {
    const raw = body === undefined || typeof body === "string" || body instanceof Uint8Array;
    // As bytes: fetch would give a text a content type of its own.
    const sent = typeof body === "string" ? Buffer.from(body) : raw ? body : JSON.stringify(body);
    const response = await fetch(path.startsWith("//") ? url + path.slice(1) : `${url}/automation${path}`, {
      method,
      redirect: "manual",
      headers: {
        ...(other === null ? {} : { authorization: `Bearer ${other}` }),
        ...(raw ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      ...(sent === undefined ? {} : { body: sent as string }),
    });
    const text = await response.text();
    const json = parseJson(text);
    const message = (json as { message?: unknown } | undefined)?.message;
    const shown = typeof message === "string" ? message : "";
    return { status: response.status, headers: response.headers, text, json, message: shown };
  };
  const request = async <Body>(method: string, path: string, options?: RequestOptions): Promise<Body> => {
    const answer = await call(method, path, options);
    if (answer.status >= 300) throw new Error(`${method} ${path} answered ${answer.status}: ${answer.text}`);
    return answer.json as Body;
  };
  const start: TestClient["startRun"] = async (body) =>
    (await request<{ run_id: string }>("POST", "/runs", { body })).run_id;
  const ended: TestClient["waitForRun"] = (runId) =>
    waitUntil(
      `the end of run ${runId}`,
      async () => {
        const { data } = await request<{ data: RunRecord }>("GET", `/runs/${runId}`);
        return FINISHED.has(data.status) && data;
      },
      60_000,
    );
  return {
    url,
    dataDir,
    token,
    log,
    call,
    get: (path) => request("GET", path),
    storeWorkflow: (yaml) =>
      request("POST", "/workflows", { body: yaml, headers: { "content-type": "application/yaml" } }),
    emit: (body) => request("POST", "/events/emit", { body }),
    events: async (query = {}) =>
      (
        await request<Page<EventRecord>>(
          "GET",
          `/event-logs?${new URLSearchParams({ limit: "10000", ...query })}`,
        )
      ).data,
    startRun: start,
    waitForRun: ended,
    run: async (body) => ended(await start(body)),
    steps: async (runId) => {
      const { data } = await request<{ data: StepRecord[] }>("GET", `/runs/${runId}/steps`);
      return Object.fromEntries(data.map((step) => [step.step_name, step]));
    },
    history: async (runId) =>
      (await request<{ data: z.infer<typeof historyRecord>[] }>("GET", `/runs/${runId}/history`)).data,
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
