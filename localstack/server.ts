import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import type { LocalApp } from "../lib/app/local.ts";
import { findEditorWriters, licenseNotice } from "../lib/conversion/editor-packages.ts";
import { createStartLink } from "../lib/documents/login/login-links.ts";
import { makeDataFolder } from "../lib/platform/data-folder.ts";
import { recordToFile } from "../lib/platform/high-water-marks-file.ts";
import { jsonLog } from "../lib/platform/json-log.ts";
import type { Log } from "../lib/platform/log.ts";
import type { Resources } from "../lib/platform/resources.ts";
import { type Config, readConfig } from "../lib/settings/config.ts";
import { workflowsService } from "../lib/workflows/service.ts";
import { bundled } from "./bundled.ts";
import { collectPeriodically, compactPeriodically, releaseAfterBursts, releaseWhenIdle } from "./memory.ts";
import { startPlatform } from "./platform.ts";
import { removeServerFile, writeServerFile } from "./server-file.ts";
import type { Template } from "./template.ts";

const TEMPLATE_PATH = fileURLToPath(new URL("../template.yaml", import.meta.url));

/** Limit of the time for stopping, milliseconds. */
const STOP_MAX_MS = 25_000;

/** One Ctrl-C may arrive twice, from the terminal and from npm; after this, it is a second one, milliseconds. */
const SECOND_INTERRUPT_MS = 250;

export interface ServerOptions {
  /** The settings, as environment variables. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Default: the repository's `template.yaml`. */
  readonly templatePath?: string;
  /** Receives the log's lines. Default: standard error. */
  readonly writeLog?: (line: string) => void;
}

export interface RunningServer {
  readonly port: number;
  /** `http://HOST:PORT` */
  readonly url: string;
  readonly baseUrls: { readonly automation: string };
  /** The file with the access token; undefined if the token is in the environment. */
  readonly tokenPath: string | undefined;
  readonly log: Log;
  /** Creates the link that signs the owner in; undefined if an identity provider does. */
  createLoginLink(): Promise<string | undefined>;
  /** Releases caches. */
  releaseMemory(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Starts Weft on this machine from `template.yaml`. Rejects if a setting is invalid, the port is in use or another
 * process uses the data folder; nothing is left running then.
 */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const config = readConfig(options.env);
  const writers = findEditorWriters(config.documents);
  makeDataFolder(config.dataDir);
  const templatePath = options.templatePath ?? TEMPLATE_PATH;
  const template = await openTemplate(templatePath, config.dataDir);
  let redact = (line: string): string => line;
  const write = options.writeLog ?? writeToStderr;
  const log = jsonLog({ write, level: "info", redact: (line) => redact(line) });
  if (writers !== undefined) log.info(licenseNotice(writers));
  const opened = await openApp(config, template.resources, log);
  redact = (line) => opened.ports.secrets.redact(line);
  const { host, port, dataDir, worker, maxConcurrentSteps: stepsAtOnce, publicUrl, allowedHosts } = config;
  const marks = config.recordHighWaterMarks ? recordToFile({ dataDir, log }) : undefined;
  const root = dirname(templatePath);
  const starting = startPlatform({
    template,
    root,
    opened,
    log,
    host,
    port,
    worker,
    stepsAtOnce,
    hosts: { publicUrl, allowedHosts },
    bodiesDir: join(dataDir, "bodies-unfinished"),
  });
  const platform = await starting.catch(async (error: unknown) => {
    await marks?.close();
    throw error;
  });
  try {
    writeServerFile(dataDir, { url: platform.url, pid: process.pid });
  } catch (error) {
    log.warn("writing the server's address to the data folder failed: commands cannot find this server", {
      error,
    });
  }
  log.info("started", { url: platform.url, dataDir, pid: process.pid });
  void opened.deps.docspec?.check().then((advice) => {
    if (advice !== undefined) log.warn(advice);
  });
  return {
    port: platform.port,
    url: platform.url,
    baseUrls: { automation: `${platform.url}${workflowsService.basePath}` },
    tokenPath: opened.tokenSource === "file" ? opened.tokenPath : undefined,
    log,
    createLoginLink: async () =>
      config.documents.login.client !== undefined
        ? undefined
        : createStartLink(opened.deps, publicUrl ?? reachableUrl(platform.url)),
    releaseMemory: async () => opened.releaseMemory?.(),
    close: async () => {
      log.info("stopping");
      removeServerFile(dataDir);
      await platform.close();
      await marks?.close();
      log.info("stopped");
    },
  };
}

/** Browsers cannot open the address that means all addresses. */
const reachableUrl = (url: string): string =>
  url.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:");

/** The parser of YAML is loaded only if the bundle does not contain the template. */
async function openTemplate(path: string, dataDir: string): Promise<Template> {
  if (bundled.template?.path === path) return bundled.template.read;
  const { readTemplateOnce } = await import("./template-cache.ts");
  return readTemplateOnce(path, dataDir);
}

async function openApp(config: Config, resources: Resources, log: Log): Promise<LocalApp> {
  const { dataDir, stack, schedulerEnabled } = config;
  // Loaded after the settings are read: a wrong setting is reported at once.
  const { openAwsApp, openEmbeddedApp } = await import("../lib/app/local.ts");
  return config.platform === "embedded"
    ? openEmbeddedApp({ dataDir, resources, config, log, schedulerEnabled })
    : openAwsApp({ dataDir, resources, config, log, stack });
}

/**
 * The server as a program: a line on standard output when it is ready, and one with a login link, which is in no log;
 * logs on standard error. SIGTERM and
 * SIGINT end it with 0 after a drain, a second SIGINT at once with 130. An uncaught error ends it with 1: its state is
 * then unknown, and a restart loses nothing that was accepted.
 */
export async function runServer(env: ServerOptions["env"]): Promise<void> {
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});
  let log = jsonLog({ write: writeToStderr, level: "info" });
  process.on("uncaughtException", (error, origin) => {
    log.error(origin, { error });
    process.exit(1);
  });
  const starting = startServer({ env });
  let interruptedAt: number | undefined;
  let stopping = false;
  const stop = (): void => {
    if (stopping) return;
    stopping = true;
    setTimeout(() => fail(new Error("Stopping took too long")), STOP_MAX_MS).unref();
    starting.then((server) => server.close()).then(() => process.exit(0), fail);
  };
  process.on("SIGTERM", stop);
  process.on("SIGINT", () => {
    if (interruptedAt !== undefined && performance.now() - interruptedAt > SECOND_INTERRUPT_MS)
      process.exit(130);
    interruptedAt ??= performance.now();
    stop();
  });
  try {
    const server = await starting;
    log = server.log;
    if (stopping) return;
    process.stdout.write(`${readyLine(server)}\n`);
    await printLoginLink(server);
    releaseWhenIdle();
    collectPeriodically();
    compactPeriodically();
    releaseAfterBursts({ release: () => server.releaseMemory(), log });
  } catch (error) {
    fail(error);
  }
}

async function printLoginLink(server: RunningServer): Promise<void> {
  try {
    const link = await server.createLoginLink();
    if (link !== undefined) process.stdout.write(`sign in once at ${link}\n`);
  } catch (error) {
    server.log.warn("creating a login link failed: npx weft open creates one", { error });
  }
}

function writeToStderr(line: string): void {
  process.stderr.write(line);
}

function readyLine({ url, baseUrls, tokenPath }: RunningServer): string {
  const token = tokenPath === undefined ? "WEFT_ACCESS_TOKEN" : relativePath(tokenPath);
  return `weft ready  automation=${baseUrls.automation}  health=${url}/health  token=${token}`;
}

/** Relative if the file is below the current folder. */
function relativePath(path: string): string {
  const short = relative(process.cwd(), path);
  return short.startsWith("..") ? path : short;
}

function fail(error: unknown): void {
  process.stderr.write(`weft: ${startFailure(error)}\n`);
  process.exit(1);
}

function startFailure(error: unknown): string {
  const { code, address, port } = error as { code?: string; address?: string; port?: number };
  if (code === "EADDRINUSE") {
    return `Port ${port} on ${address} is in use: stop the process that uses it, or choose another with PORT (0 takes any free one).`;
  }
  if (code === "EACCES" && port !== undefined)
    return `Port ${port} needs privileges that this process lacks: choose one above 1023 with PORT.`;
  if (code === "EADDRNOTAVAIL")
    return `${address} is not an address of this machine: choose another with HOST.`;
  return error instanceof Error ? error.message : String(error);
}

if (import.meta.main) await runServer(process.env);
