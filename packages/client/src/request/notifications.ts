import { callListener } from '@x/core'
import type { JsonObject, LoggingLevel, RpcNotification, RpcRequest } from '@x/schema'
import { severityOf } from '@x/schema/internal'
import type { CallOptions, LogMessage, Progress } from './call-options.ts'

/**
 * Passes a progress or log notification to the caller of its request; true for progress. Malformed ones are ignored.
 * `onFailure` receives what the caller's function throws or rejects with.
 */
export function dispatchNotification(
  message: RpcNotification,
  request: RpcRequest,
  { onProgress, onLog, onFailure }: CallOptions & { readonly onFailure: (error: unknown) => void },
): boolean {
  const { method, params } = message
  if (params === undefined) return false
  if (method === 'notifications/progress') {
    // A request's id is its progress token; progress of another call is ignored.
    if (params.progressToken !== request.id || typeof params.progress !== 'number') return false
    if (onProgress !== undefined) callListener(onProgress, toProgress(params, params.progress), onFailure)
    return true
  }
  if (method === 'notifications/message' && onLog) {
    const logMessage = toLogMessage(params)
    if (logMessage) callListener(onLog, logMessage, onFailure)
  }
  return false
}

function toProgress({ total, message }: JsonObject, progress: number): Progress {
  return {
    progress,
    ...(typeof total === 'number' && { total }),
    ...(typeof message === 'string' && { message }),
  }
}

function toLogMessage({ level, logger, data = null }: JsonObject): LogMessage | undefined {
  if (!isLoggingLevel(level)) return undefined
  return typeof logger === 'string' ? { level, logger, data } : { level, data }
}

function isLoggingLevel(value: unknown): value is LoggingLevel {
  return severityOf(value) !== -1
}
