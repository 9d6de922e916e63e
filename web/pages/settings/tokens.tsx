import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { dataOf, type Schemas } from "../../../client/api.ts";
import { api } from "../../api/client.ts";
import { isForbidden } from "../../api/failures.ts";
import { Button } from "../../components/button.tsx";
import { EmptyState } from "../../components/empty-state.tsx";
import { ErrorState, messageOf } from "../../components/error-state.tsx";
import { later } from "../../components/later.tsx";
import { Time } from "../../components/time.tsx";
import { showToast } from "../../components/toasts.tsx";
import { useTranslation } from "../../i18n/use-translation.ts";
import classes from "./settings.module.css";
import { TokenForm } from "./token-form.tsx";

const ConfirmDialog = later(async () => (await import("../../components/confirm-dialog.tsx")).ConfirmDialog);

type Token = Schemas["AccessToken"];

/** The access tokens of the installation, for its owner. */
export function Tokens(): ReactNode {
  const { t } = useTranslation();
  const client = useQueryClient();
  const [asked, setAsked] = useState<Token>();
  const tokens = useQuery({
    queryKey: ["tokens"],
    queryFn: ({ signal }) => dataOf(api.GET("/api/v1.0/access-tokens", { signal })),
  });
  const revoke = useMutation({
    mutationFn: (id: string) =>
      dataOf<unknown>(api.DELETE("/api/v1.0/access-tokens/{id}", { params: { path: { id } } })),
    onError: (error) => showToast(`${t("error.action")}: ${messageOf(error, t)}`),
    onSettled: () => {
      setAsked(undefined);
      return client.invalidateQueries({ queryKey: ["tokens"] });
    },
  });
  if (isForbidden(tokens.error)) return <EmptyState text={t("settings.token_owner")} />;
  if (tokens.isError) return <ErrorState error={tokens.error} onRetry={() => void tokens.refetch()} />;
  const rows = tokens.data?.data ?? [];
  return (
    <div className={classes.section}>
      <TokenForm />
      {tokens.isSuccess && rows.length === 0 && (
        <EmptyState text={t("settings.tokens_none")} guide="documents-people-and-tokens" />
      )}
      {rows.length > 0 && (
        <table className={`${classes.table} ${classes.tokens}`}>
          <thead>
            <tr>
              <th scope="col">{t("settings.token")}</th>
              <th scope="col">{t("settings.token_for")}</th>
              <th scope="col">{t("settings.token_scopes")}</th>
              <th scope="col">{t("settings.token_expires")}</th>
              <th scope="col">
                <span className="hidden">{t("settings.token_revoke")}</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {rows.map((token) => (
              <tr key={token.id}>
                <th scope="row">
                  <bdi>{token.name}</bdi>
                </th>
                <td>{token.email}</td>
                <td>{token.scopes.map((scope) => t(`settings.scope_${scope}`)).join(", ")}</td>
                <td>
                  {token.expires_at === null ? t("settings.token_never") : <Time value={token.expires_at} />}
                </td>
                <td>
                  <Button
                    variant="default"
                    size="compact-sm"
                    aria-label={t("settings.token_revoke_named", { name: token.name })}
                    onClick={() => setAsked(token)}
                  >
                    {t("settings.token_revoke")}
                  </Button>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {asked !== undefined && (
        <ConfirmDialog
          title={t("settings.token_revoke_named", { name: asked.name })}
          cancel={t("settings.token_cancel")}
          confirm={t("settings.token_revoke")}
          isPending={revoke.isPending}
          onCancel={() => setAsked(undefined)}
          onConfirm={() => revoke.mutate(asked.id)}
        >
          <p>{t("settings.token_revoke_question")}</p>
        </ConfirmDialog>
      )}
    </div>
  );
}
