import { type ReactNode, useRef, useState } from "react";
import { useLocation } from "wouter";
import { dataOf } from "../../../client/api.ts";
import { api } from "../../api/client.ts";
import { useDocumentChange } from "../../api/document-changes.ts";
import { documentPath } from "../../api/documents.ts";
import { Button } from "../../components/button.tsx";
import formClasses from "../../components/form.module.css";
import { FormField } from "../../components/form-field.tsx";
import classes from "../../components/page.module.css";
import { PageHeader } from "../../components/page-header.tsx";
import { useQueryParameters } from "../../components/query-parameters.ts";
import { useTranslation } from "../../i18n/use-translation.ts";

const TITLE_MAX_LENGTH = 255;

/** A new document with the title of the address. Any site can lead here, so the user creates it. Decision 0259. */
export function NewDocumentPage(): ReactNode {
  const { t } = useTranslation();
  const [, navigate] = useLocation();
  const [parameters] = useQueryParameters();
  const [title, setTitle] = useState(() =>
    (parameters.get("title") ?? "").replace(/\s+/g, " ").trim().slice(0, TITLE_MAX_LENGTH),
  );
  const create = useDocumentChange(
    (text: string) =>
      dataOf(api.POST("/api/v1.0/documents", { body: text === "" ? {} : { title: text.toWellFormed() } })),
    // Back leads to the page before this one.
    ({ id }, text) => navigate(documentPath({ id, title: text }), { replace: true }),
  );
  // A second click may come before the button is drawn again.
  const isSent = useRef(false);
  const submit = (): void => {
    if (isSent.current) return;
    isSent.current = true;
    create.mutate(title.trim(), {
      onError: () => {
        isSent.current = false;
      },
    });
  };
  return (
    <div className={classes.page}>
      <PageHeader title={t("documents.new_title")} />
      <form
        className={formClasses.form}
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <FormField label={t("documents.new_label")} hint={t("documents.new_hint")}>
          {(attributes) => (
            <input
              {...attributes}
              dir="auto"
              maxLength={TITLE_MAX_LENGTH}
              value={title}
              // biome-ignore lint/a11y/noAutofocus: the page is about this field
              autoFocus
              onChange={({ currentTarget }) => setTitle(currentTarget.value)}
            />
          )}
        </FormField>
        <div className={formClasses.buttons}>
          <Button type="submit" loading={create.isPending || create.isSuccess}>
            {t("documents.new_create")}
          </Button>
        </div>
      </form>
    </div>
  );
}
