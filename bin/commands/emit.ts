import { WeftCommand } from "../command.ts";
import { connect } from "../connection.ts";
import { UsageError } from "../errors.ts";
import { readText } from "../files.ts";
import { addServerOptions, type ServerOptions } from "../options.ts";
import { printResponse } from "../responses.ts";
import { printable } from "../terminal.ts";

interface EmitOptions extends ServerOptions {
  readonly data?: string;
  readonly name?: string;
  readonly source?: string;
  readonly dataType?: string;
  readonly workspace?: string;
  readonly runId?: string;
  readonly workflowName?: string;
}

export const emit = addServerOptions(
  new WeftCommand("emit")
    .description("Emit an event and show which workflows it triggers")
    .argument("<topic>", "Topic of the event")
    .option("-D, --data <json>", "Payload, a JSON object; - reads standard input")
    .option("--name <name>", "Name of the event (default: its topic)")
    .option("--source <name>", "Source of the event (default: api)")
    .option("--data-type <type>", "Type of the payload")
    .option("-w, --workspace <name>", "Workspace that the event is about")
    .option("--run-id <run>", "Run that the event is about")
    .option("--workflow-name <name>", "Workflow that the event is about"),
)
  .example(`weft emit custom.deploy --data '{"version":"1.2"}'`, "triggers the workflows of custom.deploy")
  .example("cat finding.json | weft emit custom.finding --data -", "reads the payload from standard input")
  .action(emitEvent);

async function emitEvent(topic: string, options: EmitOptions): Promise<void> {
  // JSON.stringify omits undefined fields.
  const body = {
    topic,
    data: parsePayload(options.data),
    name: options.name,
    source: options.source,
    data_type: options.dataType,
    workspace: options.workspace,
    run_id: options.runId,
    workflow_name: options.workflowName,
  };
  const response = (await connect(options).request("POST", "/automation/events/emit", { body })) as {
    event_id: string;
    triggered_workflows: readonly string[];
    note?: string;
  };
  const triggered = response.triggered_workflows.join(", ");
  const text = triggered === "" ? (response.note ?? "It triggers no workflow") : `It triggers ${triggered}`;
  printResponse(response, `${response.event_id}\n${printable(text)}\n`, options);
}

function parsePayload(json: string | undefined): unknown {
  if (json === undefined) return {};
  try {
    const data: unknown = JSON.parse(json === "-" ? readText("-") : json);
    if (typeof data === "object" && data !== null && !Array.isArray(data)) return data;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new UsageError("--data must be a JSON object.");
}
