import { openBrowser } from "../browser.ts";
import { WeftCommand } from "../command.ts";
import { createLoginLink } from "../login-links.ts";
import { addServerOptions, type ServerOptions } from "../options.ts";
import { printResponse } from "../responses.ts";
import { terminal } from "../terminal.ts";

interface OpenOptions extends ServerOptions {
  readonly print?: boolean;
}

export const open = addServerOptions(
  new WeftCommand("open")
    .description("Open the server in a browser, signed in as its owner")
    .option("--print", "Print the one-time link instead of opening it"),
)
  .example("weft open", "opens a link that signs in once; without a browser, prints it")
  .example("weft open --print", "prints the link, which is valid for ten minutes")
  .action(async (options: OpenOptions) => {
    const link = await createLoginLink(options, {});
    if (options.print !== true && options.json !== true && (await openBrowser(link.url, terminal.env))) {
      terminal.out(`Opened ${new URL(link.url).origin} in the browser\n`);
      return;
    }
    printResponse(link, `${link.url}\n`, options);
  });
