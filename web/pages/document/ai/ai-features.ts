import { useQuery } from "@tanstack/react-query";
import { dataOf } from "../../../../client/api.ts";
import { api } from "../../../api/client.ts";
import type { Document } from "../../../api/documents.ts";

export interface AiFeatures {
  /** Whether the fixed actions are offered. */
  readonly canTransform: boolean;
  readonly canTranslate: boolean;
  /** Whether free requests are answered, as a stream. */
  readonly canAsk: boolean;
}

/** What the installation offers, and the user may use, in a document. */
export function useAiFeatures({ abilities }: Document): AiFeatures {
  const { data } = useQuery({
    queryKey: ["config"],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: ({ signal }) => dataOf(api.GET("/api/v1.0/config", { signal })),
  });
  const isEnabled = data?.AI_FEATURE_ENABLED === true;
  const hasActions = isEnabled && data.AI_FEATURE_LEGACY_ENABLED;
  return {
    canTransform: hasActions && abilities.ai_transform,
    canTranslate: hasActions && abilities.ai_translate,
    canAsk: isEnabled && data.AI_FEATURE_BLOCKNOTE_ENABLED && abilities.ai_proxy,
  };
}
