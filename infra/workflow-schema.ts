import * as z from "zod";
import { workflow } from "../lib/workflows/schema/schema.ts";

export const WORKFLOW_SCHEMA_FILE = "examples/workflow.schema.json";

/** The JSON Schema that editors use to validate and complete workflow files. */
export function workflowSchema(): Record<string, unknown> {
  const schema = z.toJSONSchema(workflow, { io: "input", unrepresentable: "any" });
  return { title: "Weft workflow", ...schema };
}
