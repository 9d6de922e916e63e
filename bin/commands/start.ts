import { WeftCommand } from "../command.ts";
import { LOCALSTACK_DEFAULTS } from "../localstack-defaults.ts";
import { addListenOptions, type ListenOptions, listenEnvironment } from "../options.ts";
import { type Terminal, terminal } from "../terminal.ts";

interface StartOptions extends ListenOptions {
  readonly dataDir?: string;
  readonly localstack?: boolean;
}

export const start = addListenOptions(new WeftCommand("start").description("Start the server"), 3000)
  .option("--data-dir <folder>", "Folder for all data (default: WEFT_DATA_DIR, else ./.weft)")
  .option(
    "--localstack",
    "Use LocalStack for tables, queues, bus and blobs (default: at AWS_ENDPOINT_URL, else http://127.0.0.1:4566)",
  )
  .example("weft start --localstack", "creates its resources in LocalStack and uses them")
  .example("weft start", "listens on http://127.0.0.1:3000, with its data in ./.weft")
  .example("weft start --port 0 --data-dir /tmp/try", "uses a free port and a separate data folder")
  .action(async (options: StartOptions) => {
    // Imported here because the other commands do not need it.
    const { openServer } = await import("../../localstack/bundle/open.js");
    const { runServer } = await openServer();
    const environment = {
      ...terminal.env,
      ...listenEnvironment(options),
      ...(options.dataDir === undefined ? {} : { WEFT_DATA_DIR: options.dataDir }),
    };
    await runServer(options.localstack === true ? await provisionLocalStack(environment) : environment);
  });

/** Creates the template's resources in LocalStack, and returns the environment of a server that uses them. */
async function provisionLocalStack(environment: Terminal["env"]): Promise<Terminal["env"]> {
  for (const [name, value] of Object.entries(LOCALSTACK_DEFAULTS)) process.env[name] ||= value;
  const stack = environment.WEFT_STACK || "weft";
  const { provisionTemplate } = await import("../../infra/provision.ts");
  await provisionTemplate(stack, process.env);
  return {
    ...environment,
    // LocalStack has a private address, and steps may reach it.
    HTTP_STEP_PRIVATE_ADDRESSES: environment.HTTP_STEP_PRIVATE_ADDRESSES || "allow",
    WEFT_PLATFORM: "aws",
    WEFT_STACK: stack,
  };
}
