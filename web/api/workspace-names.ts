import { useQuery } from "@tanstack/react-query";
import { dataOf } from "../../client/api.ts";
import { api } from "./client.ts";

/** The names of all workspaces; empty until they are known. */
export function useWorkspaceNames(): readonly string[] {
  const names = useQuery({
    queryKey: ["workspace-names"],
    queryFn: ({ signal }) => dataOf(api.GET("/automation/workspace-names", { signal })),
  });
  return names.data?.data ?? [];
}
