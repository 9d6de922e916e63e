import { useMutation, useQuery } from "@tanstack/react-query";
import { type FormEvent, type ReactNode, useId, useState } from "react";
import { useLocation } from "wouter";
import { dataOf } from "../../../client/api.ts";
import { api } from "../../api/client.ts";
import { EVENTS, eventPath } from "../../api/events.ts";
import { SCHEDULES } from "../../api/schedules.ts";
import { Button } from "../../components/button.tsx";
import { CopyCommand } from "../../components/copy-command.tsx";
import { messageOf } from "../../components/error-state.tsx";
import classes from "../../components/form.module.css";
import { FormField } from "../../components/form-field.tsx";
import { showToast } from "../../components/toasts.tsx";
import { useTranslation } from "../../i18n/use-translation.ts";
import { readEventData } from "./event-data.ts";

/** The limits of the service. */
const TOPIC_MAX_LENGTH = 1_024;
const DATA_MAX_LENGTH = 1_000_000;
const TEXT_MAX_LENGTH = 1_024;
/** Triggers and events whose topics are suggested. */
const TRIGGERS_MAX = 500;
const RECENT_MAX = 100;

const FIELDS = ["topic", "data", "workspace"] as const;

interface Props {
  readonly topic: string;
  /** JSON text. */
  readonly data: string;
}

/** The topic, the data and the workspace of an event. The page of the event follows. */
export function SendEventForm(initial: Props): ReactNode {
  const { t } = useTranslation();
  const [, navigate] = useLocation();
  const id = useId();
  const topics = useTopics();
  const [topic, setTopic] = useState(initial.topic);
  const [text, setText] = useState(() => indented(initial.data));
  const [workspace, setWorkspace] = useState("");
  const data = readEventData(text);
  const body = {
    topic: topic.trim(),
    data: data.value ?? {},
    ...(workspace === "" ? {} : { workspace }),
  };
  const send = useMutation({
    mutationFn: () => dataOf(api.POST("/automation/events/emit", { body })),
    onSuccess: (response) => {
      // An array answers an array.
      const [emitted] = Array.isArray(response) ? response : [response];
      if (emitted === undefined) return;
      const { event_id, triggered_workflows } = emitted;
      showToast(t("send_event.sent", { topic: body.topic, count: triggered_workflows.length }));
      navigate(eventPath(event_id.replace(/^evt_/, "")));
    },
  });
  const message = send.isError ? messageOf(send.error, t) : undefined;
  // The service names the field: `topic: must not be empty`.
  const field = FIELDS.find((name) => message?.startsWith(`${name}:`));
  const problemOf = (name: (typeof FIELDS)[number]): string | undefined =>
    field === name ? message : undefined;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (data.problem === undefined) send.mutate();
  };
  return (
    <form className={classes.form} onSubmit={submit}>
      <FormField label={t("events.topic")} hint={t("send_event.topic_hint")} problem={problemOf("topic")}>
        {(attributes) => (
          <input
            {...attributes}
            required
            autoComplete="off"
            spellCheck={false}
            maxLength={TOPIC_MAX_LENGTH}
            list={`${id}-topics`}
            value={topic}
            onChange={({ currentTarget }) => setTopic(currentTarget.value)}
          />
        )}
      </FormField>
      <datalist id={`${id}-topics`}>
        {topics.map((one) => (
          <option key={one} value={one} />
        ))}
      </datalist>
      <FormField
        label={t("events.data")}
        hint={t("send_event.data_hint")}
        problem={
          data.problem === undefined
            ? problemOf("data")
            : t(`send_event.${data.problem.kind}`, { message: data.problem.message })
        }
      >
        {(attributes) => (
          <textarea
            {...attributes}
            spellCheck={false}
            maxLength={DATA_MAX_LENGTH}
            value={text}
            onChange={({ currentTarget }) => setText(currentTarget.value)}
          />
        )}
      </FormField>
      <FormField
        label={t("events.workspace")}
        hint={t("send_event.workspace_hint")}
        problem={problemOf("workspace")}
      >
        {(attributes) => (
          <input
            {...attributes}
            maxLength={TEXT_MAX_LENGTH}
            value={workspace}
            onChange={({ currentTarget }) => setWorkspace(currentTarget.value)}
          />
        )}
      </FormField>
      {message !== undefined && field === undefined && (
        <p className={classes.problem} role="alert">
          {message}
        </p>
      )}
      <div className={classes.buttons}>
        <Button type="submit" loading={send.isPending} disabled={data.problem !== undefined}>
          {t("events.send")}
        </Button>
        <CopyCommand
          request={{ method: "POST", path: "/automation/events/emit", body }}
          weft={[
            "emit",
            body.topic,
            "--data",
            JSON.stringify(body.data),
            ...(workspace === "" ? [] : ["--workspace", workspace]),
          ]}
        />
      </div>
    </form>
  );
}

function indented(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), undefined, 2);
  } catch {
    return json;
  }
}

/** The topics that triggers wait for and that events had, without patterns. */
function useTopics(): readonly string[] {
  const triggers = useQuery({
    queryKey: [SCHEDULES, "topics"],
    queryFn: ({ signal }) =>
      dataOf(
        api.GET("/automation/schedules", {
          params: { query: { trigger_type: "event", limit: TRIGGERS_MAX } },
          signal,
        }),
      ),
  });
  const recent = useQuery({
    queryKey: [EVENTS, "topics"],
    queryFn: ({ signal }) =>
      dataOf(api.GET("/automation/event-logs", { params: { query: { limit: RECENT_MAX } }, signal })),
  });
  const named = [
    ...(triggers.data?.data ?? []).map(({ event_topic }) => event_topic),
    ...(recent.data?.data ?? []).map(({ topic }) => topic),
  ];
  return [...new Set(named)].filter((topic) => topic !== "" && !/[*?[{]/.test(topic)).sort();
}
