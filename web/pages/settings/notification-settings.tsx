import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { dataOf, type Schemas } from "../../../client/api.ts";
import { api } from "../../api/client.ts";
import { ErrorState, messageOf } from "../../components/error-state.tsx";
import { showToast } from "../../components/toasts.tsx";
import { useOptimisticChange } from "../../components/use-optimistic-change.ts";
import { useTranslation } from "../../i18n/use-translation.ts";
import classes from "./settings.module.css";

type Settings = Schemas["NotificationSettings"];
type Kind = keyof Settings;
type Changes = Partial<Record<Kind, Partial<Settings[Kind]>>>;

const KINDS: readonly Kind[] = ["comment", "reply", "mention", "share", "access_request", "failed_run"];
const CHANNELS = [
  { channel: "in_app", name: "settings.in_app" },
  { channel: "email", name: "settings.by_email" },
] as const;
const KEY = ["notification-settings"];

/** What the user is notified of, and how. */
export function NotificationSettings(): ReactNode {
  const { t } = useTranslation();
  const client = useQueryClient();
  const settings = useQuery({
    queryKey: KEY,
    queryFn: ({ signal }) => dataOf(api.GET("/api/v1.0/users/me/notification-settings", { signal })),
  });
  const change = useMutation({
    // One after the other: each answer contains all settings.
    scope: { id: "notification-settings" },
    mutationFn: (body: Changes) => dataOf(api.PATCH("/api/v1.0/users/me/notification-settings", { body })),
    onSuccess: (changed) => client.setQueryData(KEY, changed),
    onError: (error) => showToast(`${t("error.action")}: ${messageOf(error, t)}`),
  });
  if (settings.isError) return <ErrorState error={settings.error} onRetry={() => void settings.refetch()} />;
  if (settings.data === undefined) return null;
  return (
    <div className={classes.section}>
      <table className={classes.table}>
        <thead>
          <tr>
            <th scope="col">{t("settings.kind")}</th>
            {CHANNELS.map(({ channel, name }) => (
              <th key={channel} scope="col">
                {t(name)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {KINDS.map((kind) => (
            <tr key={kind}>
              <th scope="row">{t(`settings.kind_${kind}`)}</th>
              {CHANNELS.map(({ channel, name }) => (
                <td key={channel}>
                  <Box
                    label={`${t(`settings.kind_${kind}`)}: ${t(name)}`}
                    stored={settings.data[kind][channel]}
                    store={(isOn) => change.mutateAsync({ [kind]: { [channel]: isOn } })}
                  />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface BoxProps {
  readonly label: string;
  readonly stored: boolean;
  readonly store: (isOn: boolean) => Promise<unknown>;
}

function Box({ label, stored, store }: BoxProps): ReactNode {
  const [isOn, change] = useOptimisticChange(stored, store);
  return (
    <input
      type="checkbox"
      aria-label={label}
      checked={isOn}
      onChange={({ currentTarget }) => change(currentTarget.checked)}
    />
  );
}
