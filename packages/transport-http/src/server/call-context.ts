import {
  backPressureKey,
  type CallContext,
  type CallHeaders,
  callHeadersKey,
  callerKeyOf,
  canHandOffKey,
  clientAddressKey,
  type ContextKey,
  createCall,
  type HeaderParams,
  headerParamsKey,
  type Server,
  transportKey,
  withContext,
} from '@x/schema'
import { type Reply, setReplyHeader } from './reply.ts'
import type { AuthenticationContext } from './auth.ts'
import type { HandlerSettings } from './handler-settings.ts'
import type { RequestView } from './http-adapter.ts'

/** The parts of a request that its call's context is made of. */
export interface CallContextDeps {
  /** The request, undefined for a call that streams until one side ends it. */
  readonly view: RequestView | undefined
  readonly getView: () => RequestView
  readonly clientAddress: () => string | undefined
}

/** Creates the context of a call over HTTP. Its values are created on demand, because few calls need one. */
export function createHttpCallContext(
  reply: Reply & { readonly isStreaming: boolean },
  deps: CallContextDeps,
): CallContext {
  return new HttpCallContext(reply, deps)
}

class HttpCallContext implements CallContext {
  readonly #reply: Reply & { readonly isStreaming: boolean }
  readonly #deps: CallContextDeps

  constructor(reply: Reply & { readonly isStreaming: boolean }, deps: CallContextDeps) {
    this.#reply = reply
    this.#deps = deps
  }

  get<T>(key: ContextKey<T>): T | undefined {
    const readContextValue = readersByKey.get(key.id)
    // The reader of each key in the table returns a value of the key's type, which the table cannot express.
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
])

/** Returns the context of a request without a call of this revision: its transport and the address of the client. */
export function createClientContext(address: string | undefined): CallContext {
  const call = withContext(createCall(), transportKey, 'http')
  return address === undefined ? call.context : withContext(call, clientAddressKey, address).context
}

/** Returns the context of the authentication of a request. The key is computed on demand: few requests need it. */
export function createAuthenticationContext<Source>(
  view: RequestView<Source>,
  {
    server,
    settings,
  }: {
    readonly server: Pick<Server, 'ledger'>
    readonly settings: Pick<HandlerSettings<Source>, 'clientAddress' | 'onError'>
  },
): AuthenticationContext {
  return {
    ledger: server.ledger,
    get callerKey() {
      return callerKeyOf({ principal: undefined, context: createClientContext(settings.clientAddress?.(view)) })
    },
    report: (error) => settings.onError(error, view),
  }
}

const headerPrefix = 'mcp-'
const headerNamePattern = /^mcp-[!#$%&'*+.^_`|~0-9a-z-]+$/i
const visibleAsciiPattern = /^[\x21-\x7e]*$/

/**
 * Returns the `Mcp-*` headers of a request, and sets those of its answer until the answer begins. An exchange has no
 * access to other headers.
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
        throw new TypeError(`${JSON.stringify(name)} is no header for an exchange: begin its name with Mcp-`)
      if (!visibleAsciiPattern.test(value))
        throw new TypeError(`The value for the header ${name} must be visible ASCII`)
      setReplyHeader(reply, name, value)
    },
  }
}

const paramHeaderPrefix = 'mcp-param-'

/** Returns the `Mcp-Param-*` headers of a request by the rest of their names, still encoded. Each is read on demand. */
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
