import {
  type Call,
  cancelReason,
  errorCodes,
  type Exchange,
  isCancelled,
  type JsonObject,
  McpError,
  metaKeys,
  offAbort,
  protocolVersion,
  type RequestMetaObject,
  type RpcRequest,
  type RpcResponse,
  requestMeta,
} from '@x/schema'
import { answerError } from './request/answer-error.ts'
import { isPromiseLike } from './request/awaitable.ts'
import type { Catalog } from './catalog.ts'
import { compile, infoOf } from './compile.ts'
import { findMethod, type ServedMethod } from './methods.ts'
import { localOnly } from './random-key.ts'
import { quote, report, type Scope, type Settings } from './request/scope.ts'
import type { Server, ServerDefinition, ServerOffers } from './server-definition.ts'
import { settingsOf } from './settings.ts'
import { showLoad } from './shedding/server-load.ts'
import { type ListKind, lists, resourceTopic } from './subscriptions/topics.ts'

/** The revisions that are served, newest first. */
const supported = [protocolVersion]

/**
 * Makes a server of its definitions. Everything about them is checked and compiled here, once; a request allocates its
 * context and little else. Throws {@link DefinitionError}, which names what cannot be served and why.
 *
 * The server keeps nothing of a request: any number of connections and callers may share one.
 *
 * @example
 * const server = createServer({ name: 'demo', version: '1.0.0', tools: [greet] })
 */
export function createServer(definition: ServerDefinition): Server {
  const settings = settingsOf(definition)
  const { subscriptions } = settings
  let offered = definition
  const present: Present = { catalog: compile(offered), settings }

  function update(offers: ServerOffers): void {
    const next = {
      ...offered,
      tools: offers.tools ?? offered.tools,
      prompts: offers.prompts ?? offered.prompts,
      resources: offers.resources ?? offered.resources,
      resourceTemplates: offers.resourceTemplates ?? offered.resourceTemplates,
    }
    present.catalog = compile(next)
    offered = next
    for (const kind of kindsOf(offers)) void announce(kind)
  }

  async function announce(kind: ListKind): Promise<void> {
    try {
      await subscriptions.publish(kind)
    } catch (error) {
      report(error, { method: `notifications/${kind}/list_changed` }, settings)
    }
  }

  const only = definition.state === undefined ? localOnly : undefined
  return Object.assign(showLoad(exchangeOf(present), settings.gauge), {
    info: Object.freeze(infoOf(definition)),
    localOnly: only,
    update,
    changed: (kind: ListKind) => subscriptions.publish(kind),
    updated: (uri: string) => subscriptions.publish(resourceTopic(uri)),
  })
}

/** What requests find. */
interface Present {
  /** An update puts another one here. */
  catalog: Catalog
  readonly settings: Settings
}

function exchangeOf(present: Present): Exchange {
  function exchange(request: RpcRequest, call: Call): Promise<RpcResponse> {
    const method = findMethod(request.method)
    return method?.streams === true ? last(method, request, call) : serve(method, request, call)
  }

  async function serve(method: ServedMethod | undefined, request: RpcRequest, call: Call): Promise<RpcResponse> {
    let scope: Scope | undefined
    try {
      const { handle } = requireServed(method, request.method, present)
      scope = openScope(request, call, present)
      const pending = handle(request.params, scope)
      const result = isPromiseLike(pending) ? await pending : pending
      return { jsonrpc: '2.0', id: request.id, result }
    } catch (error) {
      // What a handler throws because it was told to stop is no fault of its own, and nobody waits for an answer.
      if (call.signal.aborted) throw call.signal.reason
      return answerError(error, request, present.settings)
    } finally {
      if (scope !== undefined) close(scope)
    }
  }

  // There may be thousands of responses that last: they keep neither their requests nor the definitions that they began with, and
  // no function stands still for them.
  function last(served: ServedMethod, request: RpcRequest, call: Call): Promise<RpcResponse> {
    const { id } = request
    // The row's name: the text of the request would stay with each.
    const method = served.name
    const refuse = (error: unknown): RpcResponse => {
      if (isCancelled(call)) throw cancelReason(call)
      return answerError(error, { jsonrpc: '2.0', id, method }, present.settings)
    }
    return begin(served, request, call).then((result) => ({ jsonrpc: '2.0', id, result }), refuse)
  }

  function begin(method: ServedMethod, request: RpcRequest, call: Call): Promise<JsonObject> {
    try {
      const { handle } = requireServed(method, request.method, present)
      return Promise.resolve(handle(request.params, openScope(request, call, present)))
    } catch (error) {
      return Promise.reject(error)
    }
  }

  return exchange
}

/** Nothing may be sent about an answered request, and nothing of it may stay with a signal that lives on. */
function close(scope: Scope): void {
  scope.open = false
  for (const follow of scope.followers ?? []) offAbort(scope.call.signal, follow)
}

function openScope(request: RpcRequest, call: Call, { catalog, settings }: Present): Scope {
  const { id, method, params = {} } = request
  return { id, method, params, call, meta: admit(request), catalog, settings, open: true, followers: undefined }
}

/**
 * What serves a method, if this server has what the method is about. Every refusal names the revisions that are served,
 * because for a client of an earlier one the message may be all it can show (basic/versioning, compatibility).
 */
function requireServed(method: ServedMethod | undefined, name: string, present: Present): ServedMethod {
  const lack = method && lackOf(method, present)
  if (method !== undefined && lack === undefined) return method
  const reason = lack === undefined ? '' : `, because the server has no ${lack}`
  const versions = supported.join(', ')
  const message = `Method ${quote(name)} is not served here${reason}; the server speaks revision ${versions}`
  throw new McpError(errorCodes.methodNotFound, message, { data: { supported } })
}

/** What a server would need to serve a method, and does not have. */
function lackOf({ capability, streams }: ServedMethod, { catalog, settings }: Present): string | undefined {
  if (capability !== undefined && catalog.capabilities[capability] === undefined) return capability
  return streams === true && !settings.subscriptions.served ? 'subscriptions' : undefined
}

/** The lists that an update replaces. Templates are told of with resources: the protocol has one notification for both. */
function kindsOf({ tools, prompts, resources, resourceTemplates }: ServerOffers): readonly ListKind[] {
  const given = { tools, prompts, resources: resources ?? resourceTemplates }
  return lists.map(({ kind }) => kind).filter((kind) => given[kind] !== undefined)
}

/** The request's own description of itself, of a revision that is served (basic/versioning, negotiation). */
function admit({ params }: RpcRequest): RequestMetaObject {
  const meta = requestMeta(params)
  const requested = meta[metaKeys.protocolVersion]
  if (requested === protocolVersion) return meta
  const message = `Unsupported protocol version: this server speaks ${supported.join(', ')}`
  throw new McpError(errorCodes.unsupportedProtocolVersion, message, { data: { supported, requested } })
}
