import { checkOptions, createLedger, createLog, type KnownOptions, type Log, type Runtime, runtimeOf } from '@x/core'
import { type Middleware, type Server, type ServerExtension, serverOf } from '@x/exchange'
import type { StateCodec } from '@x/state-codec'
import type { Availability, UpstreamState } from '../upstream/availability.ts'
import { createMember, type GatewayParts } from '../upstream/member.ts'
import { findUpstreamNameProblem } from '../names/names.ts'
import { isOfExtension } from '../proxy.ts'
import { serveHost } from './serve-host.ts'
import { GatewayState } from '../names/state.ts'
import type { GatewayUpstream } from '../upstream/upstream.ts'

/** The options of {@link gateway}. */
export interface GatewayOptions {
  readonly name: string
  readonly version: string
  /**
   * The upstreams by name. A name has at most 32 lower-case letters, digits and single hyphens, and begins with a letter.
   * Hosts see it in the names of tools and prompts, and in URIs.
   */
  readonly upstreams: Readonly<Record<string, GatewayUpstream>>
  /** The codec for states, cursors and ids of tasks. Every instance needs the same keys. */
  readonly state: StateCodec
  /** Middleware around every call of a host. */
  readonly use?: readonly Middleware[] | undefined
  /** The extensions of the gateway, such as `legacy()` for hosts of older revisions. */
  readonly extensions?: readonly ServerExtension[] | undefined
  /** The log. Default: a log that writes lines to the standard error. */
  readonly log?: Log | undefined
  /** The clock, for tests. Default: that of the platform. */
  readonly runtime?: Partial<Runtime> | undefined
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

const gatewayOptionNames = {
  name: true,
  version: true,
  upstreams: true,
  state: true,
  use: true,
  extensions: true,
  log: true,
  runtime: true,
} as const satisfies KnownOptions & Record<keyof GatewayOptions, true>

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
  const { name, version, upstreams, state, use, extensions } = options
  const ledger = createLedger()
  const log = createLog(options.log, '@x/gateway')
  const runtime = runtimeOf(options.runtime)
  const closeController = new AbortController()
  const members = createMembers(upstreams, { ledger, log, runtime })
  const parts: GatewayParts = {
    info: { name, version },
    members,
    state: new GatewayState(state),
    instance: runtime.randomUuid(),
    closed: closeController.signal,
    ledger,
    log,
    runtime,
  }
  const server = serverOf((request, call) => serveHost({ request, call, parts }), {
    use,
    extensions,
    state,
    runtime: options.runtime,
    log,
    ledger,
    info: parts.info,
    localOnly: undefined,
    needsPrincipal: true,
    ready: async () => {
      await parts.state.ping()
      return Array.from(members.values()).every(
        ({ required, availability }) => !required || availability.state !== 'away',
      )
    },
    receive: (notification, call) => {
      if (isOfExtension(notification)) for (const { hop } of members.values()) hop.notify(notification, call)
    },
    close: async () => {
      closeController.abort(new Error('The gateway was closed'))
      await Promise.all(Array.from(members.values(), ({ hop }) => hop.close()))
    },
  })
  const statuses = new Map(Array.from(members, ([each, { availability }]) => [each, statusOf(availability)]))
  return Object.defineProperty(server as Gateway, 'upstreams', { enumerable: true, value: statuses })
}

function statusOf(availability: Availability): UpstreamStatus {
  return {
    get state() {
      return availability.state
    },
  }
}

function createMembers(
  upstreams: GatewayOptions['upstreams'],
  deps: Parameters<typeof createMember>[2],
): GatewayParts['members'] {
  return new Map(
    Object.entries(upstreams).map(([name, upstream]) => {
      const problem = findUpstreamNameProblem(name)
      if (problem !== undefined) throw new TypeError(`The name ${JSON.stringify(name)} in upstreams ${problem}`)
      return [name, createMember(name, upstream, deps)]
    }),
  )
}
