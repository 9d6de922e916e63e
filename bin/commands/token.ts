import type { TokenRecord, TokenRequest } from "../../lib/documents/users/tokens.ts";
import { WeftCommand } from "../command.ts";
import { findToken } from "../connection.ts";
import { UsageError } from "../errors.ts";
import {
  dataDirOption,
  jsonOption,
  repeatable,
  type ServerOptions,
  tokenOption,
  urlOption,
} from "../options.ts";
import { printResponse } from "../responses.ts";
import { type Column, formatTime, table } from "../table.ts";
import { terminal } from "../terminal.ts";
import { withUserTokens } from "../user-tokens.ts";
import { checkEmail, SCOPES } from "../users.ts";

const NAME_CHARS_MAX = 100;
const UNITS_MS: Readonly<Record<string, number>> = {
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

const COLUMNS: readonly Column<TokenRecord>[] = [
  { header: "ID", value: ({ id }) => id },
  { header: "EMAIL", value: ({ email }) => email ?? "", canShrink: true },
  { header: "NAME", value: ({ name }) => name, canShrink: true },
  { header: "SCOPES", value: ({ scopes }) => scopes.join(", "), canShrink: true },
  { header: "CREATED", value: ({ created_at }) => formatTime(created_at) },
  { header: "EXPIRES", value: ({ expires_at }) => formatTime(expires_at) },
];

export const token = new WeftCommand("token")
  .description("Print the installation's access token, or create, list and revoke those of users")
  .addOption(dataDirOption())
  .addOption(jsonOption())
  .example("weft token", "prints the installation's token alone on a line")
  .example(
    'curl -H "Authorization: Bearer $(npx weft token)" http://127.0.0.1:3000/automation/event-logs',
    "sends a request with it",
  )
  .example('weft token create --email a@example.com --name "A"', "creates a token for a user")
  .example(
    "weft token create --email a@example.com --scope documents --expires 30d",
    "for documents only, for 30 days",
  )
  .example("weft token revoke 0f9d…", "revokes it");

token
  .defaultCommand("show")
  .description("Print the installation's token, which grants access to everything")
  .action((_options, command: WeftCommand) => {
    const options = command.optsWithGlobals<ServerOptions>();
    const found = findToken(terminal.env, options.dataDir);
    printResponse(found, `${found.token}\n`, options);
  });

token
  .command("create")
  .description("Create a token for a user, and the user if there is none; it is printed only now")
  .requiredOption("--email <email>", "E-mail address of the user")
  .option("--name <name>", "Name of a new user, and of the token")
  .addOption(
    repeatable("--scope <service>", "Service that the token grants access to (default: both)", SCOPES),
  )
  .option("--expires <time>", "When it expires: 12h, 30d, 8w or a date (default: never)")
  .addOption(urlOption())
  .addOption(tokenOption())
  .action(async (_options, command: WeftCommand) => {
    const options = command.optsWithGlobals<CreateOptions>();
    const body = tokenRequest(options);
    const created = await withUserTokens(options, (tokens) => tokens.create(body));
    printResponse(created, `${created.token}\n`, options);
  });

token
  .command("list")
  .description("List users' tokens without their values, oldest first")
  .addOption(urlOption())
  .addOption(tokenOption())
  .action(async (_options, command: WeftCommand) => {
    const options = command.optsWithGlobals<ServerOptions>();
    const data = await withUserTokens(options, (tokens) => tokens.list());
    printResponse({ data }, data.length === 0 ? "" : table(COLUMNS, data, terminal.width), options);
    if (options.json !== true) terminal.error(`${data.length} of ${data.length}\n`);
  });

token
  .command("revoke <id>")
  .description("Revoke a user's token with immediate effect")
  .addOption(urlOption())
  .addOption(tokenOption())
  .action(async (id: string, _options, command: WeftCommand) => {
    const options = command.optsWithGlobals<ServerOptions>();
    await withUserTokens(options, (tokens) => tokens.revoke(id));
    printResponse({ revoked: id }, `revoked ${id}\n`, options);
  });

interface CreateOptions extends ServerOptions {
  readonly email: string;
  readonly name?: string;
  readonly scope?: readonly string[];
  readonly expires?: string;
}

/** Throws UsageError. */
function tokenRequest({ email, name, scope = [], expires }: CreateOptions): TokenRequest {
  checkEmail(email);
  if (name !== undefined && name.length > NAME_CHARS_MAX)
    throw new UsageError(`--name must have at most ${NAME_CHARS_MAX} characters.`);
  const scopes = SCOPES.filter((each) => scope.includes(each));
  return {
    email,
    ...(name === undefined ? {} : { name }),
    ...(scopes.length === 0 ? {} : { scopes }),
    ...(expires === undefined ? {} : { expires_at: parseExpiry(expires, Date.now()) }),
  };
}

/** Throws UsageError for a time that is invalid or has passed. */
function parseExpiry(text: string, now: number): string {
  const [, count = "", unit = ""] = /^(\d{1,5})([mhdw])$/.exec(text) ?? [];
  const unitMs = UNITS_MS[unit];
  const isDate = /^\d{4}-\d{2}-\d{2}(?:T[\d:.]+(?:Z|[+-]\d{2}:\d{2})?)?$/.test(text);
  const at = unitMs !== undefined ? now + Number(count) * unitMs : isDate ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(at))
    throw new UsageError(
      "--expires must be a duration such as 12h, 30d or 8w, or a date such as 2030-01-31.",
    );
  if (at <= now) throw new UsageError("--expires must be in the future.");
  return new Date(at).toISOString();
}
