import { join } from "node:path";
import { RawConnection, rawRequest } from "../harness/raw-http.ts";
import { runMs, startServer } from "../harness/server.ts";
import { sequence } from "../harness/workflows.ts";
import { effectCommand, type Peer } from "./peer.ts";

const effectWorkflow = (journal: string): string => `
name: effect
triggers:
  - { name: on-event, type: event, topic: custom.peer, input: { seq: event_data.seq } }
steps:
  - { name: effect, type: bash, command: ${JSON.stringify(effectCommand(journal, "{{seq}}"))} }
`;

export const weft: Peer = {
  name: "Weft",
  durability: "on disk when acknowledged",
  install: async () => "this checkout",
  start: async ({ data, journal }) => {
    const dataDir = join(data, "weft");
    let server = await startServer({ dataDir });
    const idle: RawConnection[] = [];
    await server.storeWorkflow(effectWorkflow(journal));
    return {
      emit: async (seq) => {
        const connection = idle.pop() ?? (await RawConnection.open(server.port));
        const body = JSON.stringify({ topic: "custom.peer", data: { seq } });
        const request = rawRequest("POST", "/automation/events/emit", { token: server.token, body });
        const { status } = await connection.send(request);
        idle.push(connection);
        if (status !== 200) throw new Error(`an emit answered ${status}`);
      },
      runSteps: async (count) => {
        await server.storeWorkflow(sequence("steps", count, 'type: bash, command: "true"'));
        return (await runMs(server, "steps")).ms;
      },
      kill: async () => {
        for (const connection of idle.splice(0)) connection.close();
        await server.kill();
      },
      restart: async () => {
        server = await startServer({ dataDir });
      },
    };
  },
};
