/** A response that a browser got. */
export interface Visited {
  readonly url: string;
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The URL of a redirect. */
  readonly location: URL | undefined;
}

interface Cookie {
  readonly name: string;
  readonly value: string;
  readonly path: string;
}

const REDIRECTS_MAX = 20;

/** A browser without scripts: cookies by host and path, redirects and forms. */
export class CookieBrowser {
  readonly #cookies = new Map<string, Cookie>();

  /** Sends one request, without following a redirect. */
  async request(url: string | URL, init: RequestInit = {}): Promise<Visited> {
    const target = new URL(url);
    const headers = new Headers(init.headers);
    const cookies = this.#cookiesFor(target);
    if (cookies !== "") headers.set("cookie", cookies);
    const response = await fetch(target, { ...init, headers, redirect: "manual" });
    for (const line of response.headers.getSetCookie()) this.#store(target, line);
    const location = response.headers.get("location");
    return {
      url: target.href,
      status: response.status,
      headers: response.headers,
      text: await response.text(),
      location: location === null ? undefined : new URL(location, target),
    };
  }

  /** Sends a request and follows redirects, until a response is not a redirect or `isEnd` returns true. */
  async visit(url: string | URL, isEnd: (visited: Visited) => boolean = () => false): Promise<Visited> {
    let visited = await this.request(url);
    for (let count = 0; visited.location !== undefined && !isEnd(visited); count += 1) {
      if (count > REDIRECTS_MAX) throw new Error(`too many redirects: ${visited.url}`);
      visited = await this.request(visited.location);
    }
    return visited;
  }

  /** The value of a cookie, whatever its path. */
  cookie(url: string | URL, name: string): string | undefined {
    const { hostname } = new URL(url);
    return [...this.#cookies].find(([key, one]) => key.startsWith(`${hostname} `) && one.name === name)?.[1]
      .value;
  }

  #cookiesFor({ hostname, pathname }: URL): string {
    return [...this.#cookies]
      .filter(([key, { path }]) => key.startsWith(`${hostname} `) && pathname.startsWith(path))
      .map(([, { name, value }]) => `${name}=${value}`)
      .join("; ");
  }

  #store({ hostname }: URL, line: string): void {
    const [pair = "", ...attributes] = line.split(";").map((part) => part.trim());
    const attribute = (wanted: string): string | undefined =>
      attributes.find((one) => one.toLowerCase().startsWith(`${wanted}=`))?.slice(wanted.length + 1);
    const [name = ""] = pair.split("=", 1);
    const path = attribute("path") ?? "/";
    const key = `${hostname} ${name} ${path}`;
    const expires = attribute("expires");
    const isDeleted =
      attribute("max-age") === "0" || (expires !== undefined && Date.parse(expires) < Date.now());
    if (isDeleted) this.#cookies.delete(key);
    else this.#cookies.set(key, { name, value: pair.slice(name.length + 1), path });
  }
}
