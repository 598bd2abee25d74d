import { isLimitError, type Ledger } from '@x/core'
import { callerKeyOf, type Principal } from '@x/schema'
import { createClientContext } from './call-context.ts'
import type { HandlerSettings } from './handler-settings.ts'
import type { ArrivingBody, RequestView, TakeUnreadBytes } from './http-adapter.ts'
import { limitErrorResponse } from './reply.ts'

/** The caller of a request, for whom the ledger counts bytes. */
export interface RequestCaller<Source> {
  readonly principal: Principal | undefined
  readonly view: RequestView<Source>
  readonly settings: HandlerSettings<Source>
}

function callerKeyOfRequest<Source>({ principal, view, settings }: RequestCaller<Source>): string {
  return callerKeyOf({ principal, context: createClientContext(settings.clientAddress?.(view)) })
}

/** Creates the counter for the bytes of one body. It takes them from `arriving_bytes` of the ledger. */
export function createArrivingBody<Source>(
  ledger: Ledger,
  caller: RequestCaller<Source>,
  maxBytes: number,
): ArrivingBody {
  const releases: (() => void)[] = []
  let countedBytes = 0
  return {
    grow(receivedBytes) {
      if (receivedBytes <= countedBytes) return undefined
      // Each step doubles the counted bytes, so that a body in tiny chunks causes few entries in the ledger.
      const nextBytes = Math.max(receivedBytes, Math.min(2 * countedBytes, maxBytes))
      try {
        releases.push(ledger.take('arriving_bytes', callerKeyOfRequest(caller), nextBytes - countedBytes))
      } catch (error) {
        if (isLimitError(error)) return limitErrorResponse(error)
        throw error
      }
      countedBytes = nextBytes
      return undefined
    },
    release() {
      for (const release of releases.splice(0)) release()
    },
  }
}

/** Creates the counter for the unread bytes of one answer. */
export function createUnreadCounter<Source>(ledger: Ledger, caller: RequestCaller<Source>): TakeUnreadBytes {
  return (bytes) => {
    try {
      return ledger.take('unread_bytes', callerKeyOfRequest(caller), bytes)
    } catch (error) {
      if (!isLimitError(error)) throw error
      const { scope, max } = error
      const owner = scope === 'caller' ? 'its caller has' : 'all callers have'
      const reason = `A connection was closed before its answer was read: ${owner} ${max} bytes of unread answers`
      caller.settings.reportRejection(reason, caller.view)
      return undefined
    }
  }
}
