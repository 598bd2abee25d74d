import type { Attributes } from '@opentelemetry/api'
import {
  type Call,
  type OfferedTarget,
  type OlderRequest,
  olderRequestKey,
  type RunEndKind,
  taskAttemptKey,
  transportKey,
} from '@x/exchange'
import { findMethodRow, isJsonObject, type JsonObject, metaKeys, protocolVersion, type RpcRequest } from '@x/schema'
import { conventions, createKnownNames, type KnownNames, namedTargetOf } from '@x/exchange/internal'

/** Name and attributes that all spans and metrics of a method, a name and a transport share. */
export interface RequestTarget {
  readonly spanName: string
  readonly attributes: Attributes
  /** Tool or prompt alone, for metrics about runs. */
  readonly nameAttributes: Attributes
  /** True for a method whose response is a stream of notifications. */
  readonly isStreaming: boolean
  /** For ended runs: `nameAttributes` and the end. */
  readonly runAttributes: Map<RunEndKind, Attributes>
  /** For ended requests, by outcome. */
  readonly outcomes: Map<string, OutcomeAttributes>
}

/** Attributes of an ended request. */
export interface OutcomeAttributes {
  /** For the metric. */
  readonly all: Attributes
  /** What the request's span did not get at its start. */
  readonly added: Attributes
}

/**
 * The targets that requests to one server can have. Names come from `offers`, or from results, so callers cannot add to
 * them.
 */
export class RequestTargets {
  readonly #offers: (request: RpcRequest) => OfferedTarget | undefined
  // Bounded by the names that the server has, by transport and version.
  readonly #targets = new Map<string, RequestTarget>()
  readonly #knownNames = createKnownNames()

  constructor(offers: (request: RpcRequest) => OfferedTarget | undefined) {
    this.#offers = offers
  }

  /**
   * One object for the same method, name, transport and upstream. `call` is the call as the transport received it, and
   * undefined for a request to an upstream.
   */
  find(request: RpcRequest, call: Call | undefined, upstream?: string): RequestTarget {
    const { method: servedMethod = conventions.otherMethod, name = findName(request, this.#knownNames) } =
      this.#offers(request) ?? {}
    const { revision, method = servedMethod } = call === undefined ? {} : olderRequestOf(request, call)
    const transport = call?.context.get(transportKey)
    const key = [method, transport, revision, upstream, name].join(' ')
    let target = this.#targets.get(key)
    if (target === undefined) {
      target = createTarget({ method, name, transport, revision, upstream })
      this.#targets.set(key, target)
    }
    return target
  }

  /** Learns names from a result, for a server that passes requests on and does not know the tools behind it. */
  learn({ method, params }: RpcRequest, result: JsonObject): void {
    this.#knownNames.learn(method, namedTargetOf(method, params), result)
  }
}

function findName({ method, params }: RpcRequest, knownNames: KnownNames): string | undefined {
  const named = namedTargetOf(method, params)
  return knownNames.has(named) ? named.name : undefined
}

const transportAttributes = {
  http: { [conventions.attributes.transport]: 'tcp', [conventions.attributes.protocol]: 'http' },
  stdio: { [conventions.attributes.transport]: 'pipe' },
} as const

/**
 * Which revision a client negotiated, and an older client's method if the request has another one. An attempt of a task
 * is no client's request and has no revision.
 */
function olderRequestOf(request: RpcRequest, { context }: Call): Partial<OlderRequest> {
  if (context.get(taskAttemptKey) !== undefined) return {}
  const older = context.get(olderRequestKey)
  if (older !== undefined) return older
  // Checked later; a request whose `_meta` is invalid has a span, too.
  const meta = request.params?.['_meta']
  const isServed = isJsonObject(meta) && meta[metaKeys.protocolVersion] === protocolVersion
  return isServed ? { revision: protocolVersion } : {}
}

function createTarget({
  method,
  name,
  transport,
  revision,
  upstream,
}: {
  readonly method: string
  readonly name: string | undefined
  readonly transport: keyof typeof transportAttributes | undefined
  readonly revision: string | undefined
  readonly upstream: string | undefined
}): RequestTarget {
  const row = findMethodRow(method)
  const isTool = row?.targetParam === 'name' && row.capability === 'tools'
  const nameAttributes =
    name === undefined ? {} : { [isTool ? conventions.attributes.tool : conventions.attributes.prompt]: name }
  return {
    spanName: name === undefined ? method : `${method} ${name}`,
    attributes: Object.freeze({
      [conventions.attributes.method]: method,
      ...nameAttributes,
      ...(isTool && { [conventions.attributes.operation]: 'execute_tool' }),
      ...defined(conventions.attributes.protocolVersion, revision),
      ...defined(conventions.attributes.upstream, upstream),
      ...(transport !== undefined && transportAttributes[transport]),
    }),
    nameAttributes: Object.freeze(nameAttributes),
    isStreaming: row?.isStreaming === true,
    // Bounded by the six ends of a run, and by `maxStoredOutcomes`.
    runAttributes: new Map(),
    outcomes: new Map(),
  }
}

function defined(attribute: string, value: string | undefined): Attributes {
  return value === undefined ? {} : { [attribute]: value }
}
