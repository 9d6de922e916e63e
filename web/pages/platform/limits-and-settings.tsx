import type { ReactNode } from "react";
import { State } from "../../components/state.tsx";
import tableClasses from "../../components/table.module.css";
import { Table } from "../../components/table.tsx";
import { useTranslation } from "../../i18n/use-translation.ts";
import classes from "./platform.module.css";
import type { Platform } from "./platform-page.tsx";

/** From this share of a limit on, the largest value is worth a look. */
const CLOSE_SHARE = 0.8;

export function LimitTable({ limits }: { readonly limits: Platform["limits"] }): ReactNode {
  const { t, i18n } = useTranslation();
  const format = new Intl.NumberFormat(i18n.language).format;
  return (
    <Table
      label={t("platform.limits")}
      columns={[
        { name: t("platform.name") },
        { name: t("platform.state") },
        { name: t("platform.source") },
        { name: t("platform.limit"), kind: "number" },
        { name: t("platform.largest"), kind: "number" },
        { name: t("platform.beyond") },
      ]}
    >
      {limits.map(({ name, source, unit, limit, largest, beyond }) => (
        <tr key={name}>
          <th scope="row">{name}</th>
          <td>{largest !== null && <LimitState share={largest / limit} />}</td>
          <td className={tableClasses.muted}>{source}</td>
          <td className={tableClasses.number}>
            {format(limit)} {unit}
          </td>
          <td className={tableClasses.number}>{largest === null ? "" : format(largest)}</td>
          <td className={tableClasses.muted}>{t(`platform.beyond_${beyond}`)}</td>
        </tr>
      ))}
    </Table>
  );
}

function LimitState({ share }: { readonly share: number }): ReactNode {
  const { t } = useTranslation();
  if (share >= 1) return <State name="failed" label={t("platform.reached")} />;
  if (share >= CLOSE_SHARE) return <State name="queued" label={t("platform.close")} />;
  return <State name="completed" label={t("platform.within")} />;
}

export function SettingTable({ settings }: { readonly settings: Platform["settings"] }): ReactNode {
  const { t } = useTranslation();
  return (
    <Table
      label={t("platform.settings")}
      columns={[
        { name: t("platform.name") },
        { name: t("platform.value") },
        { name: t("platform.default") },
        { name: t("platform.description") },
      ]}
    >
      {settings.map(({ name, value, default: initial, is_set, is_secret, description }) => (
        <tr key={name}>
          <th scope="row">
            <code>{name}</code>
          </th>
          <td className={classes.short} title={value ?? undefined}>
            {is_secret && is_set ? (
              <span className={classes.muted}>{t("platform.secret")}</span>
            ) : (
              <code data-set={is_set || undefined} className={classes.value}>
                {value}
              </code>
            )}
          </td>
          <td className={classes.short} title={initial ?? undefined}>
            <code className={classes.muted}>{initial}</code>
          </td>
          <td className={tableClasses.fill} title={description}>
            {description}
          </td>
        </tr>
      ))}
    </Table>
  );
}
