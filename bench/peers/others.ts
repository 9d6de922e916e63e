import { installFromNpm, succeed } from "./installation.ts";
import { NotInstalledError, type Peer } from "./peer.ts";

/** Starts Temporal's dev server once, which downloads its program. */
const START_TEMPORAL = `
const { TestWorkflowEnvironment } = require("@temporalio/testing");
TestWorkflowEnvironment.createLocal().then((env) => env.teardown()).catch((error) => {
  console.error(error.stack, error.cause);
  process.exit(1);
});`;

/** A product whose installation is tried; where it succeeds, the table says that it was not measured. */
function tried(name: string, install: Peer["install"]): Peer {
  return {
    name,
    durability: "",
    install,
    start: () =>
      Promise.reject(new NotInstalledError("installed, but not measured: no driver here runs its work")),
  };
}

export const n8n = tried("n8n", (folder) => installFromNpm(folder, ["n8n"]));

export const inngest = tried("Inngest dev server", (folder) => installFromNpm(folder, ["inngest-cli"]));

export const temporal = tried("Temporal dev server", async (folder) => {
  const version = await installFromNpm(folder, ["@temporalio/testing", "@temporalio/worker"]);
  await succeed(process.execPath, ["-e", START_TEMPORAL], folder);
  return version;
});
