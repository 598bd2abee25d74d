import {
  backPressureKey,
  type CallContext,
  type CallHeaders,
  callHeadersKey,
  canHandOffKey,
  clientAddressKey,
  type ContextKey,
  createCall,
  type HeaderParams,
  headerParamsKey,
  transportKey,
  withContext,
} from '@x/schema'
import { type Reply, setReplyHeader } from './reply.ts'
import type { RequestView } from './request-view.ts'

/** The parts of a request that its call's context is made of. */
export interface ContextParts {
  /** The request; undefined for a call that lasts. */
  readonly view: RequestView | undefined
  readonly viewOf: () => RequestView
  readonly clientAddress: () => string | undefined
}

/** A call's context over HTTP. Its values are made when they are asked for, since hardly any call is asked for one. */
export function callContext(reply: Reply & { readonly streams: boolean }, parts: ContextParts): CallContext {
  return new HttpCallContext(reply, parts)
}

class HttpCallContext implements CallContext {
  readonly #reply: Reply & { readonly streams: boolean }
  readonly #parts: ContextParts

  constructor(reply: Reply & { readonly streams: boolean }, parts: ContextParts) {
    this.#reply = reply
    this.#parts = parts
  }

  get<T>(key: ContextKey<T>): T | undefined {
    const read = values.get(key.id)
    // The table has a value of its type for each key.
    return read === undefined ? undefined : (read(this.#reply, this.#parts) as T | undefined)
  }
}

type ReadValue = (reply: Reply & { readonly streams: boolean }, parts: ContextParts) => unknown

const values = new Map<symbol, ReadValue>([
  [canHandOffKey.id, () => true],
  [headerParamsKey.id, (_reply, { view }) => view && headerParams(view)],
  [callHeadersKey.id, (reply, { viewOf }) => callHeaders(viewOf(), reply)],
  [backPressureKey.id, (reply) => (reply.streams ? () => reply.writer.drained(reply.target) : undefined)],
  [clientAddressKey.id, (_reply, { clientAddress }) => clientAddress()],
  [transportKey.id, () => 'http'],
])

/** The context of a request that is no call of this revision: the transport and the client's address. */
export function clientContext(address: string | undefined): CallContext {
  const call = withContext(createCall(), transportKey, 'http')
  return address === undefined ? call.context : withContext(call, clientAddressKey, address).context
}

const prefix = 'mcp-'
const nameForm = /^mcp-[!#$%&'*+.^_`|~0-9a-z-]+$/i
const visible = /^[\x21-\x7e]*$/

/** The `Mcp-*` headers of a request and, as long as its answer has not begun, of that; all others are no business of an exchange. */
function callHeaders(view: RequestView, reply: Reply): CallHeaders {
  return {
    get(name) {
      const lower = name.toLowerCase()
      return lower.startsWith(prefix) ? view.header(lower) : undefined
    },
    forEach(visit) {
      view.forEachHeader((value, name) => {
        if (name.startsWith(prefix)) visit(value, name)
      })
    },
    answer(name, value) {
      if (!nameForm.test(name))
        throw new TypeError(`${JSON.stringify(name)} is no header for an exchange: begin its name with Mcp-`)
      if (!visible.test(value)) throw new TypeError(`The value for the header ${name} must be visible ASCII`)
      setReplyHeader(reply, name, value)
    },
  }
}

const paramPrefix = 'mcp-param-'

/** The `Mcp-Param-*` headers of a request by the rest of their names, still encoded; read when they are asked for. */
function headerParams(view: RequestView): HeaderParams {
  return {
    get: (name) => view.header(paramPrefix + name.toLowerCase()),
    forEach(visit) {
      view.forEachHeader((value, name) => {
        if (name.startsWith(paramPrefix)) visit(value, name.slice(paramPrefix.length))
      })
    },
  }
}
