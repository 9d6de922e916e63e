import type { Ports } from "../../platform/ports.ts";
import type { Write } from "../../platform/tables.ts";
import { mailKey, mailsTable, type StoredMail } from "../tables/mails.ts";
import type { StoredUser } from "../tables/users.ts";

type NewMail = Pick<StoredMail, "kind" | "to" | "user" | "language" | "role" | "subject" | "message"> & {
  readonly document: { readonly id: string; readonly title: string | null };
  /** Undefined if a server created the document. */
  readonly sender: StoredUser | undefined;
};

/** Plans an email that is sent after the transaction commits. Plans nothing without a recipient. */
export function planMail(
  { ids, clock }: Pick<Ports, "ids" | "clock">,
  { document, sender, ...mail }: Omit<NewMail, "to"> & { readonly to: string | null },
): Write[] {
  const { to } = mail;
  if (to === null) return [];
  const created_at = new Date(clock.now()).toISOString();
  const id = ids.ordered();
  const item: StoredMail = {
    ...mailKey(created_at, id),
    ...mail,
    to,
    id,
    created_at,
    attempts: 0,
    sender: sender === undefined ? "" : nameOf(sender),
    document: document.id,
    title: document.title,
  };
  return [{ op: "put", table: mailsTable, item, when: [["pk", "missing"]] }];
}

const nameOf = ({ full_name, email }: StoredUser): string =>
  full_name ? (email === null ? full_name : `${full_name} (${email})`) : (email ?? "");
