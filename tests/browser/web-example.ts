import type { TestServer } from "../../lib/testing/test-server.ts";
import { createEventExample } from "./event-example.ts";
import { callApi } from "./web-server.ts";

/** What the pages of the example show. */
export interface WebExample {
  /** The document that has the most to show. */
  readonly document: string;
  /** A run that failed at its step `upload`. */
  readonly failedRun: string;
  /** Each page by its name, with its address. */
  readonly pages: Readonly<Record<string, string>>;
}

const ARABIC_TITLE = "خطة الخريف";
const TITLES = [
  "Handbook",
  "Minutes of 12 October",
  ARABIC_TITLE,
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

const ARABIC = `# الأهداف

نلتقي يوم **الاثنين** في الساعة 10، ونقرر أي الاقتراحات الثلاثة نتبع. انظر [الدليل](https://example.org/).

- جمع أرقام الربع الأخير
- سؤال الفريق في Lyon

1. مسودة
2. مراجعة

> ما يكتب مرة يقرأ مئة مرة.

\`\`\`
npm ci && npm start
\`\`\`
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
  let arabic = "";
  for (const title of TITLES) {
    const { id } = await callApi<{ id: string }>(server, "POST", "/api/v1.0/documents/", { title });
    const isArabic = title === ARABIC_TITLE;
    const content = Buffer.from(isArabic ? ARABIC : TEXT).toString("base64");
    await callApi(server, "PATCH", `/api/v1.0/documents/${id}/content/`, { content });
    if (isArabic) arabic = id;
    document = id;
  }
  await callApi(server, "POST", `/api/v1.0/documents/${document}/favorite/`);
  await server.storeWorkflow(AUDIT);
  await server.storeWorkflow(BROKEN);
  for (const target of ["github.com/weft", "example.org"]) await server.run({ module: "audit", target });
  const failed = await server.run({ module: "nightly-backup", target: "db-1" });
  return {
    document,
    failedRun: failed.run_uuid,
    pages: {
      documents: "/",
      favorites: "/?list=favorites",
      trash: "/?list=trash",
      document: `/d/${document}`,
      arabic: `/d/${arabic}`,
      workflows: "/workflows",
      workflow: "/workflows/audit",
      "new-workflow": "/new-workflow",
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
      guide: "/guide/tour",
      notifications: "/notifications",
      settings: "/settings/general",
      sessions: "/settings/sessions",
      tokens: "/settings/tokens",
      missing: "/nothing/here",
    },
  };
}
