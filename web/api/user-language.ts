import { useQueryClient } from "@tanstack/react-query";
import { dataOf } from "../../client/api.ts";
import { messageOf } from "../components/error-state.tsx";
import { showToast } from "../components/toasts.tsx";
import { setLanguage } from "../i18n/i18n.ts";
import type { Language } from "../i18n/language.ts";
import { useTranslation } from "../i18n/use-translation.ts";
import { api } from "./client.ts";
import { useConfig } from "./config.ts";
import { ME, useMe } from "./me.ts";

/** Returns a function that shows the interface in a language, and stores it for the user's emails and other devices. */
export function useUserLanguage(): (language: Language) => Promise<void> {
  const { t } = useTranslation();
  const client = useQueryClient();
  const { data: me } = useMe();
  const { data: config } = useConfig();
  return async (language) => {
    try {
      await setLanguage(language);
      const code = config?.LANGUAGES.map(([one]) => one).find((one) => one?.startsWith(language) === true);
      if (me === undefined || code === undefined) return;
      const params = { path: { id: me.id } };
      const user = await dataOf(api.PATCH("/api/v1.0/users/{id}", { params, body: { language: code } }));
      client.setQueryData(ME, user);
    } catch (error) {
      showToast(`${t("error.action")}: ${messageOf(error, t)}`);
    }
  };
}
