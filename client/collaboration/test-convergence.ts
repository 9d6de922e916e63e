import fc from "fast-check";
import { expect } from "vitest";
import * as Y from "yjs";
import { BlockEditor, countRoots, docOf, type Edited, xmlOf } from "./test-block-editor.ts";
import { CLIENT_KINDS, type ClientKind, TestClient } from "./test-client.ts";
import { WrittenText } from "./test-written-text.ts";

/** A server on which clients collaborate. */
export interface ConvergenceServer {
  /** Stays the same when the server is started again. */
  readonly origin: string;
  readonly token: string;
  restart(how: "stop" | "kill"): Promise<void>;
  /** Appends text as a script does. */
  append(document: string, text: string): Promise<void>;
  compact?(document: string): Promise<void>;
  /** Ends the time in which a new version replaces the last one. */
  beginPeriod?(): void;
  /** What the server has logged about a document. */
  logOf?(document: string): readonly string[];
}

const KINDS = {
  type: 10,
  insertBlock: 4,
  erase: 2,
  format: 1,
  deleteBlock: 1,
  moveBlock: 2,
  offline: 3,
  online: 3,
  leave: 1,
  saved: 1,
  saveState: 1,
  mergeState: 1,
  remember: 2,
  setBack: 1,
  restore: 4,
  append: 1,
  compact: 1,
  restart: 1,
} as const;
type Kind = keyof typeof KINDS;

interface Action {
  readonly kind: Kind;
  readonly client: number;
  readonly pick: number;
}

interface Scenario {
  readonly clients: readonly ClientKind[];
  readonly actions: readonly Action[];
}

export interface ScenarioOptions {
  readonly actionsMax: number;
  /** How often the server restarts, compared with the other actions. */
  readonly restarts?: number;
}

/** Between 2 and 5 clients, and what happens. */
const scenarios = ({ actionsMax, restarts = KINDS.restart }: ScenarioOptions): fc.Arbitrary<Scenario> =>
  fc.record({
    clients: fc.array(fc.constantFrom(...CLIENT_KINDS), { minLength: 2, maxLength: 5 }),
    actions: fc.array(
      fc.record({
        kind: fc.oneof(
          ...Object.entries({ ...KINDS, restart: restarts }).map(([kind, weight]) => ({
            weight,
            arbitrary: fc.constant(kind as Kind),
          })),
        ),
        client: fc.nat(4),
        pick: fc.nat(10_000),
      }),
      { minLength: Math.floor(actionsMax / 2), maxLength: actionsMax },
    ),
  });

const PATIENCE = { timeout: 60_000, interval: 10 } as const;
/** A save may meet a concurrent one, or a server that is starting. */
const REFUSALS: ReadonlySet<number> = new Set([409, 412, 429, 503]);

/**
 * The same scenarios in each run, so that a change that passes does not fail elsewhere. `WEFT_CONVERGENCE_SEED=random`
 * and `WEFT_CONVERGENCE_RUNS` search for more; a failure names its seed and its path (`WEFT_CONVERGENCE_PATH`).
 */
const SEED = process.env["WEFT_CONVERGENCE_SEED"] ?? "1";
const PATH = process.env["WEFT_CONVERGENCE_PATH"];
const RUNS = process.env["WEFT_CONVERGENCE_RUNS"];

/** Runs random scenarios. Throws for the first one in which the clients do not converge or something is lost. */
export async function checkConvergence(
  server: ConvergenceServer,
  { runs, ...options }: ScenarioOptions & { readonly runs: number },
): Promise<void> {
  await fc.assert(
    fc.asyncProperty(scenarios(options), (scenario) => converge(server, scenario)),
    {
      numRuns: Number(RUNS ?? runs),
      ...(SEED === "random" ? {} : { seed: Number(SEED) }),
      ...(PATH === undefined ? {} : { path: PATH }),
      // Concurrency differs from run to run, so a smaller scenario need not fail.
      endOnFailure: true,
    },
  );
}

/**
 * Lets clients edit a document, while it is saved, restored and written by scripts, and the server restarts. At the end
 * all have the same content, which contains whatever was shown as saved and not deleted by an operation.
 */
async function converge(server: ConvergenceServer, scenario: Scenario): Promise<void> {
  const run = new Run(server, await createDocument(server));
  try {
    for (const kind of scenario.clients) run.connect(kind);
    await run.begin();
    for (const action of scenario.actions) await run.perform(action);
    await run.finish();
  } catch (error) {
    throw new Error(`${error instanceof Error ? error.message : error}\n\n${await run.describe()}`, {
      cause: error,
    });
  } finally {
    run.close();
  }
}

interface Response {
  readonly status: number;
  readonly text: string;
}

async function send(
  { origin, token }: ConvergenceServer,
  method: string,
  path: string,
  body?: unknown,
): Promise<Response> {
  const response = await fetch(`${origin}/api/v1.0/documents/${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, text: await response.text() };
}

async function createDocument(server: ConvergenceServer): Promise<string> {
  const { text } = await send(server, "POST", "", { title: "Notes" });
  return (JSON.parse(text) as { id: string }).id;
}

interface Member {
  readonly client: TestClient;
  readonly editor: BlockEditor;
}

class Run {
  readonly #server: ConvergenceServer;
  readonly #id: string;
  readonly #written = new WrittenText();
  readonly #members: Member[] = [];
  readonly #kinds: ClientKind[] = [];
  /** Earlier contents. */
  readonly #remembered: Uint8Array[] = [];
  /** Requests that have not ended. */
  readonly #pending = new Set<Promise<void>>();

  constructor(server: ConvergenceServer, id: string) {
    this.#server = server;
    this.#id = id;
  }

  connect(kind: ClientKind, at = this.#members.length): void {
    const { origin, token } = this.#server;
    const client = new TestClient({ kind, origin, token, id: this.#id });
    this.#members[at] = { client, editor: new BlockEditor(client.doc) };
    this.#kinds[at] = kind;
    client.onSaved = () => this.#written.noteSaved(client.doc);
  }

  /** All are connected, and the document has content. */
  async begin(): Promise<void> {
    for (const { client } of this.#members) await expect.poll(() => client.isConnected, PATIENCE).toBe(true);
    this.#write(0, (editor, char) => editor.type(0, char));
    await this.#saved(0);
  }

  async perform({ kind, client: nth, pick }: Action): Promise<void> {
    const at = nth % this.#members.length;
    const { client, editor } = this.#members[at] as Member;
    switch (kind) {
      case "type":
        return this.#write(at, (_, char) => editor.type(pick, char, pick % 3 === 0));
      case "insertBlock":
        return this.#write(at, (_, char) => editor.insertBlock(pick, char));
      case "erase":
      case "format":
      case "deleteBlock":
      case "moveBlock":
        return this.#write(at, () => editor[kind](pick));
      case "offline":
        return client.setOffline(true);
      case "online":
        client.setOffline(false);
        return this.#written.noteOnline(client.doc);
      case "leave":
        // As when a tab crashes: what is not saved is lost.
        this.#written.noteLeft(client.doc);
        client.close();
        return this.connect(this.#kinds[at] as ClientKind, at);
      case "saved":
        return client.isOffline ? undefined : this.#saved(at);
      case "saveState":
        return client.isOffline || !editor.isReady ? undefined : this.#saveState(client.doc);
      case "remember":
        await this.#beginVersion();
        this.#remembered.push(Y.encodeStateAsUpdate(await this.#content()));
        return;
      case "mergeState":
        return this.#start(pick, () => this.#mergeState(pick));
      case "setBack":
        return this.#start(pick, () => this.#setBack(pick));
      case "restore":
        await this.#beginVersion();
        return this.#start(pick, () => this.#restore(pick));
      case "append":
        return this.#start(pick, () => this.#append());
      case "compact":
        return this.#server.compact?.(this.#id);
      case "restart":
        return this.#server.restart(pick % 2 === 0 ? "stop" : "kill");
    }
  }

  async finish(): Promise<void> {
    await Promise.all(this.#pending);
    for (const { client } of this.#members) client.setOffline(false);
    for (const at of this.#members.keys()) await this.#saved(at);
    const ends = this.#members.map(({ client: { kind } }) => ({ kind, refusal: undefined, hasStored: true }));
    let stored = await this.#content();
    // Read again each time: the server may still be appending what a client sent before it left.
    const state = async () => {
      stored = await this.#content();
      const xml = xmlOf(stored);
      return this.#members.map(({ client: { kind, refusal, doc } }) => ({
        kind,
        refusal,
        hasStored: xmlOf(doc) === xml,
      }));
    };
    await expect.poll(state, PATIENCE).toEqual(ends);
    expect(countRoots(stored)).toBe(1);
    expect(this.#written.findLost(stored)).toEqual([]);
  }

  /** What the clients and the server know. */
  async describe(): Promise<string> {
    const stored = await this.#content().then(xmlOf, String);
    const members = this.#members.map(({ client }) => {
      const xml = xmlOf(client.doc);
      return `${client.describe()} ${xml === stored ? "has the stored content" : xml}`;
    });
    const logged = this.#server.logOf?.(this.#id) ?? [];
    return [`stored: ${stored}`, ...members, "logged:", ...logged].join("\n");
  }

  close(): void {
    for (const { client } of this.#members) client.close();
  }

  #write(at: number, edit: (editor: BlockEditor, char: string) => Edited): void {
    const { client, editor } = this.#members[at] as Member;
    if (!editor.isReady) return;
    const edited = edit(editor, this.#written.nextChar());
    this.#written.note(edited, client.doc, client.isOffline);
    if (client.isSaved) this.#written.noteSaved(client.doc);
  }

  async #saved(at: number): Promise<void> {
    const { client } = this.#members[at] as Member;
    const state = () => ({ kind: client.kind, isSaved: client.isSaved && client.isConnected });
    await expect.poll(state, PATIENCE).toEqual({ kind: client.kind, isSaved: true });
  }

  /** Makes the content a version that stays when the next one is made. */
  async #beginVersion(): Promise<void> {
    await this.#server.compact?.(this.#id);
    this.#server.beginPeriod?.();
  }

  /** Waits for a request, or lets it go on beside what follows. */
  async #start(pick: number, work: () => Promise<void>): Promise<void> {
    const done: Promise<void> = work().finally(() => this.#pending.delete(done));
    this.#pending.add(done);
    // The failure is thrown at the end.
    done.catch(() => this.#pending.add(done));
    if (pick % 2 === 0) await done;
  }

  async #content(): Promise<Y.Doc> {
    const { status, text } = await send(this.#server, "GET", `${this.#id}/content/`);
    expect(status).toBe(200);
    return docOf(Buffer.from(text, "base64"));
  }

  /** Whether a request was carried out; undefined if that is not known, because the server was stopped. */
  async #attempt(method: string, path: string, body?: unknown): Promise<boolean | undefined> {
    const response = await send(this.#server, method, `${this.#id}/${path}`, body).catch(() => undefined);
    if (response === undefined) return undefined;
    if (!REFUSALS.has(response.status)) expect(response).toMatchObject({ status: 204 });
    return response.status === 204;
  }

  /** The regular save of the reference's editor. */
  async #saveState(doc: Y.Doc): Promise<void> {
    const save = this.#written.snapshot(doc);
    const content = Buffer.from(Y.encodeStateAsUpdate(doc)).toString("base64");
    if (await this.#attempt("PATCH", "content/", { content, websocket: true })) save();
  }

  /** A client that is not connected changes the content. */
  async #mergeState(pick: number): Promise<void> {
    const doc = await this.#content().catch(() => undefined);
    if (doc === undefined) return;
    this.#written.note(new BlockEditor(doc).type(pick, this.#written.nextChar()), doc, false);
    const content = Buffer.from(Y.encodeStateAsUpdate(doc)).toString("base64");
    if (await this.#attempt("PATCH", "content/", { content })) this.#written.noteSaved(doc);
    else this.#written.noteLeft(doc);
  }

  async #setBack(pick: number): Promise<void> {
    const state = this.#remembered[pick % this.#remembered.length];
    if (state === undefined) return;
    const content = Buffer.from(state).toString("base64");
    if ((await this.#attempt("PATCH", "content/", { content })) !== false)
      this.#written.noteSetBack(docOf(state));
  }

  async #restore(pick: number): Promise<void> {
    const get = async <Body>(path: string): Promise<Body | undefined> => {
      const response = await send(this.#server, "GET", `${this.#id}/${path}`).catch(() => undefined);
      return response?.status === 200 ? (JSON.parse(response.text) as Body) : undefined;
    };
    const list = await get<{ versions: { version_id: string }[] }>("versions/");
    const version = list?.versions[pick % list.versions.length]?.version_id;
    const read = version && (await get<{ content: string }>(`versions/${version}/`));
    if (!read) return;
    if ((await this.#attempt("POST", `versions/${version}/restore/`)) !== false)
      this.#written.noteSetBack(docOf(Buffer.from(read.content, "base64")));
  }

  async #append(): Promise<void> {
    const char = this.#written.nextChar();
    const isAppended = await this.#server.append(this.#id, char).then(
      () => true,
      () => false,
    );
    // In an empty document, the text is put into a block that others may move or delete.
    const content = isAppended ? await this.#content().catch(() => undefined) : undefined;
    if (content !== undefined) this.#written.noteAppended(char, content);
  }
}
