import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import type { DocumentAccess } from "#lib/documents/authorization/document-access.ts";
import {
  fileTooLarge,
  importFile,
  type ReceivedFile,
  receiveFile,
} from "#lib/documents/imports/import-file.ts";
import { importRecord, toImportRecord } from "#lib/documents/imports/import-record.ts";
import { fileError } from "#lib/documents/media/quotas.ts";
import { type CreateBody, createBody } from "#lib/documents/records/body.ts";
import { createDocument } from "#lib/documents/records/create.ts";
import { documentRecord, toDocument } from "#lib/documents/records/record.ts";
import { requireUser } from "#lib/documents/requests/viewer.ts";
import { documentsService } from "#lib/documents/service.ts";
import type { StoredUser } from "#lib/documents/tables/users.ts";
import { toHandler } from "#lib/http/handler.ts";
import { FileTooLargeError, NotAFileError, readFormFile } from "#lib/http/multipart.ts";
import { checkBody } from "#lib/http/request.ts";
import { HttpResponse } from "#lib/http/response.ts";
import { defineRoute, type MultipartBody } from "#lib/http/route.ts";

/** A larger file is refused before its form is read, whatever CONVERSION_FILE_MAX_SIZE is. */
const BODY_MAX_BYTES = 1024 * 1024 * 1024;
const FIELDS: readonly string[] = ["id", "title", "excerpt"];

/** What requests that create a document have in common: JSON, or a form with a file to import. */
export const creation = {
  body: createBody as z.ZodType<CreateBody | MultipartBody>,
  bodyKind: "json or multipart",
  bodySchema: createBody.extend({
    file: z
      .string()
      .meta({ format: "binary" })
      .optional()
      .describe("A file to import; its name is the title"),
  }),
  bodyLimitBytes: BODY_MAX_BYTES,
  memoryMb: 1024,
  status: 201,
  response: documentRecord.extend({
    skipped: z.array(z.string()).optional().describe("What an imported file contains that was not imported"),
  }),
  accepted: importRecord,
} as const;

export type Creation = z.infer<typeof creation.response>;

/**
 * Creates a document from JSON or the fields of a form, or imports the file of a form. Responds 202 if a job imports it.
 * Reference 5.3.
 */
export async function createOrImport(
  deps: Deps,
  user: StoredUser,
  body: CreateBody | MultipartBody,
  parent: string | null,
  create: (body: CreateBody) => Promise<DocumentAccess>,
): Promise<Creation | HttpResponse> {
  if (!("chunks" in body)) return toDocument(await create(body));
  const { file, fields } = await readForm(deps, body);
  const checked = checkBody(documentsService, createBody, fields);
  if (file === undefined) return toDocument(await create(checked));
  const imported = await importFile(deps, user, file, { parent, id: checked.id });
  if ("job" in imported) return new HttpResponse(toImportRecord(imported.job), { status: 202 });
  const { document, skipped } = imported;
  return { ...toDocument(document), ...(skipped.length > 0 ? { skipped: [...skipped] } : {}) };
}

async function readForm(
  deps: Deps,
  body: MultipartBody,
): Promise<{ readonly file: ReceivedFile | undefined; readonly fields: Record<string, string> }> {
  const maxBytes = deps.documents.clientSettings.CONVERSION_FILE_MAX_SIZE;
  const fields: Record<string, string> = {};
  const onText = (name: string, value: string): void => {
    if (FIELDS.includes(name)) fields[name] = value;
  };
  try {
    const file = await readFormFile(body, { field: "file", maxBytes, onText }, (sent) =>
      receiveFile(deps, sent),
    );
    return { file, fields };
  } catch (error) {
    if (error instanceof FileTooLargeError) throw fileTooLarge(maxBytes);
    if (error instanceof NotAFileError)
      throw fileError("The submitted data was not a file. Check the encoding type on the form.");
    throw error;
  }
}

/** Reference 1.2, POST documents/. Choice: infra/decisions/0124. */
export const route = defineRoute({
  service: documentsService,
  operationId: "createDocument",
  method: "POST",
  path: "/documents",
  summary: "Create a document owned by the caller, or import it from a file",
  tag: "Documents",
  auth: "required",
  throttle: "document",
  ...creation,
  run: async ({ body, request }, deps: Deps) => {
    const user = await requireUser(deps, request);
    return createOrImport(deps, user, body, null, (checked) => createDocument(deps, user, checked));
  },
});

export const handler = toHandler(route, openDeps);
