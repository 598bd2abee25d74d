import * as z from 'zod/mini'
import { uri } from '../basic/json.zod.ts'
import { requestMetaObject } from '../basic/meta.zod.ts'
import { requestValidator, responseValidator } from '../basic/rpc.zod.ts'
import { inputRequiredResult, inputResponseRequestParamsShape } from '../patterns/mrtr.zod.ts'
import { cacheableResultShape } from './caching.zod.ts'
import { pageShape, paginatedRequestParams } from './pagination.zod.ts'
import type {
  ListResourcesRequest,
  ListResourcesResult,
  ListResourcesResultResponse,
  ListResourceTemplatesRequest,
  ListResourceTemplatesResult,
  ListResourceTemplatesResultResponse,
  ReadResourceRequest,
  ReadResourceRequestParams,
  ReadResourceResult,
  ReadResourceResultResponse,
  ResourceRequestParams,
} from './resource-requests.ts'
import { blobResourceContents, resource, resourceTemplate, textResourceContents } from './resources.zod.ts'

/** Validates a {@link ListResourcesRequest}. */
export const listResourcesRequest: z.ZodMiniType<ListResourcesRequest> = requestValidator(
  'resources/list',
  paginatedRequestParams,
)

/** Validates a {@link ListResourcesResult}. */
export const listResourcesResult: z.ZodMiniType<ListResourcesResult> = z.looseObject({
  ...pageShape,
  resources: z.array(resource),
})

/** Validates a {@link ListResourcesResultResponse}. */
export const listResourcesResultResponse: z.ZodMiniType<ListResourcesResultResponse> =
  responseValidator(listResourcesResult)

/** Validates a {@link ListResourceTemplatesRequest}. */
export const listResourceTemplatesRequest: z.ZodMiniType<ListResourceTemplatesRequest> = requestValidator(
  'resources/templates/list',
  paginatedRequestParams,
)

/** Validates a {@link ListResourceTemplatesResult}. */
export const listResourceTemplatesResult: z.ZodMiniType<ListResourceTemplatesResult> = z.looseObject({
  ...pageShape,
  resourceTemplates: z.array(resourceTemplate),
})

/** Validates a {@link ListResourceTemplatesResultResponse}. */
export const listResourceTemplatesResultResponse: z.ZodMiniType<ListResourceTemplatesResultResponse> =
  responseValidator(listResourceTemplatesResult)

/** Validates a {@link ResourceRequestParams}. */
export const resourceRequestParams: z.ZodMiniType<ResourceRequestParams> = z.looseObject({
  _meta: requestMetaObject,
  uri,
})

/** Validates a {@link ReadResourceRequestParams}. */
export const readResourceRequestParams: z.ZodMiniType<ReadResourceRequestParams> = z.looseObject({
  ...inputResponseRequestParamsShape,
  uri,
})

/** Validates a {@link ReadResourceRequest}. */
export const readResourceRequest: z.ZodMiniType<ReadResourceRequest> = requestValidator(
  'resources/read',
  readResourceRequestParams,
)

/** Validates a {@link ReadResourceResult}. */
export const readResourceResult: z.ZodMiniType<ReadResourceResult> = z.looseObject({
  ...cacheableResultShape,
  contents: z.array(z.union([textResourceContents, blobResourceContents])),
})

/** Validates a {@link ReadResourceResultResponse}. */
export const readResourceResultResponse: z.ZodMiniType<ReadResourceResultResponse> = responseValidator(
  z.union([inputRequiredResult, readResourceResult]),
)
