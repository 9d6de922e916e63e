import type { ReactNode } from "react";
import { WorkflowView } from "./workflow-view.tsx";

/** A workflow that is not stored yet, with an example to start from. */
export const NewWorkflowPage = (): ReactNode => <WorkflowView workflow={undefined} />;
