import type { TestServer } from "../../lib/testing/test-server.ts";
import { callApi } from "./web-server.ts";

const DEPLOY = `name: deploy
triggers:
  - name: on-production
    type: event
    topic: custom.deploy
    filters: ["event.data.environment == 'production'"]
  - name: on-large
    type: event
    topic: custom.deploy
    filters: ["event.data.services.length > 10"]
  - name: every-night
    type: cron
    schedule: "0 2 * * *"
  - name: from-the-forge
    type: webhook
steps:
  - {name: roll-out, type: bash, command: "echo rolled out"}
`;
const ALERT = `name: alert
triggers:
  - name: failures
    type: event
    topic: run.failed
  - name: deployments
    type: event
    topic: "custom.*"
    enabled: false
steps:
  - {name: tell, type: bash, command: "echo told"}
`;

const SCAN = `name: scan
steps:
  - name: look
    type: bash
    command: |
      printf '# Report\\n\\n- two hosts\\n- <script>alert(1)</script>\\n' > report.md
      printf '{"hosts":["a.example.org","b.example.org"],"open":{"a.example.org":[80,443]}}' > hosts.json
      printf '<svg xmlns="http://www.w3.org/2000/svg" width="240" height="80"><rect width="240" height="80" fill="#3355cc"/></svg>' > plan.svg
      (printf '\\033[31mred\\033[0m\\n'; head -c 9000000 /dev/zero | tr '\\0' x) > long.txt
reports:
  - {name: report, path: report.md}
  - {name: hosts, path: hosts.json}
  - {name: plan, path: plan.svg}
  - {name: long, path: long.txt}
`;
const SEVERITIES = ["critical", "high", "high", "medium", "medium", "medium", "low", "info"];
const FINDINGS = SEVERITIES.map((severity, index) => ({
  workspace: "acme",
  severity,
  confidence: "firm",
  vuln_title: `Finding ${index + 1} of the scan`,
  vuln_desc: "The server accepts a header that it must not accept.\nUpdate it to the newest version.",
  asset_type: "host",
  asset_value: `${index % 2 === 0 ? "a" : "b"}.example.org`,
}));

const VERSION = {
  version: "4.12.0",
  services: ["api", "worker", "web"],
  author: { name: "Ana Lind", email: "ana@example.org" },
  changes: Array.from({ length: 120 }, (_, index) => ({ id: index, title: `Change ${index}` })),
  notes: "Rolls out in three stages. ".repeat(40),
};

/** Events that match triggers and that do not, and the addresses of the pages that show them. */
export async function createEventExample(server: TestServer): Promise<Record<string, string>> {
  await server.storeWorkflow(DEPLOY);
  await server.storeWorkflow(ALERT);
  const emit = async (topic: string, data: object): Promise<string> => {
    const { event_id } = await callApi<{ event_id: string }>(server, "POST", "/automation/events/emit", {
      topic,
      data,
    });
    return event_id.replace("evt_", "");
  };
  await server.storeWorkflow(SCAN);
  await server.run({ module: "scan", target: "example.org", params: {}, workspace: "acme" });
  for (const finding of FINDINGS) await callApi(server, "POST", "/automation/vulnerabilities", finding);
  await importAssets(server);
  await emit("custom.backup", { host: "db-1", bytes: 73_400_320 });
  await emit("custom.deploy", { environment: "production", ...VERSION });
  const event = await emit("custom.deploy", { environment: "staging", ...VERSION });
  const webhooks = await callApi<{ data: { id: string }[] }>(server, "GET", "/automation/webhooks");
  const schedules = await callApi<{ data: { id: string }[] }>(
    server,
    "GET",
    "/automation/schedules?trigger_type=cron",
  );
  const files = await callApi<{ data: { id: string; name: string }[] }>(
    server,
    "GET",
    "/automation/artifacts",
  );
  return {
    events: "/events",
    "events-filtered": "/events?topic=custom.deploy&source=api",
    event: `/events/${event}`,
    "send-event": `/send-event?from=${event}`,
    "dead-letters": "/dead-letters",
    findings: "/findings",
    finding: "/findings?finding=1",
    assets: "/findings?kind=assets",
    changes: "/findings?kind=changes&workspace=acme&from=2020-01-01",
    files: "/files",
    file: `/files?file=${files.data.find(({ name }) => name === "hosts")?.id}`,
    workspaces: "/files?view=workspaces",
    functions: "/functions",
    function: "/functions?function=base64_encode",
    platform: "/platform",
    queues: "/platform?part=queues",
    "platform-settings": "/platform?part=settings",
    schedules: "/schedules",
    webhooks: "/webhooks",
    webhook: `/webhooks?webhook=${webhooks.data[0]?.id}`,
    schedule: `/schedules?schedule=${schedules.data[0]?.id}`,
  };
}

async function importAssets(server: TestServer): Promise<void> {
  const response = await fetch(`${server.url}/automation/assets/import?workspace=acme`, {
    method: "POST",
    headers: { authorization: `Bearer ${server.token}`, "content-type": "text/plain" },
    body: "a.example.org\nb.example.org\nmail.example.org\n",
  });
  if (!response.ok) throw new Error(`the import failed: ${await response.text()}`);
}
