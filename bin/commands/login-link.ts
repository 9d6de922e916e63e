import { WeftCommand } from "../command.ts";
import { createLoginLink } from "../login-links.ts";
import { addServerOptions, repeatable, type ServerOptions } from "../options.ts";
import { printResponse } from "../responses.ts";
import { checkEmail, SCOPES, type Scope } from "../users.ts";

interface LoginLinkOptions extends ServerOptions {
  readonly email: string;
  readonly scope?: readonly string[];
}

export const loginLink = addServerOptions(
  new WeftCommand("login-link")
    .description("Print a link that signs a user in once, within ten minutes")
    .requiredOption("--email <email>", "E-mail address of the user")
    .addOption(
      repeatable(
        "--scope <service>",
        "Service that the session gives access to (default: documents)",
        SCOPES,
      ),
    ),
)
  .example("weft login-link --email a@example.com", "for a user that `weft token create` has created")
  .example("weft login-link --email a@example.com --scope automation --scope documents", "for workflows, too")
  .action(async ({ email, scope = [], ...options }: LoginLinkOptions) => {
    checkEmail(email);
    const scopes: Scope[] = SCOPES.filter((each) => scope.includes(each));
    const link = await createLoginLink(options, { email, ...(scopes.length === 0 ? {} : { scopes }) });
    printResponse(link, `${link.url}\n`, options);
  });
