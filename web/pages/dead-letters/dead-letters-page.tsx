import { useDisclosure } from "@mantine/hooks";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { type ReactNode, useRef } from "react";
import { Link } from "wouter";
import { dataOf } from "../../../client/api.ts";
import { api } from "../../api/client.ts";
import { DEAD_LETTERS, type DeadLetter, useRedrive, useRedriveAll } from "../../api/dead-letters.ts";
import { Button } from "../../components/button.tsx";
import { CopyCommand } from "../../components/copy-command.tsx";
import { EmptyState } from "../../components/empty-state.tsx";
import { messageOf } from "../../components/error-state.tsx";
import { later } from "../../components/later.tsx";
import { type ListRows, ListWithDetails } from "../../components/list-with-details.tsx";
import classes from "../../components/page.module.css";
import { PageHeader } from "../../components/page-header.tsx";
import { orderingOf, pageOf, useQueryParameters } from "../../components/query-parameters.ts";
import tableClasses from "../../components/table.module.css";
import { Table } from "../../components/table.tsx";
import { Time } from "../../components/time.tsx";
import { showToast } from "../../components/toasts.tsx";
import { useTranslation } from "../../i18n/use-translation.ts";
import { DeadLetterPanel } from "./dead-letter-panel.tsx";
import ownClasses from "./dead-letters.module.css";

const ConfirmDialog = later(async () => (await import("../../components/confirm-dialog.tsx")).ConfirmDialog);

const PAGE_SIZE = 50;
/** How often the list is read again, milliseconds. */
const REFRESH_MS = 5_000;

/** Messages that failed at every delivery, newest first. They are read, and sent to their queue again. */
export function DeadLettersPage(): ReactNode {
  const { t } = useTranslation();
  const [parameters] = useQueryParameters();
  const page = pageOf(parameters);
  const query = {
    ...orderingOf(parameters, ["received_at"]),
    offset: (page - 1) * PAGE_SIZE,
    limit: PAGE_SIZE,
  };
  const letters = useQuery({
    queryKey: [DEAD_LETTERS, query],
    queryFn: ({ signal }) => dataOf(api.GET("/automation/dead-letters", { params: { query }, signal })),
    placeholderData: keepPreviousData,
    refetchInterval: REFRESH_MS,
  });
  return (
    <div className={classes.page}>
      <PageHeader
        title={t("dead_letters.title")}
        action={
          <>
            <CopyCommand
              request={{ path: "/automation/dead-letters", query }}
              weft={
                query.ordering === undefined
                  ? [
                      "dead-letters",
                      "--limit",
                      `${PAGE_SIZE}`,
                      ...(page === 1 ? [] : ["--offset", `${query.offset}`]),
                    ]
                  : undefined
              }
            />
            {letters.isSuccess && letters.data.data.length > 0 && (
              <RedriveAll total={letters.data.pagination.total} />
            )}
          </>
        }
      />
      <ListWithDetails
        list={letters}
        parameter="letter"
        empty={<EmptyState text={t("dead_letters.empty")} guide="web-interface#operation" />}
        table={(shown) => <LetterTable {...shown} />}
        details={(letter, closeHref) => (
          <DeadLetterPanel key={letter.id} letter={letter} closeHref={closeHref} />
        )}
      />
    </div>
  );
}

function LetterTable({ rows, chosen, hrefOf }: ListRows<DeadLetter>): ReactNode {
  const { t } = useTranslation();
  const redrive = useRedrive();
  return (
    <Table
      label={t("dead_letters.title")}
      order="-received_at"
      columns={[
        { name: t("dead_letters.queue") },
        { name: t("dead_letters.received"), sort: "received_at" },
        { name: t("dead_letters.error") },
        { name: t("dead_letters.actions"), kind: "actions" },
      ]}
    >
      {rows.map(({ id, queue, received_at, error }) => (
        <tr key={id}>
          <th scope="row">
            <Link
              href={hrefOf(id)}
              className={tableClasses.link}
              aria-current={id === chosen ? "true" : undefined}
            >
              {queue}
            </Link>
          </th>
          <td className={tableClasses.muted}>
            <Time value={received_at} />
          </td>
          <td className={tableClasses.fill} dir="auto">
            {error === "" ? t("dead_letters.no_error") : error}
          </td>
          <td className={tableClasses.actions}>
            <Button
              variant="default"
              size="compact-sm"
              loading={redrive.isPending && redrive.variables === id}
              onClick={() =>
                redrive.mutate(id, {
                  onSuccess: () => showToast(t("dead_letters.redriven", { queue })),
                  onError: (failure) => showToast(`${t("error.action")}: ${messageOf(failure, t)}`),
                })
              }
            >
              {t("dead_letters.redrive")}
            </Button>
          </td>
        </tr>
      ))}
    </Table>
  );
}

function RedriveAll({ total }: { readonly total: number }): ReactNode {
  const { t } = useTranslation();
  const button = useRef<HTMLButtonElement>(null);
  const [isAsking, question] = useDisclosure(false, { onClose: () => button.current?.focus() });
  const redrive = useRedriveAll();
  const confirm = (): void =>
    redrive.mutate(undefined, {
      onSuccess: (count) => {
        question.close();
        showToast(t("dead_letters.all_redriven", { count }));
      },
      onError: (error) => showToast(`${t("error.action")}: ${messageOf(error, t)}`),
    });
  return (
    <>
      <Button ref={button} onClick={question.open}>
        {t("dead_letters.redrive_all")}
      </Button>
      {isAsking && (
        <ConfirmDialog
          title={t("dead_letters.redrive_all")}
          cancel={t("app.cancel")}
          confirm={t("dead_letters.redrive_all")}
          isPending={redrive.isPending}
          onCancel={question.close}
          onConfirm={confirm}
        >
          <p>{t("dead_letters.question", { count: total })}</p>
          {redrive.progress !== undefined && <Progress {...redrive.progress} />}
        </ConfirmDialog>
      )}
    </>
  );
}

function Progress({ done, total }: { readonly done: number; readonly total: number }): ReactNode {
  const { t } = useTranslation();
  return (
    <p>
      <progress
        className={ownClasses.progress}
        max={total}
        value={done}
        aria-label={t("dead_letters.redrive_all")}
      />
      {t("dead_letters.progress", { done, total })}
    </p>
  );
}
