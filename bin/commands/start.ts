import { type Command, type Terminal, textFlag, UsageError } from "../command.ts";
import { LOCALSTACK } from "../localstack.ts";

const PORT_MAX = 65_535;

/** `weft start`: the server, with flags for what else comes from the environment. */
export const start: Command = {
  name: "start",
  summary: "Starts the server",
  usage: "[--port PORT] [--host HOST] [--data-dir FOLDER] [--localstack]",
  flags: {
    port: { type: "string", value: "PORT", summary: "Port, 0 for any free one (PORT, 3000)" },
    host: { type: "string", value: "HOST", summary: "Address to listen on (HOST, 127.0.0.1)" },
    "data-dir": {
      type: "string",
      value: "FOLDER",
      summary: "Where everything is kept (WEFT_DATA_DIR, ./.weft)",
    },
    localstack: {
      type: "boolean",
      summary: "Tables, queues, bus and blobs in LocalStack, at AWS_ENDPOINT_URL (http://127.0.0.1:4566)",
    },
  },
  examples: [
    [
      "weft start --localstack",
      "over LocalStack: makes its resources at AWS_ENDPOINT_URL, port 4566 where it is not set",
    ],
    ["weft start", "on http://127.0.0.1:3000, data in ./.weft"],
    ["weft start --port 0 --data-dir /tmp/try", "on a free port, with data of its own"],
  ],
  run: async (args, terminal) => {
    if (args.positionals.length > 0) throw new UsageError(`'${args.positionals[0]}' is one word too many.`);
    const port = textFlag(args, "port");
    if (port !== undefined && !(/^\d{1,5}$/.test(port) && Number(port) <= PORT_MAX)) {
      throw new UsageError(`--port must be a number from 0 to ${PORT_MAX}.`);
    }
    const settings = { PORT: port, HOST: textFlag(args, "host"), WEFT_DATA_DIR: textFlag(args, "data-dir") };
    const given = Object.entries(settings).filter(([, value]) => value !== undefined);
    // Loaded only here: the other commands start without it.
    const { openServer } = await import("../../localstack/bundle/open.js");
    const { runServer } = await openServer();
    const environment = { ...terminal.env, ...Object.fromEntries(given) };
    await runServer(args.flags.localstack === true ? await overLocalStack(environment) : environment);
  },
};

/** Makes the template's resources at the endpoint, and answers the settings of a server over them. */
async function overLocalStack(environment: Terminal["env"]): Promise<Terminal["env"]> {
  for (const [name, value] of Object.entries(LOCALSTACK)) process.env[name] ||= value;
  const stack = environment.WEFT_STACK || "weft";
  const { provisionTemplate } = await import("../../infra/provision.ts");
  await provisionTemplate(stack, process.env);
  // The services of AWS are this machine's own here, and so is what steps may reach.
  const reach = { HTTP_STEP_PRIVATE_ADDRESSES: environment.HTTP_STEP_PRIVATE_ADDRESSES || "allow" };
  return { ...environment, ...reach, WEFT_PLATFORM: "aws", WEFT_STACK: stack };
}
