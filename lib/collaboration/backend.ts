/** A request to the document service. */
export interface BackendRequest {
  readonly method: "GET" | "POST";
  /** With the leading slash. */
  readonly path: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** The address of the client on whose behalf it is sent. */
  readonly address: string;
  /** Time that the request asks to wait, milliseconds. */
  readonly waitMs?: number;
  readonly signal?: AbortSignal;
}

export interface BackendResponse {
  readonly status: number;
  /** The parsed JSON body. */
  readonly body: unknown;
}

/** Sends a request; rejects if there is no response in time. */
export type RequestBackend = (request: BackendRequest) => Promise<BackendResponse>;

/** What a client authenticates with. */
export type Credentials =
  | { readonly kind: "cookie"; readonly cookie: string; readonly origin: string | undefined }
  | { readonly kind: "token"; readonly token: string }
  | { readonly kind: "ticket"; readonly ticket: string };

/** What access is checked with again while a client is connected: a ticket is valid once. */
export type LastingCredentials =
  | Exclude<Credentials, { kind: "ticket" }>
  | { readonly kind: "redeemed"; readonly user: string | null; readonly credential: string | null };

export interface RoomUser {
  readonly id: string;
  readonly name: string;
}

export interface Rights {
  readonly canRetrieve: boolean;
  readonly canUpdate: boolean;
}

export interface Access extends Rights {
  /** Undefined for an anonymous client. */
  readonly user: RoomUser | undefined;
  readonly credentials: LastingCredentials;
}

/** The backend does not respond, or not as expected: nothing is known about the client's access. */
export class BackendUnavailableError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = "BackendUnavailableError";
  }
}

const API = "/api/v1.0";
const NO_RIGHTS: Rights = { canRetrieve: false, canUpdate: false };

export interface CollaborationBackendOptions {
  readonly request: RequestBackend;
  /** Identifies this server to the document service: its requests are not throttled, and it may redeem tickets. */
  readonly key: string;
}

/**
 * Asks the document service what a client may do, with the client's own credentials: the service alone decides.
 * Reference: live-and-web 3, "Auth to backend".
 */
export class CollaborationBackend {
  readonly #options: CollaborationBackendOptions;

  constructor(options: CollaborationBackendOptions) {
    this.#options = options;
  }

  /** The client's access to a document; undefined if it may not open it. Throws BackendUnavailableError. */
  async authorize(document: string, credentials: Credentials, address: string): Promise<Access | undefined> {
    if (credentials.kind === "ticket") return this.#redeem(document, credentials.ticket, address);
    const rights = await this.#rightsOn(document, this.#headersOf(credentials), address);
    if (!rights.canRetrieve) return undefined;
    return { ...rights, credentials, user: await this.#readUser(credentials, address) };
  }

  /**
   * What the client may do now: nothing if its session or token has ended, even if anonymous users may do something.
   * Throws BackendUnavailableError.
   */
  async check(
    document: string,
    { credentials, user }: Pick<Access, "credentials" | "user">,
    address: string,
  ): Promise<Rights> {
    if (credentials.kind === "redeemed") {
      const body = { document, user: credentials.user, credential: credentials.credential };
      return readRights(await this.#send("POST", "/collaboration/access/", address, this.#service(), body));
    }
    const headers = this.#headersOf(credentials);
    // The service takes a client whose session has ended for an anonymous one.
    if (credentials.kind === "cookie" && user !== undefined) {
      const { status, body } = await this.#send("GET", "/users/me/", address, headers);
      if (status !== 200 || toUser(body)?.id !== user.id) return NO_RIGHTS;
    }
    return this.#rightsOn(document, headers, address);
  }

  async #rightsOn(document: string, headers: Record<string, string>, address: string): Promise<Rights> {
    return readRights(await this.#send("GET", `/documents/${document}/`, address, headers));
  }

  async #redeem(document: string, ticket: string, address: string): Promise<Access | undefined> {
    const response = await this.#send("POST", "/collaboration/tickets/redeem/", address, this.#service(), {
      document,
      ticket,
    });
    const rights = readRights(response);
    if (!rights.canRetrieve) return undefined;
    const { user, credential } = response.body as {
      user?: { id?: unknown; full_name?: unknown } | null;
      credential?: unknown;
    };
    const known = toUser(user);
    return {
      ...rights,
      user: known,
      credentials: {
        kind: "redeemed",
        user: known?.id ?? null,
        credential: typeof credential === "string" ? credential : null,
      },
    };
  }

  /** Anonymous if it fails, as in the reference. */
  async #readUser(credentials: LastingCredentials, address: string): Promise<RoomUser | undefined> {
    try {
      const { status, body } = await this.#send("GET", "/users/me/", address, this.#headersOf(credentials));
      return status === 200 ? toUser(body) : undefined;
    } catch {
      return undefined;
    }
  }

  #headersOf(credentials: LastingCredentials): Record<string, string> {
    const headers: Record<string, string> = { "x-y-provider-key": this.#options.key };
    if (credentials.kind === "token") headers.authorization = `Bearer ${credentials.token}`;
    if (credentials.kind === "cookie") {
      headers.cookie = credentials.cookie;
      if (credentials.origin !== undefined) headers.origin = credentials.origin;
    }
    return headers;
  }

  #service(): Record<string, string> {
    const { key } = this.#options;
    return { authorization: `Bearer ${key}`, "x-y-provider-key": key };
  }

  async #send(
    method: "GET" | "POST",
    path: string,
    address: string,
    headers: Record<string, string>,
    body?: unknown,
  ): Promise<BackendResponse> {
    const json =
      body === undefined ? {} : { body, headers: { ...headers, "content-type": "application/json" } };
    let response: BackendResponse;
    try {
      response = await this.#options.request({ method, path: `${API}${path}`, address, headers, ...json });
    } catch (error) {
      throw new BackendUnavailableError("The document service does not respond", error);
    }
    if (response.status >= 500 || response.status === 429)
      throw new BackendUnavailableError(`The document service responds with ${response.status}`);
    return response;
  }
}

function readRights({ status, body }: BackendResponse): Rights {
  if (status !== 200) return NO_RIGHTS;
  const { abilities } = (body ?? {}) as { abilities?: { retrieve?: unknown; update?: unknown } };
  return { canRetrieve: abilities?.retrieve === true, canUpdate: abilities?.update === true };
}

const NAME_MAX = 100;

function toUser(body: unknown): RoomUser | undefined {
  const { id, full_name: name } = (body ?? {}) as { id?: unknown; full_name?: unknown };
  if (typeof id !== "string") return undefined;
  return { id, name: typeof name === "string" ? name.slice(0, NAME_MAX) : "" };
}
