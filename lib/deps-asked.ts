import type { Deps } from "./deps.ts";
import type { ContentAccess } from "./documents/content/text-access.ts";
import type { AnswerDocuments } from "./workflows/script-api/document-questions.ts";

/** What scripts ask of documents; only those who answer scripts carry it. */
export function documentAnswers(deps: Deps): AnswerDocuments {
  const texts = async (): Promise<ContentAccess> =>
    (await import("./documents/content/text-access.ts")).contentAsText(deps);
  const documentContent: ContentAccess = {
    read: async (id) => (await texts()).read(id),
    append: async (...how) => (await texts()).append(...how),
  };
  return async (question, by) => {
    const { handleDocumentCall: answerDocuments } = await import("./documents/script-api/handle-document-call.ts");
    return answerDocuments({ ...deps, documentContent }, question, by);
  };
}
