/** The headers that prove that a request of a session comes from this page. */
export function csrfHeaders(): Readonly<Record<string, string>> {
  const token = /(?:^|;\s*)csrftoken=([^;]*)/.exec(document.cookie)?.[1];
  return token === undefined ? {} : { "x-csrftoken": token };
}
