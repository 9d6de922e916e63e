import type { ComponentType } from "react";
import { type EarlyRequest, read } from "../api/early-requests.ts";
import type { TextGroup } from "../i18n/texts.ts";

/** A page, which is loaded when it is first shown. */
export interface PageRoute {
  /** May have one parameter, such as `/runs/:id`, which is the page's property. */
  readonly path: string;
  readonly texts: readonly TextGroup[];
  readonly load: () => Promise<ComponentType>;
  /** What the page requests first. The requests are sent while its code is loaded. */
  readonly requests: (address: Address) => readonly EarlyRequest[];
  /** Reads the responses into the cache, so that the first rendering of the page contains them. */
  readonly prefetch: ((search: string) => Promise<void>) | undefined;
}

/** Length of the id that the address of a document begins with. */
const UUID_LENGTH = 36;

interface Address {
  /** The parameter of the path; empty without one. */
  readonly parameter: string;
  /** The query string; empty without one. */
  readonly search: string;
}

type ParameterOf<Path extends string> = Path extends `${string}:${infer Name}`
  ? Readonly<Record<Name, string>>
  : object;

const route = <Path extends string>(
  path: Path,
  texts: readonly TextGroup[],
  load: () => Promise<ComponentType<ParameterOf<Path>>>,
  requests: PageRoute["requests"] = () => [],
  prefetch?: PageRoute["prefetch"],
  // The router passes the parameter of the path.
): PageRoute => ({ path, texts, load: load as PageRoute["load"], requests, prefetch });

/** The beginning of a list: with filters, the page knows what it reads. */
const listWithoutFilters =
  (path: string): PageRoute["requests"] =>
  ({ search }) =>
    search === "" ? [read(path)] : [];

const importDocumentsPage = () => import("../pages/documents/documents-page.tsx");

/** All pages, by their paths. */
export const ROUTES: readonly PageRoute[] = [
  route(
    "/",
    ["documents"],
    async () => (await importDocumentsPage()).DocumentsPage,
    listWithoutFilters("/api/v1.0/documents?page=1&page_size=50"),
    async (search) => {
      if (search === "") await (await importDocumentsPage()).prefetchDocuments();
    },
  ),
  route(
    "/d/:name",
    ["document"],
    async () => (await import("../pages/document/document-page.tsx")).DocumentPage,
    ({ parameter }) => {
      const path = `/api/v1.0/documents/${parameter.slice(0, UUID_LENGTH)}`;
      return [read(path), { method: "POST", path: `${path}/collaboration-ticket/` }];
    },
  ),
  route(
    "/new-document",
    ["documents"],
    async () => (await import("../pages/documents/new-document-page.tsx")).NewDocumentPage,
  ),
  route(
    "/runs",
    ["runs"],
    async () => (await import("../pages/runs/runs-page.tsx")).RunsPage,
    listWithoutFilters("/automation/runs?offset=0&limit=50"),
  ),
  route(
    "/runs/:id",
    ["run", "runs"],
    async () => (await import("../pages/run/run-page.tsx")).RunPage,
    ({ parameter }) => [
      read(`/automation/runs/${parameter}`),
      read(`/automation/runs/${parameter}/timeline?offset=0&limit=10000`),
    ],
  ),
  route(
    "/workflows",
    ["workflows"],
    async () => (await import("../pages/workflows/workflows-page.tsx")).WorkflowsPage,
  ),
  route(
    "/workflows/:name",
    ["workflows", "run", "runs", "schedules"],
    async () => (await import("../pages/workflow/workflow-page.tsx")).WorkflowPage,
    ({ parameter }) => [
      read(`/automation/workflows/${parameter}`),
      read("/automation/schemas/workflow.json"),
    ],
  ),
  route(
    "/new-workflow",
    ["workflows", "run", "runs", "schedules"],
    async () => (await import("../pages/workflow/new-workflow-page.tsx")).NewWorkflowPage,
  ),
  route("/events", ["events"], async () => (await import("../pages/events/events-page.tsx")).EventsPage),
  route(
    "/events/:id",
    ["events", "run", "runs"],
    async () => (await import("../pages/event/event-page.tsx")).EventPage,
  ),
  route(
    "/send-event",
    ["events"],
    async () => (await import("../pages/send-event/send-event-page.tsx")).SendEventPage,
  ),
  route(
    "/schedules",
    ["schedules", "runs", "workflows", "events"],
    async () => (await import("../pages/schedules/schedules-page.tsx")).SchedulesPage,
  ),
  route(
    "/dead-letters",
    ["dead_letters"],
    async () => (await import("../pages/dead-letters/dead-letters-page.tsx")).DeadLettersPage,
  ),
  route(
    "/webhooks",
    ["webhooks", "events"],
    async () => (await import("../pages/webhooks/webhooks-page.tsx")).WebhooksPage,
  ),
  route(
    "/functions",
    ["functions", "events"],
    async () => (await import("../pages/functions/functions-page.tsx")).FunctionsPage,
  ),
  route(
    "/platform",
    ["platform"],
    async () => (await import("../pages/platform/platform-page.tsx")).PlatformPage,
  ),
  route("/files", ["files", "events"], async () => (await import("../pages/files/files-page.tsx")).FilesPage),
  route(
    "/findings",
    ["findings", "events"],
    async () => (await import("../pages/findings/findings-page.tsx")).FindingsPage,
  ),
  route(
    "/notifications",
    ["notifications"],
    async () => (await import("../pages/notifications/notifications-page.tsx")).NotificationsPage,
  ),
  route("/guide/:name", ["help"], async () => (await import("../pages/guide/guide-page.tsx")).GuidePage),
  route(
    "/settings/:part",
    ["settings", "transfer"],
    async () => (await import("../pages/settings/settings-page.tsx")).SettingsPage,
  ),
];

/** The page of an address, and the parameter of its path. */
export function routeAt(path: string): { readonly route: PageRoute; readonly parameter: string } | undefined {
  const parts = path.split("/");
  for (const one of ROUTES) {
    const names = one.path.split("/");
    const at = names.findIndex((name) => name.startsWith(":"));
    const isHere =
      names.length === parts.length && names.every((name, index) => index === at || name === parts[index]);
    if (isHere) return { route: one, parameter: parts[at] ?? "" };
  }
  return undefined;
}
