import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { dataOf } from "../../../client/api.ts";
import { api } from "../../api/client.ts";
import { refusalOf } from "../../api/failures.ts";
import { workflowNameOf } from "../../api/workflows.ts";
import { ErrorState } from "../../components/error-state.tsx";
import pageClasses from "../../components/page.module.css";
import { StatusPage } from "../../shell/status-page.tsx";
import { WorkflowView } from "./workflow-view.tsx";

/** One workflow: its source next to its steps, the form that runs it, and its triggers. */
export function WorkflowPage({ name: part }: { readonly name: string }): ReactNode {
  const name = workflowNameOf(part);
  const workflow = useQuery({
    queryKey: ["workflow", name],
    queryFn: ({ signal }) =>
      dataOf(api.GET("/automation/workflows/{name}", { params: { path: { name } }, signal })),
    // The editor has a copy from here on; saving finds out whether it is the newest.
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const { error } = workflow;
  const refusal = refusalOf(error);
  if (refusal !== undefined) return <StatusPage kind={refusal} />;
  if (workflow.isPending) return null;
  if (workflow.data === undefined)
    return (
      <div className={pageClasses.page}>
        <ErrorState error={error} onRetry={() => void workflow.refetch()} />
      </div>
    );
  return <WorkflowView workflow={workflow.data.data} onSaved={() => void workflow.refetch()} />;
}
