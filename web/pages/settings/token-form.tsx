import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, type ReactNode, useId } from "react";
import { dataOf, type Schemas } from "../../../client/api.ts";
import { api } from "../../api/client.ts";
import { useMe } from "../../api/me.ts";
import { Button } from "../../components/button.tsx";
import { useCopy } from "../../components/copy-text.ts";
import { messageOf } from "../../components/error-state.tsx";
import { useTranslation } from "../../i18n/use-translation.ts";
import classes from "./settings.module.css";

type Scope = Schemas["AccessToken"]["scopes"][number];
const SCOPES: readonly Scope[] = ["documents", "automation"];
const LENGTH_MAX = 255;

/** Creates a token, and shows it once. */
export function TokenForm(): ReactNode {
  const { t } = useTranslation();
  const client = useQueryClient();
  const { data: me } = useMe();
  const copy = useCopy();
  const id = useId();
  const create = useMutation({
    mutationFn: (form: FormData) => {
      const until = form.get("until");
      return dataOf(
        api.POST("/api/v1.0/access-tokens", {
          body: {
            name: String(form.get("name")),
            email: String(form.get("email")),
            scopes: SCOPES.filter((scope) => form.has(scope)),
            // Until the end of that day where the user is.
            ...(until === "" ? {} : { expires_at: new Date(`${until}T23:59:59`).toISOString() }),
          },
        }),
      );
    },
    onSuccess: () => void client.invalidateQueries({ queryKey: ["tokens"] }),
  });
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    create.mutate(new FormData(event.currentTarget));
  };
  const token = create.data?.token;
  return (
    <>
      <form className={classes.form} onSubmit={submit}>
        <div className={classes.field}>
          <label htmlFor={`${id}name`}>{t("settings.token_name")}</label>
          <input id={`${id}name`} name="name" required maxLength={LENGTH_MAX} />
        </div>
        <div className={classes.field}>
          <label htmlFor={`${id}email`}>{t("settings.token_email")}</label>
          <input
            id={`${id}email`}
            name="email"
            type="email"
            required
            maxLength={LENGTH_MAX}
            defaultValue={me?.email ?? ""}
          />
        </div>
        <div className={classes.field}>
          <label htmlFor={`${id}until`}>{t("settings.token_date")}</label>
          <input id={`${id}until`} name="until" type="date" />
        </div>
        <fieldset className={classes.field}>
          <legend>{t("settings.token_scopes")}</legend>
          {SCOPES.map((scope) => (
            <label key={scope}>
              <input type="checkbox" name={scope} defaultChecked={scope === "documents"} />
              {t(`settings.scope_${scope}`)}
            </label>
          ))}
        </fieldset>
        <Button type="submit" loading={create.isPending}>
          {t("settings.token_create")}
        </Button>
      </form>
      <div role="status">
        {create.isError && <p className={classes.failure}>{messageOf(create.error, t)}</p>}
        {token !== undefined && (
          <div className={classes.token}>
            <p>{t("settings.token_shown")}</p>
            <code>{token}</code>
            <Button variant="default" onClick={() => void copy(token)}>
              {t("settings.token_copy")}
            </Button>
          </div>
        )}
      </div>
    </>
  );
}
