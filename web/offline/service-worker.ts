/**
 * Serves the page and its files without a connection. Answers of the API are not kept: they are private, and documents
 * have copies of their own. Decision 0198.
 */

interface WorkerEvent extends Event {
  waitUntil(work: Promise<unknown>): void;
}

interface RequestEvent extends WorkerEvent {
  readonly request: Request;
  respondWith(response: Promise<Response>): void;
}

interface InstallEvent extends WorkerEvent {
  /** Requests that never reach the worker, in browsers that know how. */
  addRoutes?(rule: { readonly condition: object; readonly source: "network" }): Promise<void>;
}

/** What TypeScript's library for pages lacks. */
interface Worker {
  readonly location: Location;
  readonly clients: { claim(): Promise<void> };
  skipWaiting(): Promise<void>;
  addEventListener(type: "install", listener: (event: InstallEvent) => void): void;
  addEventListener(type: "activate", listener: (event: WorkerEvent) => void): void;
  addEventListener(type: "fetch", listener: (event: RequestEvent) => void): void;
  addEventListener(
    type: "message",
    listener: (event: WorkerEvent & { readonly data: unknown }) => void,
  ): void;
}

const worker = self as unknown as Worker;

/** Begins the name of the cache of a build; the rest is its script. */
const CACHE = "weft-page:";
/** The address under which the page is kept: every address of the web interface is this page. */
const PAGE = "/";
/** Files of the build. Their names contain a hash of their content. */
const FILE = /^\/assets\/[\w.-]+$/;
/** First segments of the paths that the server answers itself, such as links that sign in. */
const SERVER = /^\/(?:api|automation|collaboration|docs|health|login|media)(?:\/|$)/;
const SERVER_PATHS = ["api", "automation", "collaboration", "health", "media"];
/** Files that a page may ask to keep. */
const FILES_MAX = 500;
const SCRIPT = /<script[^>]+src="(\/assets\/[\w.-]+\.js)"/;

worker.addEventListener("install", (event) => {
  event.waitUntil(worker.skipWaiting());
  for (const path of SERVER_PATHS)
    event.addRoutes?.({ condition: { urlPattern: `/${path}/*` }, source: "network" }).catch(() => undefined);
});

worker.addEventListener("activate", (event) => event.waitUntil(worker.clients.claim()));

worker.addEventListener("fetch", (event) => {
  const { method, mode, url } = event.request;
  const { origin, pathname } = new URL(url);
  if (method !== "GET" || origin !== worker.location.origin) return;
  if (FILE.test(pathname)) event.respondWith(respondWithFile(event));
  else if (mode === "navigate" && !SERVER.test(pathname)) event.respondWith(respondWithPage(event));
});

/** A page that was loaded before the worker names the files that it has loaded. */
worker.addEventListener("message", (event) => {
  const { data } = event;
  if (Array.isArray(data)) event.waitUntil(keepAll(data.slice(0, FILES_MAX)));
});

/** The current page; without a connection, the one that was loaded last. */
async function respondWithPage(event: RequestEvent): Promise<Response> {
  try {
    const response = await fetch(event.request);
    event.waitUntil(keepPage(response.clone()).catch(() => undefined));
    return response;
  } catch (error) {
    const kept = await caches.match(PAGE, { ignoreVary: true });
    if (kept === undefined) throw error;
    return kept;
  }
}

async function respondWithFile(event: RequestEvent): Promise<Response> {
  const { request } = event;
  const kept = await caches.match(request.url, { ignoreVary: true });
  if (kept !== undefined) return kept;
  const response = await fetch(request);
  if (response.ok) {
    const copy = response.clone();
    event.waitUntil(
      currentCache()
        .then((cache) => cache?.put(request.url, copy))
        .catch(() => undefined),
    );
  }
  return response;
}

/** Keeps a page in the cache of its build. The caches of other builds are deleted. */
async function keepPage(response: Response): Promise<Cache | undefined> {
  const type = response.headers.get("content-type") ?? "";
  if (!response.ok || response.redirected || !type.startsWith("text/html")) return undefined;
  const script = SCRIPT.exec(await response.clone().text())?.[1];
  if (script === undefined) return undefined;
  const name = CACHE + script;
  const cache = await caches.open(name);
  await cache.put(PAGE, response);
  const others = (await caches.keys()).filter((one) => one.startsWith(CACHE) && one !== name);
  await Promise.all(others.map((one) => caches.delete(one)));
  return cache;
}

async function keepAll(urls: readonly unknown[]): Promise<void> {
  const cache = await keepPage(await fetch(PAGE, { headers: { accept: "text/html" } }));
  for (const url of urls) {
    if (typeof url !== "string" || !URL.canParse(url)) continue;
    const { origin, pathname } = new URL(url);
    if (origin !== worker.location.origin || !FILE.test(pathname)) continue;
    if ((await cache?.match(url, { ignoreVary: true })) === undefined)
      await cache?.add(url).catch(() => undefined);
  }
}

/** Undefined before the first page is kept, and after a logout. */
async function currentCache(): Promise<Cache | undefined> {
  const name = (await caches.keys()).find((one) => one.startsWith(CACHE));
  return name === undefined ? undefined : caches.open(name);
}
