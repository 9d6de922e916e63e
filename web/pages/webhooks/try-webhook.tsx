import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, type ReactNode, useState } from "react";
import { Link } from "wouter";
import { ApiFailure, type Schemas } from "../../../client/api.ts";
import { EVENTS, eventPath } from "../../api/events.ts";
import { SCHEDULES } from "../../api/schedules.ts";
import { type Webhook, webhookRequest } from "../../api/webhooks.ts";
import { Button } from "../../components/button.tsx";
import { DetailsSection } from "../../components/details-panel.tsx";
import formClasses from "../../components/form.module.css";
import { FormField } from "../../components/form-field.tsx";
import { FormProblem } from "../../components/form-problem.tsx";
import { useTranslation } from "../../i18n/use-translation.ts";
import classes from "./webhooks.module.css";

const BODY_MAX_LENGTH = 1_000_000;

/** Calls a webhook as its callers do: authenticated by the secret and not by the session. */
export function TryWebhook({ webhook }: { readonly webhook: Webhook }): ReactNode {
  const { t } = useTranslation();
  const client = useQueryClient();
  const [body, setBody] = useState('{\n  "hello": "world"\n}');
  const call = useMutation({
    mutationFn: async () => {
      const { url, headers } = await webhookRequest(webhook, body, Date.now());
      const response = await fetch(url, { method: "POST", headers, body, credentials: "omit" });
      const answer: unknown = await response.json().catch(() => undefined);
      if (!response.ok) throw new ApiFailure(response.status, answer);
      return answer as Schemas["ReceivedWebhook"];
    },
    onSettled: () => {
      void client.invalidateQueries({ queryKey: [EVENTS] });
      void client.invalidateQueries({ queryKey: [SCHEDULES] });
    },
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    call.mutate();
  };
  return (
    <DetailsSection title={t("webhooks.try")}>
      <form className={formClasses.form} onSubmit={submit}>
        <FormField label={t("webhooks.body")}>
          {(attributes) => (
            <textarea
              {...attributes}
              className={classes.body}
              spellCheck={false}
              maxLength={BODY_MAX_LENGTH}
              value={body}
              onChange={({ currentTarget }) => setBody(currentTarget.value)}
            />
          )}
        </FormField>
        <div className={formClasses.buttons}>
          <Button type="submit" variant="default" size="compact-sm" loading={call.isPending}>
            {t("webhooks.call")}
          </Button>
        </div>
        <FormProblem error={call.error} />
        {call.isSuccess && (
          <p role="status">
            {call.data.message}{" "}
            {call.data.event_id !== undefined && (
              <Link href={eventPath(call.data.event_id.replace("evt_", ""))} className={classes.link}>
                {t("webhooks.open_event")}
              </Link>
            )}
          </p>
        )}
      </form>
    </DetailsSection>
  );
}
