import { createLedger, createLog, objectWith, type OptionTable, resolveOptions, runtimeOf } from '@x/core'
import {
  type ObservableState,
  type SearchedServer,
  type Server,
  serverOf,
  type ToolSearch,
  withContext,
} from '@x/exchange'
import { searchListKey } from '@x/exchange/internal'
import { randomKey, sealedState, type StateCodec } from '@x/state-codec'
import { findUpstreamNameProblem } from '../names/names.ts'
import { GatewayState } from '../names/state.ts'
import { Upstream } from '../upstream/upstream.ts'
import type { GatewayUpstream } from '../upstream/upstream-options.ts'
import { findListedTool } from './routes.ts'
import type { GatewayParts } from './host-request.ts'
import { type ProxyOptions, proxyOptionTable } from './proxy.ts'
import { serveHost } from './serve-host.ts'

/** A gateway's own name and version, and what a proxy has too. */
export interface GatewayOptions extends Omit<ProxyOptions, 'state'> {
  /**
   * Upstreams by name. A name has at most 32 lower-case letters, digits and single hyphens, and begins with a letter.
   * Hosts see it in the names of tools and prompts, and in URIs.
   */
  readonly upstreams: Readonly<Record<string, GatewayUpstream>>
  /**
   * Seals states, cursors and ids of tasks. Every instance needs the same keys, and so does a process that continues
   * the questions of an earlier one. Default: a random key, for a gateway in the process of its host.
   */
  readonly state?: StateCodec | undefined
  /**
   * Replaces a long list of tools by a search: `toolSearch()` of `@x/gateway/tool-search`. Default: hosts receive the
   * whole list.
   */
  readonly toolSearch?: ToolSearch | undefined
}

/** A server in front of several others. */
export interface Gateway extends Server {
  /**
   * The states of the upstreams, by name, as this instance sees them. One in this process is always open. One that is
   * frozen is `restarting` after three requests in a row, and a probe, without an answer. None is `closed` before the
   * gateway is, because it starts a program again that has ended too often.
   */
  readonly upstreams: ReadonlyMap<string, ObservableState>
}

const noStateReason = 'the gateway has no `state`, and seals with a random key: give it one of sealedState'

const gatewayOptionTable = {
  ...proxyOptionTable,
  upstreams: undefined,
  toolSearch: { type: objectWith(['start'], 'the result of toolSearch() of @x/gateway/tool-search') },
} satisfies OptionTable<GatewayOptions>

/**
 * Puts one server in front of several others, over any transports and of any revisions. Any instance with the same
 * upstreams and keys serves any request. No credential of a host passes on.
 *
 * @example
 * const crm = { connect: () => connectAny('https://crm.example.com/mcp') }
 * const files = { connect: () => connectAny({ command: 'npx', args: ['-y', 'some-server'] }) }
 * const server = gateway({ name: 'company', version: '1.0.0', upstreams: { crm, files } })
 *
 * @throws TypeError for an unknown option, also of an upstream, for one of another type, a name that no upstream can
 * have, and rules of tools that contradict.
 */
export function gateway(options: GatewayOptions): Gateway {
  resolveOptions(options, gatewayOptionTable, 'gateway')
  const { name, version, use, extensions } = options
  const state = options.state ?? sealedState({ keys: [randomKey()] })
  const runtime = runtimeOf(options.runtime)
  const deps = { name, ledger: createLedger(), log: createLog(options.log, '@x/gateway'), runtime }
  const closeController = new AbortController()
  const upstreams = createUpstreams(options.upstreams, deps)
  const all = Array.from(upstreams.values())
  const parts: GatewayParts = {
    ...deps,
    info: { name, version },
    upstreams,
    state: new GatewayState(state, deps),
    instance: runtime.randomUuid(),
    closed: closeController.signal,
  }
  const server = serverOf((request, call) => serveHost({ request, call, parts }), {
    use,
    extensions,
    toolSearch: options.toolSearch?.start(searchedGatewayOf(parts)),
    state,
    runtime: options.runtime,
    log: deps.log,
    ledger: deps.ledger,
    info: parts.info,
    localOnly: undefined,
    singleProcess: options.state === undefined ? noStateReason : undefined,
    needsPrincipal: true,
    ready: async () => {
      const required = all.filter((upstream) => upstream.required)
      const answers = await Promise.all([
        parts.state.ping(),
        ...required.map(({ availability }) => availability.confirm()),
      ])
      return answers.slice(1).every((isReachable) => isReachable)
    },
    receive: (notification, call) => {
      for (const { hop } of all) hop.notify(notification, call)
    },
    close: async () => {
      const reason = new Error('The gateway was closed')
      closeController.abort(reason)
      await Promise.all(all.map((upstream) => upstream.close(reason)))
    },
  })
  const statuses = new Map(all.map((upstream) => [upstream.name, upstream.states.source]))
  return Object.defineProperty(server as Gateway, 'upstreams', { enumerable: true, value: statuses })
}

function searchedGatewayOf(parts: GatewayParts): SearchedServer {
  return {
    info: parts.info,
    findTool: (_, request, call) => findListedTool({ request, call: withContext(call, searchListKey, true), parts }),
  }
}

function createUpstreams(
  options: GatewayOptions['upstreams'],
  deps: ConstructorParameters<typeof Upstream>[1],
): GatewayParts['upstreams'] {
  if (typeof options !== 'object' || options === null || Array.isArray(options))
    throw new TypeError('upstreams must be an object of upstreams by name: { crm: { connect: () => connectAny(url) } }')
  return new Map(
    Object.entries(options).map(([name, upstream]) => {
      const problem = findUpstreamNameProblem(name)
      if (problem !== undefined) throw new TypeError(`The name ${JSON.stringify(name)} in upstreams ${problem}`)
      return [name, new Upstream(upstream, { ...deps, name })]
    }),
  )
}
