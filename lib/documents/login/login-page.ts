import { escapeHtml } from "../../escape-html.ts";
import { htmlPage } from "../html-page.ts";

/** Asks whether to sign in. The form sends the token in its body, so that only a person who presses the button uses it. */
export const askPage = (email: string, token: string, next: string | undefined): string =>
  htmlPage(
    "Sign in to Weft",
    `<p>This link signs you in as <strong>${escapeHtml(email)}</strong>.</p>
<form method="post" action="?">
<input type="hidden" name="token" value="${escapeHtml(token)}">
${next === undefined ? "" : `<input type="hidden" name="next" value="${escapeHtml(next)}">\n`}<button>Sign in</button>
</form>`,
  );

export const INVALID_LINK_PAGE = htmlPage(
  "This link is not valid",
  `<p>A link signs in once, and for a short time. For a new one, run <code>npx weft open</code> on the machine of the
server, or ask the person who sent it to you.</p>`,
);

export const NO_LINK_PAGE = htmlPage(
  "Sign in to Weft",
  "<p>Run <code>npx weft open</code> on the machine of the server. It opens a link that signs you in.</p>",
);
