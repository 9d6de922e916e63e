/** A request of the API, as a page sends it. */
export interface CopiedRequest {
  readonly method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Such as `/automation/runs`. */
  readonly path: string;
  /** Texts, numbers and booleans by name. Undefined and empty values are left out. */
  readonly query?: object;
  /** Sent as JSON. */
  readonly body?: unknown;
}

/** Characters that no shell interprets. */
const PLAIN = /^[\w@%+=:,./-]+$/;

/** Quotes an argument for POSIX shells. */
const quote = (text: string): string => (PLAIN.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`);

/** The request as a curl command. Its token is read from the command line client, so that no token is copied. */
export function curlCommand(
  { method = "GET", path, query = {}, body }: CopiedRequest,
  origin: string,
): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query) as [string, unknown][])
    if (value !== undefined && value !== "") parameters.set(name, String(value));
  const url = `${origin}${path}${parameters.size === 0 ? "" : `?${parameters}`}`;
  const isImplied = method === (body === undefined ? "GET" : "POST");
  const parts = [
    `curl -s${isImplied ? "" : ` -X ${method}`} ${quote(url)}`,
    `-H "Authorization: Bearer $(npx weft token)"`,
    ...(body === undefined
      ? []
      : [`-H 'content-type: application/json'`, `-d ${quote(JSON.stringify(body))}`]),
  ];
  return parts.join(" ");
}

/** A command of the command line client, with its arguments. Undefined ones are left out. */
export const weftCommand = (args: readonly (string | undefined)[]): string =>
  ["npx weft", ...args.filter((one) => one !== undefined).map(quote)].join(" ");
