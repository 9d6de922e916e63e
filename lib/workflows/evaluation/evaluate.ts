import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as z from "zod";
import { ApiError } from "../../errors.ts";
import { jsonObject } from "../../events/json-object.ts";
import { redactJson } from "../../events/redact-json.ts";
import { parseTemplate } from "../expressions/parse.ts";
import { renderScript } from "../expressions/render-script.ts";
import { renderText } from "../expressions/render-text.ts";
import { TemplateError } from "../expressions/template-error.ts";
import type { StepDeps } from "../steps/context.ts";

const SCRIPT_MAX_CHARS = 100_000;
const TARGET_MAX_CHARS = 10_000;
const PARAMS_MAX = 200;
const NAME_MAX_CHARS = 256;
const TIMEOUT_MS = 10_000;
/** Limit per process: script threads primarily serve runs. */
const EVALUATIONS_AT_ONCE = 4;
const IDENTIFIER = /[A-Za-z_$][\w$]*/g;

function hasFewNames(params: Readonly<Record<string, unknown>>): boolean {
  const names = Object.keys(params);
  return names.length <= PARAMS_MAX && names.every((name) => name.length <= NAME_MAX_CHARS);
}

export const evaluateBody = z.object({
  script: z
    .string("must be text")
    .max(SCRIPT_MAX_CHARS)
    .nullish()
    .describe("JavaScript with library functions and {{name}} templates; must not be empty"),
  target: z.string().max(TARGET_MAX_CHARS).nullish(),
  params: jsonObject
    .refine(hasFewNames, `must have at most ${PARAMS_MAX} names of at most ${NAME_MAX_CHARS} characters`)
    .nullish(),
});

export const evaluateResponse = z
  .object({
    result: z.unknown(),
    rendered_script: z.string(),
    logs: z.array(z.object({ level: z.string(), message: z.string() })),
  })
  .meta({ id: "FunctionResult" });

let underWay = 0;

/**
 * Evaluates a script outside of any run: in a temporary folder, without commands and without events, for at most 10 s.
 * Throws `bad_request` for an error of the script, `too_many_requests`.
 */
export async function evaluateFunctions(
  deps: Pick<StepDeps, "scripts" | "secrets" | "network">,
  body: z.infer<typeof evaluateBody>,
): Promise<z.infer<typeof evaluateResponse>> {
  const source = body.script ?? "";
  if (source.trim() === "") throw new ApiError("bad_request", "script is required");
  if (underWay >= EVALUATIONS_AT_ONCE)
    throw new ApiError("too_many_requests", "Too many scripts are being evaluated, try again shortly", {
      retryAfterSeconds: 1,
    });
  const values = valuesOf(body);
  const { rendered, code, variables } = render(source, values);
  underWay += 1;
  try {
    const folder = await mkdtemp(join(tmpdir(), "weft-eval-"));
    try {
      const id = randomUUID();
      const outcome = await deps.scripts.run({
        code,
        variables,
        cwd: folder,
        commands: false,
        network: deps.network.policy,
        env: {},
        timeoutMs: TIMEOUT_MS,
        isolate: `eval-${id}`,
        token: `eval/${id}`,
      });
      if (!outcome.ok)
        throw failed(outcome.reason === "timeout" ? `timed out after ${TIMEOUT_MS} ms` : outcome.message);
      const answer = { result: outcome.value, rendered_script: rendered, logs: outcome.logs };
      return evaluateResponse.parse(redactJson(answer, deps.secrets.redact));
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  } finally {
    underWay -= 1;
  }
}

function valuesOf({ target, params }: z.infer<typeof evaluateBody>): Record<string, unknown> {
  const values: Record<string, unknown> = Object.assign(
    Object.create(null) as Record<string, unknown>,
    params,
  );
  if (target !== undefined && target !== null) values["target"] = values["Target"] = target;
  return values;
}

function render(
  source: string,
  values: Record<string, unknown>,
): {
  readonly rendered: string;
  readonly code: string;
  readonly variables: Readonly<Record<string, unknown>>;
} {
  try {
    const template = parseTemplate(source);
    const { code, variables } = renderScript(template, values);
    const named: Record<string, unknown> = {};
    for (const [name] of code.matchAll(IDENTIFIER)) if (name in values) named[name] = values[name];
    return { rendered: renderText(template, values), code, variables: { ...named, ...variables } };
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    throw new ApiError("bad_request", `Template rendering failed: ${error.message}`, { cause: error });
  }
}

function failed(message: string): ApiError {
  return new ApiError("bad_request", `Execution failed: ${message}`);
}
