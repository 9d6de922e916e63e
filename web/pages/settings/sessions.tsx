import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { dataOf } from "../../../client/api.ts";
import { api } from "../../api/client.ts";
import { Button } from "../../components/button.tsx";
import { ErrorState, messageOf } from "../../components/error-state.tsx";
import { Time } from "../../components/time.tsx";
import { showToast } from "../../components/toasts.tsx";
import { useTranslation } from "../../i18n/use-translation.ts";
import { browserName } from "./browser-name.ts";
import classes from "./settings.module.css";

const KEY = ["sessions"];

/** The browsers in which the user is signed in. */
export function Sessions(): ReactNode {
  const { t } = useTranslation();
  const client = useQueryClient();
  const sessions = useQuery({
    queryKey: KEY,
    queryFn: ({ signal }) => dataOf(api.GET("/api/v1.0/users/me/sessions", { signal })),
  });
  const end = useMutation({
    mutationFn: (id: string | undefined) =>
      dataOf<unknown>(
        id === undefined
          ? api.DELETE("/api/v1.0/users/me/sessions")
          : api.DELETE("/api/v1.0/users/me/sessions/{id}", { params: { path: { id } } }),
      ),
    onSuccess: () => showToast(t("settings.session_ended")),
    onError: (error) => showToast(`${t("error.action")}: ${messageOf(error, t)}`),
    onSettled: () => client.invalidateQueries({ queryKey: KEY }),
  });
  if (sessions.isError) return <ErrorState error={sessions.error} onRetry={() => void sessions.refetch()} />;
  const rows = sessions.data ?? [];
  return (
    <div className={classes.section}>
      <table className={classes.table}>
        <thead>
          <tr>
            <th scope="col">{t("settings.session")}</th>
            <th scope="col">{t("settings.session_used")}</th>
            <th scope="col">
              <span className="hidden">{t("settings.session_end")}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ id, user_agent, last_used_at, is_current }) => (
            <tr key={id}>
              <th scope="row" title={user_agent}>
                {browserName(user_agent)}
              </th>
              <td>{is_current ? t("settings.session_current") : <Time value={last_used_at} />}</td>
              <td>
                {!is_current && (
                  <Button
                    variant="default"
                    size="compact-sm"
                    aria-label={t("settings.session_end_named", { name: browserName(user_agent) })}
                    loading={end.isPending && end.variables === id}
                    onClick={() => end.mutate(id)}
                  >
                    {t("settings.session_end")}
                  </Button>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length > 1 && (
        <Button
          variant="default"
          loading={end.isPending && end.variables === undefined}
          onClick={() => end.mutate(undefined)}
        >
          {t("settings.sessions_end")}
        </Button>
      )}
    </div>
  );
}
