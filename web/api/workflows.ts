import { dataOf, type Schemas } from "../../client/api.ts";
import { api } from "./client.ts";

export type Workflow = Schemas["Workflow"];
export type WorkflowDetail = Schemas["WorkflowDetail"];
export type SavedWorkflow = Schemas["SavedWorkflow"];
export type ValidatedWorkflow = Omit<Schemas["ValidatedWorkflow"], "warnings"> & {
  readonly warnings: readonly string[];
};

/** What a step would do, as a dry run says. */
export interface PlannedStep {
  readonly order: number;
  readonly name: string;
  readonly will: "run" | "skip" | "depends";
  /** Why it is skipped, or what it depends on. */
  readonly reason: string;
  readonly commands: readonly string[];
}

export interface Plan {
  readonly target: string;
  readonly steps: readonly PlannedStep[];
}

/** The address of a workflow's page. Names may contain any character. */
export const workflowPath = (name: string): string => `/workflows/${encodeURIComponent(name)}`;

/** The name in such an address, whose escapes the router has decoded in part. */
export function workflowNameOf(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

const YAML = { "content-type": "application/yaml" } as const;
const asText = (body: unknown): string => String(body);

/**
 * Stores the text as the newest revision. `revision` is the one that the text was made from, 0 for a new workflow.
 * Rejects with an ApiFailure of status 409 if another one is the newest.
 */
export const saveWorkflow = (text: string, revision: number): Promise<SavedWorkflow> =>
  dataOf(
    api.POST("/automation/workflows", {
      params: { query: { revision } },
      body: text,
      headers: YAML,
      bodySerializer: asText,
    }),
  );

/** What the service says about a text, without storing it. */
export const validateWorkflow = (text: string, signal: AbortSignal): Promise<ValidatedWorkflow> =>
  dataOf(
    api.POST("/automation/workflows/validate", { body: text, headers: YAML, bodySerializer: asText, signal }),
  );

export interface RunInput {
  /** Empty for a run without a target. */
  readonly target: string;
  readonly params: Readonly<Record<string, string>>;
}

const runBody = ({ name, kind }: Pick<Workflow, "name" | "kind">, { target, params }: RunInput) => ({
  [kind]: name,
  params,
  ...(target === "" ? { empty_target: true } : { target }),
});

export const startRun = (
  workflow: Pick<Workflow, "name" | "kind">,
  input: RunInput,
): Promise<Schemas["StartedRun"]> => dataOf(api.POST("/automation/runs", { body: runBody(workflow, input) }));

/** Plans a run and executes nothing. */
export const planRun = async (workflow: Pick<Workflow, "name" | "kind">, input: RunInput): Promise<Plan> => {
  const body = { ...runBody(workflow, input), dry_run: true };
  // The contract describes the response of a started run only.
  return (await dataOf<unknown>(api.POST("/automation/runs", { body }))) as Plan;
};
