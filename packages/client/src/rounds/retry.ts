import { errorCodes, type InputResponses, isJsonObject, type JsonObject } from '@x/schema'
import type { Asked } from './asked.ts'
import { isClientError } from '../client-error.ts'

/**
 * The params of a retry: those of the call, the answers to this round and its state exactly as it came; what an earlier
 * round brought is left behind (basic/patterns/mrtr, client requirements).
 */
export function retryParams(params: JsonObject, { state }: Asked, responses: InputResponses | undefined): JsonObject {
  return {
    ...params,
    // Types of the protocol are JSON, which their readonly interfaces cannot say.
    ...(responses && { inputResponses: responses as unknown as JsonObject }),
    ...(state !== undefined && { requestState: state }),
  }
}

/** Whether a retry failed because the server no longer takes the state that it gave out. */
export function isStateRefused(error: unknown, params: JsonObject): boolean {
  if (params.requestState === undefined || !isClientError(error) || error.rpc === undefined) return false
  const { code, message, data } = error.rpc
  if (code !== errorCodes.invalidParams) return false
  return (isJsonObject(data) && data.reason === 'requestState') || /\brequestState\b/.test(message)
}
