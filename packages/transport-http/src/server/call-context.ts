import { isLimitError, type Ledger } from '@x/core'
import {
  type AuthenticationContext,
  backPressureKey,
  type CallContext,
  callerKeyOf,
  type CallHeaders,
  callHeadersKey,
  canHandOffKey,
  clientAddressKey,
  type ContextKey,
  createCall,
  headerParamsKey,
  limitErrorToHttp,
  platformKey,
  type Principal,
  type Server,
  transportKey,
  withContext,
} from '@x/exchange'
import type { HeaderParams } from '@x/schema'
import { internalErrorResponse, type Reply, setReplyHeader } from './reply.ts'
import type { HandlerSettings } from './handler-settings.ts'
import type { ArrivingBody, RequestView, TakeUnreadBytes } from './http-adapter.ts'

export interface CallContextDeps {
  /** Undefined for a streaming call, which does not keep its request in memory. */
  readonly view: RequestView | undefined
  readonly getView: () => RequestView
  readonly clientAddress: () => string | undefined
}

/** Each value is created when it is read, because few calls read one. */
export class HttpCallContext implements CallContext {
  readonly #reply: Reply & { readonly isStreaming: boolean }
  readonly #deps: CallContextDeps

  constructor(reply: Reply & { readonly isStreaming: boolean }, deps: CallContextDeps) {
    this.#reply = reply
    this.#deps = deps
  }

  get<T>(key: ContextKey<T>): T | undefined {
    const readContextValue = readersByKey.get(key.id)
    // Each function in the table returns a value of its key's type, which the type of the table cannot express.
    return readContextValue === undefined ? undefined : (readContextValue(this.#reply, this.#deps) as T | undefined)
  }
}

type ReadValue = (reply: Reply & { readonly isStreaming: boolean }, deps: CallContextDeps) => unknown

const readersByKey = new Map<symbol, ReadValue>([
  [canHandOffKey.id, () => true],
  [headerParamsKey.id, (_reply, { view }) => view && createHeaderParams(view)],
  [callHeadersKey.id, (reply, { getView }) => createCallHeaders(getView(), reply)],
  [backPressureKey.id, (reply) => (reply.isStreaming ? () => reply.writer.waitForDrain(reply.target) : undefined)],
  [clientAddressKey.id, (_reply, { clientAddress }) => clientAddress()],
  [transportKey.id, () => 'http'],
  [platformKey.id, (_reply, { getView }) => getView().platform],
])

/** For a request that is not a call of this revision: the transport and the client's address. */
export function createClientContext(address: string | undefined): CallContext {
  // Not at module level, because Workers allow no AbortController there.
  const httpCall = withContext(createCall(), transportKey, 'http')
  return address === undefined ? httpCall.context : withContext(httpCall, clientAddressKey, address).context
}

/** For authentication. The caller key is computed when it is read, because few requests need it. */
export function createAuthenticationContext<Source>(
  view: RequestView<Source>,
  {
    server,
    settings,
  }: {
    readonly server: Pick<Server, 'ledger'>
    readonly settings: Pick<HandlerSettings<Source>, 'clientAddress' | 'reportAuthentication'>
  },
): AuthenticationContext {
  return {
    ledger: server.ledger,
    get callerKey() {
      return callerKeyOf({ principal: undefined, context: createClientContext(settings.clientAddress?.(view)) })
    },
    report: (error) => settings.reportAuthentication(error, view),
  }
}

const headerPrefix = 'mcp-'
const headerNamePattern = /^mcp-[!#$%&'*+.^_`|~0-9a-z-]+$/i
const visibleAsciiPattern = /^[\x21-\x7e]*$/

/**
 * Gives an exchange the `Mcp-*` headers of a request and no others. Until the answer has begun, it can also set such
 * headers there.
 */
function createCallHeaders(view: RequestView, reply: Reply): CallHeaders {
  return {
    get(name) {
      const lowerCaseName = name.toLowerCase()
      return lowerCaseName.startsWith(headerPrefix) ? view.header(lowerCaseName) : undefined
    },
    forEach(visit) {
      view.forEachHeader((value, name) => {
        if (name.startsWith(headerPrefix)) visit(value, name)
      })
    },
    setResponseHeader(name, value) {
      if (!headerNamePattern.test(name))
        throw new TypeError(
          `${JSON.stringify(name)} is not a header that an exchange may write: begin its name with Mcp-`,
        )
      if (!visibleAsciiPattern.test(value))
        throw new TypeError(`The value for the header ${name} must be visible ASCII`)
      setReplyHeader(reply, name, value)
    },
  }
}

const paramHeaderPrefix = 'mcp-param-'

function createHeaderParams(view: RequestView): HeaderParams {
  return {
    get: (name) => view.header(paramHeaderPrefix + name.toLowerCase()),
    forEach(visit) {
      view.forEachHeader((value, name) => {
        if (name.startsWith(paramHeaderPrefix)) visit(value, name.slice(paramHeaderPrefix.length))
      })
    },
  }
}

/** Who sent a request; the ledger counts the bytes that the server keeps for them. */
export interface RequestCaller<Source> {
  readonly principal: Principal | undefined
  readonly view: RequestView<Source>
  readonly settings: HandlerSettings<Source>
}

function callerKeyOfRequest<Source>({ principal, view, settings }: RequestCaller<Source>): string {
  return callerKeyOf({ principal, context: createClientContext(settings.clientAddress?.(view)) })
}

/** Counts one body in `arriving_bytes` of the ledger. */
export function createArrivingBody<Source>(
  ledger: Ledger,
  caller: RequestCaller<Source>,
  maxBytes: number,
): ArrivingBody {
  const releases: (() => void)[] = []
  let countedBytes = 0
  return {
    maxBytes,
    grow(receivedBytes) {
      if (receivedBytes <= countedBytes) return undefined
      // Each step doubles the counted bytes, so that a body in tiny chunks causes few entries in the ledger.
      const nextBytes = Math.max(receivedBytes, Math.min(2 * countedBytes, maxBytes))
      try {
        releases.push(ledger.take('arriving_bytes', callerKeyOfRequest(caller), nextBytes - countedBytes))
      } catch (error) {
        if (isLimitError(error)) return limitErrorToHttp(error)
        // `clientAddress` is the application's, and may throw. Bytes arrive in events of the socket, where no caller
        // catches it.
        caller.settings.onError(error, caller.view)
        return internalErrorResponse
      }
      countedBytes = nextBytes
      return undefined
    },
    release() {
      for (const release of releases.splice(0)) release()
    },
  }
}

/** Counts one answer's unread bytes. */
export function createUnreadCounter<Source>(ledger: Ledger, caller: RequestCaller<Source>): TakeUnreadBytes {
  return (bytes) => {
    try {
      return ledger.take('unread_bytes', callerKeyOfRequest(caller), bytes)
    } catch (error) {
      if (!isLimitError(error)) {
        caller.settings.onError(error, caller.view)
        return undefined
      }
      const { scope, max } = error
      const owner = scope === 'caller' ? 'its caller has' : 'all callers have'
      const reason = `A connection was closed before its answer was read: ${owner} ${max} bytes of unread answers`
      caller.settings.reportRejection(reason, caller.view)
      return undefined
    }
  }
}
