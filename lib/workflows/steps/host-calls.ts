/** Calls of script functions to the process that executes their step, which has queues, hosts and secrets. */
import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { redactJson, redactJsonText } from "../../events/redact-json.ts";
import { sendRequest } from "../../network/request.ts";
import { StepFailedError } from "../engine/step-failure.ts";
import { HOP_HEADER } from "../installation/hop-tokens.ts";
import { sshTarget } from "../remote/target.ts";
import { tokenStart } from "../remote/tokens.ts";
import { isRecord, textOf } from "../script-library/argument-values.ts";
import { remaining, stepEnvironment, timeFor } from "./attempt-environment.ts";
import { COMMAND_TIMEOUT_MS, outputPath, resultOf } from "./bash.ts";
import type { Attempt } from "./context.ts";
import { type HostCallResult, hostCallResultBlob, sendToConductor } from "./messages.ts";

/** Maximum wait for the conductor's result, milliseconds. */
const ANSWER_MS = 60_000;
const FIRST_LOOK_MS = 50;
const LOOK_MS = 500;
/** Timeout of all requests to a language model if the step has none, milliseconds. */
const MODEL_MS = 10 * 60_000;
const NOTICE_MS = 30_000;
const NOTICE_ANSWER_BYTES = 64 * 1024;
/** The secret with the addresses of webhooks, and the maximum number of them. */
export const NOTIFY_SECRET = "NOTIFY_WEBHOOKS";
const WEBHOOKS_MAX = 20;
/** Maximum number of runs that one evaluation of a script starts. */
const RUNS_MAX = 1_000;
/** Maximum number of document calls of one evaluation. */
const DOCUMENTS_MAX = 1_000;

type Input = Readonly<Record<string, unknown>>;

/** Returns a JSON value; `callId` identifies the call within the step. Rejects with the message for the script. */
export async function handleHostCall(
  attempt: Attempt,
  what: string,
  input: unknown,
  signal: AbortSignal,
  callId = "",
): Promise<unknown> {
  const given = isRecord(input) ? input : {};
  switch (what) {
    case "records":
      return askTables(attempt, given, signal);
    case "write":
      return askTables(attempt, withoutSecrets(attempt, given), signal);
    case "run":
      return startRun(attempt, given, signal, callId);
    case "document":
      return askDocument(attempt, given, signal, callId);
    case "ssh":
      return execBySsh(attempt, given, signal);
    case "llm":
      return askModel(attempt, given, signal);
    case "snapshot":
      return (await import("./snapshot-calls.ts")).handleSnapshotCall(attempt, given, signal);
    case "notify":
      return notify(attempt, given, signal);
    default:
      throw new StepFailedError(`${what} is not available here`);
  }
}

/** Without tables, sends the call to the conductor and polls the blob of the result. */
async function askTables(attempt: Attempt, query: Input, signal: AbortSignal): Promise<HostCallResult> {
  const { deps, run } = attempt;
  if (deps.handleScriptCall !== undefined) return deps.handleScriptCall(run.run_id, query);
  const id = randomUUID();
  await sendToConductor(deps, { run_id: run.run_id, call: { id, query } }, `call:${id}`);
  const stop = AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)]);
  for (let pause = FIRST_LOOK_MS; ; pause = Math.min(LOOK_MS, pause * 2)) {
    if (stop.aborted) throw new StepFailedError("no response in time");
    await sleep(pause, undefined, { signal: stop }).catch(() => undefined);
    const bytes = await deps.blobs.get(hostCallResultBlob(run.run_id, id));
    if (bytes !== undefined) return JSON.parse(Buffer.from(bytes).toString("utf8")) as HostCallResult;
  }
}

/** The run's id derives from the call, so a step that is redelivered or retried finds the run that it started. */
function startRun(
  attempt: Attempt,
  given: Input,
  signal: AbortSignal,
  callId: string,
): Promise<HostCallResult> {
  if (Number(callId.split(".").at(-1)) > RUNS_MAX)
    throw new StepFailedError(`one script can start at most ${RUNS_MAX} runs`);
  const query = { ...given, of: "new run", call_id: uniqueCallId(attempt, callId) };
  return askTables(attempt, withoutSecrets(attempt, query), signal);
}

/** A document call is identified the same way, so what it creates is created once. */
function askDocument(
  attempt: Attempt,
  given: Input,
  signal: AbortSignal,
  callId: string,
): Promise<HostCallResult> {
  if (Number(callId.split(".").at(-1)) > DOCUMENTS_MAX)
    throw new StepFailedError(`one script can make at most ${DOCUMENTS_MAX} document calls`);
  const query = { ...given, call_id: uniqueCallId(attempt, callId) };
  return askTables(attempt, withoutSecrets(attempt, query), signal);
}

/** Identifies a call of a step, independent of the number of its attempts. */
function uniqueCallId({ request: { key, phase, round = 0 } }: Attempt, callId: string): string {
  return `${phase} ${round} ${callId} ${key}`;
}

/** Stored values are displayed, so secrets are redacted. */
const withoutSecrets = ({ deps }: Attempt, query: Input): Input => redactJson(query, deps.secrets.redact);

/** Applies the rules of remote-bash steps: known hosts, keys of the key folder. Returns the command's output. */
async function execBySsh(attempt: Attempt, given: Input, signal: AbortSignal): Promise<string> {
  const { deps, run, request, number } = attempt;
  const { remote } = deps;
  if (remote === undefined) throw new StepFailedError("ssh_exec requires a server or a worker");
  const field = (name: string): string => textOf(given[name]).trim();
  const optional = (name: string, as = name) => (field(name) === "" ? {} : { [as]: field(name) });
  const target = await sshTarget(
    {
      host: field("host"),
      ...optional("user"),
      ...optional("key_path", "key_file"),
      ...optional("password"),
      ...optional("port"),
    },
    remote.settings,
  );
  const timeoutMs = remaining(attempt, COMMAND_TIMEOUT_MS);
  const use = { runId: run.run_id, step: request.key, attempt: number, timeoutMs, signal };
  const name = `ssh-${randomUUID()}`;
  const stdoutPath = outputPath(attempt, 0, `${name}.out`);
  const stderrPath = outputPath(attempt, 0, `${name}.err`);
  const machine = await remote.ssh(target, use);
  try {
    const outcome = await machine.run({
      script: textOf(given.command),
      env: stepEnvironment(attempt),
      stdoutPath,
      stderrPath,
      timeoutMs,
      signal,
      token: `${tokenStart(run.run_id, request.key, number)}${name}`,
    });
    return await resultOf(attempt, outcome, stdoutPath, stderrPath);
  } finally {
    await machine.close();
    await Promise.all([rm(stdoutPath, { force: true }), rm(stderrPath, { force: true })]);
  }
}

/** Applies the settings and rules of llm steps. Returns the text of the response. */
async function askModel(attempt: Attempt, given: Input, signal: AbortSignal): Promise<string> {
  const { deps } = attempt;
  const [{ completeChat }, { callConfig }] = await Promise.all([
    import("../../llm/complete.ts"),
    import("../../llm/config.ts"),
  ]);
  const messages = Array.isArray(given.messages) ? given.messages : [];
  const config = callConfig({ config: isRecord(given.config) ? given.config : {} });
  const budgetMs = timeFor(attempt, MODEL_MS);
  const answer = await completeChat(deps, config, { messages }, { budgetMs, signal });
  return deps.secrets.redact(answer.content);
}

/** Sends a notice to every webhook in the secret NOTIFY_WEBHOOKS. Rejects if one of them fails. */
async function notify(attempt: Attempt, given: Input, signal: AbortSignal): Promise<boolean> {
  const { deps, run, request } = attempt;
  const named = ((await deps.secrets.get(NOTIFY_SECRET)) ?? "").split(/[\s,]+/).filter((url) => url !== "");
  if (named.length === 0)
    throw new StepFailedError(
      `no webhook is configured: set the secret ${NOTIFY_SECRET} to the URLs of webhooks`,
    );
  if (named.length > WEBHOOKS_MAX)
    throw new StepFailedError(`${NOTIFY_SECRET} must have at most ${WEBHOOKS_MAX} webhooks`);
  const body = redactJsonText(
    {
      event: textOf(given.event),
      text: textOf(given.text),
      ...(given.data === undefined ? {} : { data: given.data }),
      workflow: run.workflow_name,
      step: request.key,
      run_id: run.run_id,
      workspace: run.workspace,
      timestamp: new Date(deps.clock.now()).toISOString(),
    },
    deps.secrets.redact,
  );
  const failed = (await Promise.all(named.map((url) => tellWebhook(attempt, url, body, signal)))).filter(
    (error) => error !== undefined,
  );
  if (failed.length === 0) return true;
  throw new StepFailedError(`${failed.length} of ${named.length} webhooks failed: ${failed[0]}`);
}

/** Returns why the webhook failed, without its address, which is secret. */
async function tellWebhook(
  { deps, run }: Attempt,
  address: string,
  body: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const url = URL.parse(address);
  if (url === null || !/^https?:$/.test(url.protocol)) return "the URL of a webhook must be http or https";
  const headers = new Headers({ "content-type": "application/json" });
  if (run.hop_token !== undefined && run.hop_token !== "") headers.set(HOP_HEADER, run.hop_token);
  try {
    const { status } = await sendRequest(deps.network, {
      url,
      method: "POST",
      headers,
      body,
      signal,
      timeoutMs: NOTICE_MS,
      maxBytes: NOTICE_ANSWER_BYTES,
    });
    return status < 400 ? undefined : `${url.host} answered ${status}`;
  } catch (error) {
    if (signal.aborted) throw error;
    const why = deps.secrets.redact(error instanceof Error ? error.message : String(error));
    return why.replaceAll(url.href, url.host).replaceAll(`${url.pathname}${url.search}`, "");
  }
}
