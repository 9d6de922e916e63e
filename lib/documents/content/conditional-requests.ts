/**
 * Whether a list of entity tags, or `*`, matches this tag. Weak tags are compared like strong ones. Reference 1.5.
 */
export function matchesEtag(tags: string, etag: string | undefined): boolean {
  if (etag === undefined) return false;
  return tags.split(",").some((tag) => {
    const one = tag.trim().replace(/^W\//, "");
    return one === "*" || one === `"${etag}"` || one === etag;
  });
}

/** Evaluates If-None-Match and If-Modified-Since. An invalid date is ignored. */
export function isNotModified(
  headers: Readonly<Record<string, string>>,
  { etag, saved_at }: { readonly etag: string; readonly saved_at: string },
): boolean {
  const tags = headers["if-none-match"];
  if (tags !== undefined) return matchesEtag(tags, etag);
  const since = Date.parse(headers["if-modified-since"] ?? "");
  return Math.floor(Date.parse(saved_at) / 1000) * 1000 <= since;
}
