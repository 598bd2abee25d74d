import { errorCodes, type InputResponses, isJsonObject, type JsonObject } from '@x/schema'
import type { InputRequired } from '../request/input-required.ts'
import { isClientError } from '../request/client-error.ts'

/**
 * Returns the params of a retry: those of the call, the answers to this round and its unchanged state. Answers of
 * earlier rounds are omitted (basic/patterns/mrtr, client requirements).
 */
export function retryParams(
  params: JsonObject,
  { state }: InputRequired,
  responses: InputResponses | undefined,
): JsonObject {
  return {
    ...params,
    // Types of the protocol are JSON, which their readonly interfaces cannot say.
    ...(responses && { inputResponses: responses as unknown as JsonObject }),
    ...(state !== undefined && { requestState: state }),
  }
}

/** Returns whether a retry failed because the server no longer accepts the state that it issued. */
export function isStateRefused(error: unknown, params: JsonObject): boolean {
  if (params.requestState === undefined || !isClientError(error) || error.rpc === undefined) return false
  const { code, message, data } = error.rpc
  if (code !== errorCodes.invalidParams) return false
  return (isJsonObject(data) && data.reason === 'requestState') || /\brequestState\b/.test(message)
}
