import type { TestServer } from "../../lib/testing/test-server.ts";
import { createEventExample } from "./event-example.ts";
import { callApi } from "./web-server.ts";

/** What the pages of the example show. */
export interface WebExample {
  /** Each page by its name, with its address. */
  readonly pages: Readonly<Record<string, string>>;
}

const TITLES = [
  "Handbook",
  "Minutes of 12 October",
  "خطة الخريف",
  "Release checklist",
  "A title that is so long that no row of a list can show it as a whole, whatever the width of the screen is",
  "Plan for the autumn",
];

const TEXT = `# Goals

We meet on **Monday** at 10, and decide which of the three proposals we follow. See the [handbook](https://example.org/).

- Collect figures of the last quarter
- Ask the team in Lyon

1. Draft
2. Review

## Code

\`\`\`
npm ci && npm start
\`\`\`

> What is written once is read a hundred times.
`;

const AUDIT = `name: audit
params:
  - name: depth
    default: "2"
steps:
  - {name: fetch, type: bash, command: "echo fetched 12 repositories"}
  - {name: scan, type: bash, command: "echo scanned with depth {{depth}}"}
  - {name: report, type: bash, command: "printf 'line %s\\\\n' 1 2 3"}`;
const BROKEN = `name: nightly-backup
steps:
  - {name: dump, type: bash, command: "echo dumping"}
  - {name: upload, type: bash, command: "echo the bucket does not exist >&2; exit 3"}`;

/** Fills a new server with documents and finished runs, and names the pages that show them. */
export async function createWebExample(server: TestServer): Promise<WebExample> {
  let document = "";
  for (const title of TITLES) {
    const { id } = await callApi<{ id: string }>(server, "POST", "/api/v1.0/documents/", { title });
    const content = Buffer.from(TEXT).toString("base64");
    await callApi(server, "PATCH", `/api/v1.0/documents/${id}/content/`, { content });
    document = id;
  }
  await callApi(server, "POST", `/api/v1.0/documents/${document}/favorite/`);
  await server.storeWorkflow(AUDIT);
  await server.storeWorkflow(BROKEN);
  for (const target of ["github.com/weft", "example.org"]) await server.run({ module: "audit", target });
  const failed = await server.run({ module: "nightly-backup", target: "db-1" });
  return {
    pages: {
      documents: "/",
      favorites: "/?list=favorites",
      trash: "/?list=trash",
      document: `/d/${document}`,
      runs: "/runs",
      run: `/runs/${failed.run_uuid}`,
      step: `/runs/${failed.run_uuid}?step=upload`,
      timeline: `/runs/${failed.run_uuid}?view=timeline`,
      log: `/runs/${failed.run_uuid}?view=log`,
      chain: `/runs/${failed.run_uuid}?view=chain`,
      graph: `/runs/${failed.run_uuid}?view=graph`,
      revisions: "/workflows/audit?panel=revisions&revision=1",
      replay: `/runs/${failed.run_uuid}?panel=replay&step=upload`,
      ...(await createEventExample(server)),
      notifications: "/notifications",
      settings: "/settings/general",
      sessions: "/settings/sessions",
      tokens: "/settings/tokens",
      missing: "/nothing/here",
    },
  };
}
