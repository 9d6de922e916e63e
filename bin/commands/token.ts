import type { TokenRecord, TokenRequest } from "../../lib/documents/users/tokens.ts";
import { withActions } from "../actions.ts";
import { type Arguments, type Command, textFlag, UsageError } from "../command.ts";
import { findToken, SERVER_FLAGS } from "../connection.ts";
import { textFlags } from "../flags.ts";
import { printAnswer } from "../pages.ts";
import { type Column, moment, table } from "../table.ts";
import { withTokens } from "../tokens.ts";

const SCOPES = ["automation", "documents"] as const;
const EMAIL = /^[^\s@]+@[^\s@]+\.[^\s@]+$/;
const USERS_TOKENS = ["create", "list", "revoke"] as const;
const AGE_UNITS_MS: Readonly<Record<string, number>> = {
  ...{ m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 },
};

const COLUMNS: readonly Column<TokenRecord>[] = [
  { head: "ID", text: ({ id }) => id },
  { head: "EMAIL", text: ({ email }) => email ?? "", cut: true },
  { head: "NAME", text: ({ name }) => name, cut: true },
  { head: "SCOPES", text: ({ scopes }) => scopes.join(", "), cut: true },
  { head: "MADE", text: ({ created_at }) => moment(created_at) },
  { head: "ENDS", text: ({ expires_at }) => moment(expires_at) },
];

/** `weft token`: the access token of the installation, and those of its users. */
export const token: Command = withActions({
  name: "token",
  summary: "Prints the access token; makes, lists and revokes those of users",
  actions: {
    show: {
      takes: "",
      summary: "The installation's own, which opens everything",
      run: async (_words, args, terminal) => {
        const found = findToken(terminal.env, textFlag(args, "data-dir"));
        printAnswer(found, `${found.token}\n`, args, terminal);
      },
    },
    create: {
      takes: "",
      summary: "Makes one for a user, who is made where there is none; it is printed this once",
      run: async (_words, args, terminal) => {
        const body = requestOf(args);
        const created = await withTokens(args, terminal, (tokens) => tokens.create(body));
        printAnswer(created, `${created.token}\n`, args, terminal);
      },
    },
    list: {
      takes: "",
      summary: "Those of users, oldest first, without what they are",
      run: async (_words, args, terminal) => {
        const data = await withTokens(args, terminal, (tokens) => tokens.list());
        const text = data.length === 0 ? "" : table(COLUMNS, data, terminal.width);
        printAnswer({ data }, text, args, terminal);
        if (args.flags.json !== true) terminal.error(`${data.length} of ${data.length}\n`);
      },
    },
    revoke: {
      takes: "<id>",
      summary: "Takes one of them back, with effect at once",
      run: async ([id = ""], args, terminal) => {
        await withTokens(args, terminal, (tokens) => tokens.revoke(id));
        printAnswer({ revoked: id }, `revoked ${id}\n`, args, terminal);
      },
    },
  },
  flags: {
    email: { type: "string", value: "EMAIL", summary: "Address of the user", of: ["create"] },
    name: { type: "string", value: "NAME", summary: "Name of a new user, and of the token", of: ["create"] },
    scope: {
      ...{ type: "string", value: "SERVICE", of: ["create"], multiple: true },
      summary: `What it opens: ${SCOPES.join(" or ")} (both)`,
    },
    expires: {
      ...{ type: "string", value: "TIME", of: ["create"] },
      summary: "When it ends by itself: 12h, 30d, 8w or a date (never)",
    },
    ...SERVER_FLAGS,
    url: { ...SERVER_FLAGS.url, of: USERS_TOKENS },
    token: { ...SERVER_FLAGS.token, of: USERS_TOKENS },
  },
  examples: [
    ["weft token", "prints the installation's own alone on a line"],
    [
      'curl -H "Authorization: Bearer $(npx weft token)" http://127.0.0.1:3000/automation/event-logs',
      "uses it",
    ],
    ['weft token create --email a@example.com --name "A"', "one for a user"],
    ["weft token create --email a@example.com --scope documents --expires 30d", "for documents, for a month"],
    ["weft token revoke 0f9d…", "takes it back"],
  ],
});

/** Throws UsageError. */
function requestOf(args: Arguments): TokenRequest {
  const email = textFlag(args, "email");
  if (email === undefined) throw new UsageError("create takes --email: whose the token is to be.");
  if (!EMAIL.test(email) || email.length > 254)
    throw new UsageError(`--email must be an e-mail address, not '${email.slice(0, 100)}'.`);
  const name = textFlag(args, "name");
  if (name !== undefined && name.length > 100) throw new UsageError("--name has at most 100 characters.");
  const scopes = SCOPES.filter((scope) => textFlags(args, "scope").includes(scope));
  const unknown = textFlags(args, "scope").find((scope) => !SCOPES.some((known) => known === scope));
  if (unknown !== undefined) throw new UsageError(`--scope must be one of ${SCOPES.join(", ")}.`);
  const expires = textFlag(args, "expires");
  return {
    email,
    ...(name === undefined ? {} : { name }),
    ...(scopes.length === 0 ? {} : { scopes }),
    ...(expires === undefined ? {} : { expires_at: endOf(expires, Date.now()) }),
  };
}

/** Throws UsageError for what is no time to come. */
function endOf(text: string, now: number): string {
  const [, count = "", unit = ""] = /^(\d{1,5})([mhdw])$/.exec(text) ?? [];
  const age = AGE_UNITS_MS[unit];
  const isDate = /^\d{4}-\d{2}-\d{2}(?:T[\d:.]+(?:Z|[+-]\d{2}:\d{2})?)?$/.test(text);
  const at = age !== undefined ? now + Number(count) * age : isDate ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(at))
    throw new UsageError("--expires must be a time such as 12h, 30d or 8w, or a date such as 2030-01-31.");
  if (at <= now) throw new UsageError("--expires must be in the future.");
  return new Date(at).toISOString();
}
