import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";

/** A fake of Lambda for functions that invoke others by name: without Docker, emulators do not run functions. */
export interface TestLambda {
  /** For `AWS_ENDPOINT_URL_LAMBDA`. */
  readonly url: string;
  close(): void;
}

/** `call` gets the function's name and the payload; an error that it throws is returned as Lambda returns it. */
export async function startLambda(
  call: (name: string, event: unknown) => Promise<unknown>,
): Promise<TestLambda> {
  const server = createServer(async (incoming, outgoing) => {
    const name = /^\/2015-03-31\/functions\/([\w-]+)\/invocations$/.exec(incoming.url ?? "")?.[1] ?? "";
    try {
      const answer = await call(name, await json(incoming));
      outgoing.end(JSON.stringify(answer));
    } catch (error) {
      outgoing.setHeader("x-amz-function-error", "Unhandled");
      outgoing.end(JSON.stringify({ errorMessage: String(error) }));
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
