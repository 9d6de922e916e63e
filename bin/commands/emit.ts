import { dataOf } from "../../client/api.ts";
import { WeftCommand } from "../command.ts";
import { connect } from "../connection.ts";
import { type EmitAnswer, emitFile } from "../emit-file.ts";
import { UsageError } from "../errors.ts";
import { readText } from "../files.ts";
import { addServerOptions, givenFields, type ServerOptions } from "../options.ts";
import { printResponse, unexpectedResponse } from "../responses.ts";
import { printable, terminal } from "../terminal.ts";

interface EmitOptions extends ServerOptions {
  readonly data?: string;
  readonly name?: string;
  readonly source?: string;
  readonly dataType?: string;
  readonly workspace?: string;
  readonly runId?: string;
  readonly workflowName?: string;
  readonly file?: string;
}

export const emit = addServerOptions(
  new WeftCommand("emit")
    .description("Emit an event and show which workflows it triggers, or emit the events of a file")
    .argument("[topic]", "Topic of the event")
    .option("-D, --data <json>", "Payload, a JSON object; - reads standard input")
    .option("--name <name>", "Name of the event (default: its topic)")
    .option("--source <name>", "Source of the event (default: api)")
    .option("--data-type <type>", "Type of the payload")
    .option("-w, --workspace <name>", "Workspace that the event is about")
    .option("--run-id <run>", "Run that the event is about")
    .option("--workflow-name <name>", "Workflow that the event is about")
    .option("-f, --file <path>", "Emit the events of a file, one JSON object a line; - reads standard input"),
)
  .example(`weft emit custom.deploy --data '{"version":"1.2"}'`, "triggers the workflows of custom.deploy")
  .example("cat finding.json | weft emit custom.finding --data -", "reads the payload from standard input")
  .example("weft emit --file events.jsonl", "emits the events of a file, a thousand a request")
  .example("producer | weft emit --file -", "reads events from standard input")
  .action(async (topic: string | undefined, options: EmitOptions) => {
    if (options.file !== undefined) await emitLines(topic, options, options.file);
    else if (topic === undefined) throw new UsageError("Missing required argument 'topic'.");
    else await emitEvent(topic, options);
  });

const OF_ONE_EVENT = ["data", "name", "source", "dataType", "workspace", "runId", "workflowName"] as const;

/** With `--json`, each response is a line. */
async function emitLines(topic: string | undefined, options: EmitOptions, path: string): Promise<void> {
  if (topic !== undefined || OF_ONE_EVENT.some((name) => options[name] !== undefined))
    throw new UsageError(
      "--file emits the events of a file: no topic and no options of an event may be given.",
    );
  let [emitted, triggering] = [0, 0];
  await emitFile(connect(options).api, path, (answers: readonly EmitAnswer[]) => {
    emitted += answers.length;
    triggering += answers.filter(({ triggered_workflows: started }) => started.length > 0).length;
    if (options.json === true) terminal.out(answers.map((answer) => `${JSON.stringify(answer)}\n`).join(""));
    else terminal.error(`${emitted} events emitted\n`);
  });
  if (options.json !== true)
    terminal.out(`Emitted ${emitted} events, of which ${triggering} trigger workflows\n`);
}

async function emitEvent(topic: string, options: EmitOptions): Promise<void> {
  const body = givenFields({
    topic,
    data: parsePayload(options.data),
    name: options.name,
    source: options.source,
    data_type: options.dataType,
    workspace: options.workspace,
    run_id: options.runId,
    workflow_name: options.workflowName,
  });
  const response = await dataOf(connect(options).api.POST("/automation/events/emit", { body }));
  if (Array.isArray(response)) throw unexpectedResponse("the response to one event");
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
