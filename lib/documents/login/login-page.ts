import { hash } from "node:crypto";

const STYLE =
  "body{font:1rem/1.5 system-ui,sans-serif;max-width:32rem;margin:15vh auto;padding:0 1rem;color-scheme:light dark}" +
  "button{font:inherit;padding:.5rem 1.5rem}";

/**
 * The page loads nothing, executes nothing, and sends its form only to this server, whose response may redirect to
 * `target`: browsers apply the policy to both.
 */
export const loginPageHeaders = (target?: string | URL): Readonly<Record<string, string>> => ({
  "content-security-policy": [
    "default-src 'none'",
    `style-src 'sha256-${hash("sha256", STYLE, "base64")}'`,
    "base-uri 'none'",
    `form-action 'self'${target instanceof URL ? ` ${target.origin}` : ""}`,
    "frame-ancestors 'none'",
  ].join("; "),
  // The URL contains the token. `no-referrer` would remove the origin from the form's request.
  "referrer-policy": "same-origin",
});

const page = (title: string, content: string): string => `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="robots" content="noindex"><title>${title}</title><style>${STYLE}</style>
</head><body>
<main><h1>${title}</h1>
${content}
</main>
</body></html>
`;

/** Asks whether to sign in. The form sends the token in its body, so that only a person who presses the button uses it. */
export const askPage = (email: string, token: string, next: string | undefined): string =>
  page(
    "Sign in to Weft",
    `<p>This link signs you in as <strong>${escapeHtml(email)}</strong>.</p>
<form method="post" action="?">
<input type="hidden" name="token" value="${escapeHtml(token)}">
${next === undefined ? "" : `<input type="hidden" name="next" value="${escapeHtml(next)}">\n`}<button>Sign in</button>
</form>`,
  );

export const INVALID_LINK_PAGE = page(
  "This link is not valid",
  `<p>A link signs in once, and for a short time. For a new one, run <code>npx weft open</code> on the machine of the
server, or ask the person who sent it to you.</p>`,
);

export const NO_LINK_PAGE = page(
  "Sign in to Weft",
  "<p>Run <code>npx weft open</code> on the machine of the server. It opens a link that signs you in.</p>",
);

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};
const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (letter) => ENTITIES[letter] ?? "");
