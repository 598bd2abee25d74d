import * as z from 'zod/mini'
import { cancelledNotification } from '../patterns/cancellation.zod.ts'
import { subscriptionsListenRequest } from '../patterns/subscriptions.zod.ts'
import { completeRequest } from '../server/completion.zod.ts'
import { discoverRequest } from '../server/discover.zod.ts'
import { getPromptRequest, listPromptsRequest } from '../server/prompts.zod.ts'
import {
  listResourcesRequest,
  listResourceTemplatesRequest,
  readResourceRequest,
} from '../server/resource-requests.zod.ts'
import { callToolRequest, listToolsRequest } from '../server/tool-requests.zod.ts'
import type { ClientNotification, ClientRequest, ClientResult } from './client-messages.ts'
import { result } from './result.zod.ts'

/** Validates a {@link ClientRequest}. */
export const clientRequest: z.ZodMiniType<ClientRequest> = z.union([
  discoverRequest,
  listResourcesRequest,
  listResourceTemplatesRequest,
  readResourceRequest,
  subscriptionsListenRequest,
  listPromptsRequest,
  getPromptRequest,
  listToolsRequest,
  callToolRequest,
  completeRequest,
])

/** Validates a {@link ClientNotification}. */
export const clientNotification: z.ZodMiniType<ClientNotification> = cancelledNotification

/** Validates a {@link ClientResult}. */
export const clientResult: z.ZodMiniType<ClientResult> = result
