import { type ReactNode, useId } from "react";
import { nameOf, useMe } from "../../api/me.ts";
import { useUserLanguage } from "../../api/user-language.ts";
import { COLOR_SCHEMES, setColorScheme } from "../../color-scheme.ts";
import { useChosenColorScheme } from "../../components/use-color-scheme.ts";
import { useOptimisticChange } from "../../components/use-optimistic-change.ts";
import { LANGUAGES, type Language } from "../../i18n/language.ts";
import { useTranslation } from "../../i18n/use-translation.ts";
import classes from "./settings.module.css";

export function GeneralSettings(): ReactNode {
  const { t, i18n } = useTranslation();
  const { data: me } = useMe();
  const colorScheme = useChosenColorScheme();
  const [language, setLanguage] = useOptimisticChange(i18n.language as Language, useUserLanguage());
  const id = useId();
  return (
    <>
      <section aria-labelledby={`${id}account`} className={classes.section}>
        <h2 id={`${id}account`}>{t("settings.account")}</h2>
        <dl className={classes.facts}>
          <dt>{t("settings.name")}</dt>
          <dd>{me === undefined ? "" : nameOf(me)}</dd>
          <dt>{t("settings.email")}</dt>
          <dd>{me?.email}</dd>
        </dl>
      </section>
      <section className={classes.section}>
        <div className={classes.field}>
          <label htmlFor={`${id}language`}>{t("settings.language")}</label>
          <select
            id={`${id}language`}
            value={language}
            onChange={({ currentTarget }) => setLanguage(currentTarget.value as Language)}
          >
            {Object.entries(LANGUAGES).map(([code, name]) => (
              <option key={code} value={code} lang={code}>
                {name}
              </option>
            ))}
          </select>
        </div>
        <div className={classes.field}>
          <label htmlFor={`${id}theme`}>{t("settings.theme")}</label>
          <select
            id={`${id}theme`}
            value={colorScheme}
            onChange={({ currentTarget }) =>
              setColorScheme(COLOR_SCHEMES.find((scheme) => scheme === currentTarget.value) ?? "auto")
            }
          >
            {COLOR_SCHEMES.map((scheme) => (
              <option key={scheme} value={scheme}>
                {t(`theme.${scheme}`)}
              </option>
            ))}
          </select>
        </div>
      </section>
    </>
  );
}
