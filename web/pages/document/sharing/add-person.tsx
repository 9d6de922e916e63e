import { Autocomplete } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { type FormEvent, type ReactNode, useState } from "react";
import { dataOf, type Schemas } from "../../../../client/api.ts";
import { api } from "../../../api/client.ts";
import type { Document } from "../../../api/documents.ts";
import { nameOf } from "../../../api/me.ts";
import { Button } from "../../../components/button.tsx";
import { FormProblem } from "../../../components/form-problem.tsx";
import { showToast } from "../../../components/toasts.tsx";
import { useTranslation } from "../../../i18n/use-translation.ts";
import { grantableRoles } from "./people.tsx";
import { RoleField } from "./role-field.tsx";
import classes from "./sharing.module.css";
import { addAccess, invite, type Role, useSharingChange } from "./sharing-api.ts";

const DEBOUNCE_MS = 150;
/** The service searches for texts of three characters and more. */
const SEARCH_MIN = 3;
const LENGTH_MAX = 255;
const EMAIL = /^[^\s@]+@[^\s@]+$/;

interface Props {
  readonly document: Document;
}

/** A field for a name or an address: a known user gets access, any other address an invitation. */
export function AddPerson({ document }: Props): ReactNode {
  const { t } = useTranslation();
  const { id } = document;
  const [text, setText] = useState("");
  // A search for the text of a suggestion that was chosen finds nobody.
  const [chosen, setChosen] = useState<Schemas["User"]>();
  const [role, setRole] = useState<Role>("editor");
  const [searched] = useDebouncedValue(text.trim(), DEBOUNCE_MS);
  const users = useQuery({
    queryKey: ["users", searched, id],
    enabled: searched.length >= SEARCH_MIN,
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) =>
      dataOf(api.GET("/api/v1.0/users", { params: { query: { q: searched, document_id: id } }, signal })),
  });
  const found = searched.length >= SEARCH_MIN ? (users.data ?? []) : [];
  const userOf = (name: string): Schemas["User"] | undefined =>
    [...(chosen === undefined ? [] : [chosen]), ...found].find(
      (one) => labelOf(one) === name || one.email === name.toLowerCase(),
    );
  const add = useSharingChange(
    id,
    (name: string) => {
      const user = userOf(name);
      return user === undefined
        ? invite(id, { email: name, role })
        : addAccess(id, { user_id: user.id, role });
    },
    {
      onDone: (name) => {
        setText("");
        showToast(t(userOf(name) === undefined ? "sharing.added_invited" : "sharing.added", { name }));
      },
    },
  );
  const name = text.trim();
  // Not while the list of people is read again afterwards: the next person can be added.
  const isSending = add.isPending && add.variables === name;
  const isComplete = EMAIL.test(name) || userOf(name) !== undefined;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (isComplete && !isSending) add.mutate(name);
  };
  return (
    <section>
      <form className={classes.form} onSubmit={submit}>
        <Autocomplete
          aria-label={t("sharing.add_label")}
          placeholder={t("sharing.add_label")}
          maxLength={LENGTH_MAX}
          value={text}
          readOnly={isSending}
          onChange={(changed) => {
            setText(changed);
            if (add.isError) add.reset();
          }}
          onOptionSubmit={(label) => setChosen(userOf(label))}
          data={[...new Set(found.map(labelOf))]}
          filter={({ options }) => options}
          // Escape would close the empty list, and not the dialog.
          openOnFocus={false}
          data-autofocus
        />
        <RoleField
          label={t("sharing.role_new")}
          value={role}
          options={grantableRoles(document)}
          onChange={setRole}
        />
        <Button type="submit" disabled={!isComplete} loading={isSending}>
          {t("sharing.add")}
        </Button>
      </form>
      <FormProblem error={add.error ?? users.error} />
    </section>
  );
}

/** A user in the list of suggestions: their name and address. */
const labelOf = (user: Schemas["User"]): string =>
  user.full_name !== "" && user.email !== null ? `${user.full_name} (${user.email})` : nameOf(user);
