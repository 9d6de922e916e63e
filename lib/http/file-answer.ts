/** An answer that is streamed: a file with a name is saved by whoever asks for it in a browser, and never shown. */
export interface FileAnswer {
  /** Content type, with its parameters. */
  readonly type: string;
  /** What the file is called; any text. */
  readonly name?: string;
  /** 304 where the caller has it already: without content then. */
  readonly status?: 200 | 304;
  /** Further headers; those that are undefined are left out. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly content: AsyncIterable<Uint8Array | string>;
}

/** Longest name of a file in a header, characters. */
const NAME_MAX_LENGTH = 200;

/** Headers of a file. No name breaks out of its header: RFC 6266 with the encoding of RFC 8187. */
export function fileHeaders({ type, name, headers }: FileAnswer): Record<string, string | undefined> {
  const own = { "content-security-policy": "sandbox", ...headers, "content-type": type };
  return name === undefined ? own : { "content-disposition": dispositionOf(name), ...own };
}

function dispositionOf(name: string): string {
  const short = name.slice(-NAME_MAX_LENGTH).toWellFormed();
  const plain = short.replaceAll(/[^\w.+@=-]/g, "_");
  const encoded = encodeURIComponent(short).replaceAll(/['()*]/g, (character) =>
    `%${character.charCodeAt(0).toString(16)}`.toUpperCase(),
  );
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`;
}
