import { maxTimerMs, objectWith, type OptionTable, optionTypes, resolveOptions } from '@x/core'
import type { Server } from '@x/exchange'
import type { UpstreamOptions } from '../hop/hop-options.ts'
import { defaultTimeoutMs } from '../hop/running-calls.ts'
import type { CredentialSource } from './credential.ts'
import { findRuleProblem, ToolNames, type ToolRules } from './tool-rules.ts'

/** What a gateway decides about an upstream. */
export interface GatewayUpstreamRules {
  /** The tools that the gateway offers, and their names. Default: all tools. */
  readonly tools?: ToolRules | undefined
  /**
   * Milliseconds without a message after which a call is cancelled. It may take half of this longer, at most a minute.
   * Lists and descriptions have 5 seconds instead, and the next one after one that was not answered has one second,
   * further ones 0.1 seconds: a slower upstream is left out. Default: 1,800,000, which is 30 minutes.
   */
  readonly timeoutMs?: number | undefined
  /**
   * True if the gateway is not ready while the upstream is unreachable: after three requests in a row without an
   * answer, and a probe without one. Readiness checks probe it until it has returned. Default: false.
   */
  readonly required?: boolean | undefined
}

/** An upstream of a gateway outside of this process. */
export interface GatewayUpstreamOptions extends UpstreamOptions, GatewayUpstreamRules {
  /** Finds each caller's credential. Default: `connect` has one for all callers. */
  readonly credential?: CredentialSource | undefined
}

/** An upstream of a gateway in this process, with rules. Its calls have the principal of the host. */
export interface GatewayServerOptions extends GatewayUpstreamRules {
  readonly server: Server
}

/** An upstream of a gateway: a server in this process, or a function that opens connections to one. */
export type GatewayUpstream = Server | GatewayServerOptions | GatewayUpstreamOptions

const toolRuleTable = {
  allow: { type: optionTypes.strings },
  deny: { type: optionTypes.strings },
  rename: { type: optionTypes.texts },
  pins: { type: objectWith(['get', 'add'], 'a store with get and add, such as openPinFile(path).storeOf(upstream)') },
} satisfies OptionTable<ToolRules>

const ruleTable = {
  tools: { type: optionTypes.object, group: toolRuleTable },
  timeoutMs: { default: defaultTimeoutMs, max: maxTimerMs },
  required: { type: optionTypes.boolean },
} satisfies OptionTable<GatewayUpstreamRules>

const serverTable = { ...ruleTable, server: undefined } satisfies OptionTable<GatewayServerOptions>

const connectedTable = {
  ...ruleTable,
  connect: undefined,
  credential: { type: optionTypes.function },
} satisfies OptionTable<GatewayUpstreamOptions>

/** The options of an upstream, checked. */
export interface ResolvedUpstream extends Pick<GatewayUpstreamOptions, 'credential' | 'timeoutMs'> {
  /** The server, or the function that opens connections to it. */
  readonly target: Server | UpstreamOptions
  readonly toolNames: ToolNames
  readonly pins: ToolRules['pins']
  readonly required: boolean
}

/**
 * Checks the options of the upstream with a name.
 *
 * @throws TypeError for an upstream that is neither a server nor has `connect`, for an option that does not exist or
 * has another type, and for rules of tools that contradict one another. RangeError for an invalid time.
 */
export function resolveUpstream(upstream: GatewayUpstream, name: string): ResolvedUpstream {
  const target = targetOf(upstream, name)
  const own: Partial<GatewayUpstreamOptions> = 'exchange' in upstream ? {} : upstream
  const { credential, tools = {}, timeoutMs, required = false } = own
  const hasLogin = credential !== undefined
  const problem = findRuleProblem(tools, hasLogin)
  if (problem !== undefined) throw new TypeError(`gateway: upstreams.${name}.tools: ${problem}`)
  return { target, toolNames: new ToolNames(tools, hasLogin), pins: tools.pins, credential, timeoutMs, required }
}

function targetOf(upstream: GatewayUpstream, name: string): Server | UpstreamOptions {
  const isObject = typeof upstream === 'object' && upstream !== null
  const target = isObject && 'server' in upstream ? upstream.server : upstream
  checkUpstream(target, `The upstream ${name}`)
  if (target !== upstream && 'connect' in upstream)
    throw new TypeError(`The upstream ${name} must have either server or connect, and has both`)
  if ('exchange' in upstream) return target
  const group = 'server' in upstream ? serverTable : connectedTable
  resolveOptions({ upstreams: { [name]: upstream } }, { upstreams: { group: { [name]: { group } } } }, 'gateway')
  return target
}

/** Throws a TypeError for a value that is neither a server nor has `connect`. Programs without types pass a URL. */
export function checkUpstream(upstream: unknown, subject: string): void {
  const right = 'as in { connect: () => connectAny(url) }'
  if (typeof upstream === 'object' && upstream !== null) {
    if ('connect' in upstream && typeof upstream.connect === 'function') return
    if ('exchange' in upstream && 'attachHost' in upstream) return
    if ('exchange' in upstream)
      throw new TypeError(`${subject} is a connection, and must be the function that opens one, ${right}`)
  }
  throw new TypeError(`${subject} must be a server or have connect, ${right}`)
}
