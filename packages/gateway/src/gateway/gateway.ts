import { checkOptions, createLedger, createLog, type KnownOptions, runtimeOf } from '@x/core'
import { type Server, serverOf } from '@x/exchange'
import type { StateCodec } from '@x/state-codec'
import { findUpstreamNameProblem } from '../names/names.ts'
import { GatewayState } from '../names/state.ts'
import type { UpstreamState } from '../upstream/availability.ts'
import { type GatewayUpstream, Upstream } from '../upstream/upstream.ts'
import type { GatewayParts } from './host-request.ts'
import { type ProxyOptions, proxyOptionNames } from './proxy.ts'
import { serveHost } from './serve-host.ts'

/** The options of {@link gateway}: its own name and version, and those that a proxy has too. */
export interface GatewayOptions extends Omit<ProxyOptions, 'state'> {
  /**
   * The upstreams by name. A name has at most 32 lower-case letters, digits and single hyphens, and begins with a letter.
   * Hosts see it in the names of tools and prompts, and in URIs.
   */
  readonly upstreams: Readonly<Record<string, GatewayUpstream>>
  /** The codec for states, cursors and ids of tasks. Every instance needs the same keys. */
  readonly state: StateCodec
}

/** The state of one upstream of a gateway. */
export interface UpstreamStatus {
  /** `unknown` before the first answer. `away` (unreachable) after three requests in a row without an answer. */
  readonly state: UpstreamState
}

/** A server in front of several others. */
export interface Gateway extends Server {
  /** The states of the upstreams, by name, as this instance sees them. */
  readonly upstreams: ReadonlyMap<string, UpstreamStatus>
}

const gatewayOptionNames = { ...proxyOptionNames, upstreams: true } as const satisfies KnownOptions &
  Record<keyof GatewayOptions, true>

/**
 * Creates a server in front of several others, over any transports and of any revisions. Any instance with the same
 * upstreams and keys serves any request. No credential of a host passes on.
 *
 * @example
 * const crm = { connect: () => connectAny('https://crm.example.com/mcp') }
 * const files = { connect: () => connectAny({ command: 'npx', args: ['-y', 'some-server'] }) }
 * const server = gateway({ name: 'company', version: '1.0.0', state, upstreams: { crm, files } })
 *
 * @throws TypeError for an unknown option, a name that no upstream can have, and rules of tools that contradict.
 */
export function gateway(options: GatewayOptions): Gateway {
  checkOptions(options, gatewayOptionNames, 'gateway')
  const { name, version, state, use, extensions } = options
  const runtime = runtimeOf(options.runtime)
  const deps = { name, ledger: createLedger(), log: createLog(options.log, '@x/gateway'), runtime }
  const closeController = new AbortController()
  const upstreams = createUpstreams(options.upstreams, deps)
  const all = Array.from(upstreams.values())
  const parts: GatewayParts = {
    ...deps,
    info: { name, version },
    upstreams,
    state: new GatewayState(state),
    instance: runtime.randomUuid(),
    closed: closeController.signal,
  }
  const server = serverOf((request, call) => serveHost({ request, call, parts }), {
    use,
    extensions,
    state,
    runtime: options.runtime,
    log: deps.log,
    ledger: deps.ledger,
    info: parts.info,
    localOnly: undefined,
    needsPrincipal: true,
    ready: async () => {
      const required = all.filter((upstream) => upstream.required)
      await Promise.all([parts.state.ping(), ...required.map(({ availability }) => availability.check())])
      return required.every(({ availability }) => availability.state !== 'away')
    },
    receive: (notification, call) => {
      for (const { hop } of all) hop.notify(notification, call)
    },
    close: async () => {
      closeController.abort(new Error('The gateway was closed'))
      await Promise.all(all.map(({ hop }) => hop.close()))
    },
  })
  const statuses = new Map(all.map((upstream) => [upstream.name, upstream.availability]))
  return Object.defineProperty(server as Gateway, 'upstreams', { enumerable: true, value: statuses })
}

function createUpstreams(
  options: GatewayOptions['upstreams'],
  deps: ConstructorParameters<typeof Upstream>[1],
): GatewayParts['upstreams'] {
  return new Map(
    Object.entries(options).map(([name, upstream]) => {
      const problem = findUpstreamNameProblem(name)
      if (problem !== undefined) throw new TypeError(`The name ${JSON.stringify(name)} in upstreams ${problem}`)
      return [name, new Upstream(upstream, { ...deps, name })]
    }),
  )
}
