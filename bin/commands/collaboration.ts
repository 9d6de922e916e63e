import { WeftCommand } from "../command.ts";
import { CommandFailure, messageOf } from "../errors.ts";
import { onInterrupt } from "../interrupts.ts";
import { addListenOptions, type ListenOptions, listenEnvironment } from "../options.ts";
import { terminal } from "../terminal.ts";

export const collaboration = addListenOptions(
  new WeftCommand("collaboration").description("Run the collaboration server as a separate process"),
  4444,
)
  .example(
    "COLLABORATION_BACKEND_BASE_URL=http://localhost:3000 Y_PROVIDER_API_KEY=… weft collaboration",
    "serves the documents of the server at this URL, which has the same key",
  )
  .example("weft collaboration --port 0", "listens on a free port; the settings are in the environment")
  .action(async (options: ListenOptions) => {
    const { promise: stopRequested, resolve: stop } = Promise.withResolvers<void>();
    onInterrupt(stop, () => {});
    // Imported here because the other commands do not need it.
    const { startCollaboration } = await import("../../localstack/collaboration-process.ts");
    const running = await startCollaboration({
      environment: {
        ...terminal.env,
        ...listenEnvironment(options),
      },
      writeLog: (line) => terminal.error(line),
    }).catch((error: unknown) => {
      throw new CommandFailure(messageOf(error));
    });
    terminal.out(`weft collaboration ready  port=${running.port}\n`);
    await stopRequested;
    await running.close();
    process.exit(0);
  });
