import type { Call, Connection, ConnectionPeer, ConnectionState, Exchange } from '@x/exchange'
import { ConnectionStateSource } from '@x/exchange/internal'
import { metaKeys, type RpcNotification, type RpcRequest, type RpcResponse } from '@x/schema'

/** A request as it arrived at an upstream, with the number of its connection. */
export interface ArrivedRequest {
  readonly connection: number
  readonly request: RpcRequest
  readonly call: Call
}

/** An upstream whose connections a test scripts. */
export interface ScriptedUpstream {
  readonly connect: () => Connection
  readonly arrived: ArrivedRequest[]
  readonly notifications: { readonly connection: number; readonly notification: RpcNotification }[]
  /** By their numbers. */
  readonly closed: number[]
  /** How many connections were opened. */
  readonly opened: () => number
}

export const olderOverStdio: ConnectionPeer = { revision: '2025-11-25', namesCalls: false }
export const olderOverHttp: ConnectionPeer = { revision: '2025-11-25', namesCalls: true }

const toolResult = { resultType: 'complete', content: [{ type: 'text', text: 'done' }] }

/** Answers a call of a tool, and the list of tools. */
export const answerPlainly: Exchange = async ({ id, method }) => ({
  jsonrpc: '2.0',
  id,
  result: method === 'tools/call' ? toolResult : { resultType: 'complete', tools: [], ttlMs: 0, cacheScope: 'private' },
})

export interface UpstreamScript {
  /** What the first response reveals of the server. Absent: a connection that speaks only 2026-07-28. */
  readonly peer?: ConnectionPeer
  readonly url?: string
  readonly state?: ConnectionState | undefined
  /** True for connections that say their state, as those of `connectAny` do. */
  readonly hasStates?: boolean
  /** Describes the server. Default: with tools. */
  readonly describe?: Exchange
  readonly answer?: (arrived: ArrivedRequest) => Promise<RpcResponse>
}

export function createScriptedUpstream(script: UpstreamScript = {}): ScriptedUpstream {
  const arrived: ArrivedRequest[] = []
  const notifications: ScriptedUpstream['notifications'] = []
  const closed: number[] = []
  let opened = 0
  const connect = (): Connection => {
    opened += 1
    const connection = opened
    const closeController = new AbortController()
    const states = new ConnectionStateSource()
    let peer: ConnectionPeer | undefined
    const exchange: Exchange = async (request, call) => {
      const one = { connection, request, call }
      if (request.method === 'server/discover' && script.peer !== undefined) {
        const described = await script.describe?.(request, call)
        peer = script.peer
        if (described !== undefined) return described
        return { jsonrpc: '2.0', id: request.id, result: discovery }
      }
      arrived.push(one)
      return script.answer === undefined ? answerPlainly(request, call) : script.answer(one)
    }
    const close = async (): Promise<void> => {
      closed.push(connection)
      states.close(new Error('the connection was closed here'))
      closeController.abort()
    }
    const observed: Exchange = async (request, call) => {
      try {
        const response = await exchange(request, call)
        states.open()
        return response
      } catch (error) {
        states.lose(error instanceof Error ? error : new Error('no answer'))
        throw error
      }
    }
    const members = {
      exchange: observed,
      url: script.url,
      state: script.state,
      ...(script.hasStates === true && { onStateChange: states.onStateChange }),
      closed: closeController.signal,
      close,
      notify: async (notification: RpcNotification) => void notifications.push({ connection, notification }),
      [Symbol.asyncDispose]: close,
    }
    if (script.hasStates === true) Object.defineProperty(members, 'state', { get: () => states.state })
    return script.peer === undefined
      ? members
      : Object.defineProperty(members, 'peer', { enumerable: true, get: () => peer })
  }
  return hideReadings({ connect, arrived, notifications, closed, opened: () => opened })
}

/** A gateway rejects an unknown option of an upstream, so what only a test reads is not enumerable. */
export function hideReadings<Scripted extends ScriptedUpstream>(upstream: Scripted): Scripted {
  for (const name of Object.keys(upstream))
    if (name !== 'connect') Object.defineProperty(upstream, name, { enumerable: false })
  return upstream
}

const discovery = {
  resultType: 'complete',
  supportedVersions: ['2026-07-28'],
  capabilities: { tools: {} },
  ttlMs: 0,
  cacheScope: 'private',
}

/** From a host that can be asked. */
export function createRequest(method: string, params: object = {}, hostName = 'host'): RpcRequest {
  const { _meta: meta }: { readonly _meta?: object } = params
  const _meta = {
    ...meta,
    [metaKeys.protocolVersion]: '2026-07-28',
    [metaKeys.clientInfo]: { name: hostName, version: '1.0.0' },
    [metaKeys.clientCapabilities]: { elicitation: { form: {} } },
  }
  return { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } }
}

export function createToolCall(params: object = {}, hostName = 'host'): RpcRequest {
  return createRequest('tools/call', { name: 'greet', arguments: {}, ...params }, hostName)
}
