import { hash } from "node:crypto";

const STYLE =
  "body{font:1rem/1.5 system-ui,sans-serif;max-width:32rem;margin:15vh auto;padding:0 1rem;color-scheme:light dark}" +
  "button{font:inherit;padding:.5rem 1.5rem}";

/**
 * The page loads nothing, executes nothing, and sends its form only to this server, whose response may redirect to
 * `target`: browsers apply the policy to both.
 */
export const htmlPageHeaders = (target?: string | URL): Readonly<Record<string, string>> => ({
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

/** A page with a title and content, both HTML. `language` is that of the texts. */
export const htmlPage = (title: string, content: string, language = "en"): string => `<!doctype html>
<html lang="${language}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="robots" content="noindex"><title>${title}</title><style>${STYLE}</style>
</head><body>
<main><h1>${title}</h1>
${content}
</main>
</body></html>
`;
