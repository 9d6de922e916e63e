import { type Arguments, type Command, type Terminal, textFlag, UsageError } from "../command.ts";
import { connect, printable, SERVER_FLAGS } from "../connection.ts";
import { readText } from "../flags.ts";
import { printAnswer } from "../pages.ts";

const TEXTS = ["name", "source", "data-type", "workspace", "run-id", "workflow-name"] as const;

/** `weft emit`: an event on the bus. */
export const emit: Command = {
  name: "emit",
  summary: "Emits an event, and says which workflows it triggers",
  usage: "<topic> [--data JSON | --data -]",
  flags: {
    data: {
      type: "string",
      short: "D",
      value: "JSON",
      summary: "The payload, an object; - for standard input",
    },
    name: { type: "string", value: "NAME", summary: "The event's name; else its topic" },
    source: { type: "string", value: "NAME", summary: "Who emits it (api)" },
    "data-type": { type: "string", value: "TYPE", summary: "What the payload is" },
    workspace: { type: "string", short: "w", value: "NAME", summary: "The workspace that it is about" },
    "run-id": { type: "string", value: "RUN", summary: "The run that it is about" },
    "workflow-name": { type: "string", value: "NAME", summary: "The workflow that it is about" },
    ...SERVER_FLAGS,
  },
  examples: [
    [`weft emit custom.deploy --data '{"version":"1.2"}'`, "triggers what listens to custom.deploy"],
    ["cat finding.json | weft emit custom.finding --data -", "the payload from standard input"],
  ],
  run: async (args, terminal) => {
    const [topic, ...more] = args.positionals;
    if (topic === undefined) throw new UsageError("emit takes a topic.");
    if (more.length > 0) throw new UsageError(`'${more[0]}' is one word too many.`);
    await send(topic, args, terminal);
  },
};

async function send(topic: string, args: Arguments, terminal: Terminal): Promise<void> {
  const texts = TEXTS.map((name) => [name.replaceAll("-", "_"), textFlag(args, name)] as const);
  const body = {
    topic,
    data: dataOf(args),
    ...Object.fromEntries(texts.filter(([, text]) => text !== undefined)),
  };
  const answer = (await connect(args, terminal).request("POST", "/automation/events/emit", { body })) as {
    event_id: string;
    triggered_workflows: readonly string[];
    note?: string;
  };
  const triggered = answer.triggered_workflows.join(", ");
  const text = triggered === "" ? (answer.note ?? "It triggers nothing") : `It triggers ${triggered}`;
  printAnswer(answer, `${answer.event_id}\n${printable(text)}\n`, args, terminal);
}

function dataOf(args: Arguments): unknown {
  const given = textFlag(args, "data");
  if (given === undefined) return {};
  try {
    const data: unknown = JSON.parse(given === "-" ? readText("-") : given);
    if (typeof data === "object" && data !== null && !Array.isArray(data)) return data;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new UsageError("--data must be a JSON object.");
}
