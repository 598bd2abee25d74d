import { createCall } from '@x/exchange'
import { messageOf, openAbortScope, parseJsonObject, platformRuntime } from '@x/core'
import type { RpcResponse } from '@x/schema'
import { connectStdio } from '@x/transport-stdio'
import type { Program } from '../calls/target.ts'
import type { RpcProbe } from './check.ts'
import type { Reply } from './http-probe.ts'
import { probeBodyOf } from './rpc-probe.ts'

const timeoutMs = 10_000

/**
 * Starts the server of a command with the first probe. `send` sends a probe over stdio. It never rejects: a process that
 * ends is a result of the check.
 */
export function startCommandServer(
  target: Program,
  { signal, onLine }: { readonly signal: AbortSignal; readonly onLine: (line: string) => void },
): AsyncDisposable & { readonly send: (probe: RpcProbe) => Promise<Reply> } {
  // The probes find the revision themselves.
  const connection = connectStdio({ ...target, stderr: onLine, restart: false, onStart: async () => {} })
  let lastId = 0
  const send = async (probe: RpcProbe): Promise<Reply> => {
    const startedAt = performance.now()
    const { method, params } = { params: {}, ...parseJsonObject(probeBodyOf(probe)), method: probe.method }
    lastId += 1
    const createTimeoutError = () => new Error(`there is no answer after ${timeoutMs / 1000} s`)
    const scope = openAbortScope(signal, { timeoutMs, clock: platformRuntime, createTimeoutError })
    const call = createCall({ signal: scope.signal })
    const reply = { headers: {}, localPort: undefined }
    try {
      const response = await connection.exchange({ jsonrpc: '2.0', id: lastId, method, params }, call)
      return { ...reply, ...replyOf(response), failure: undefined, ms: performance.now() - startedAt }
    } catch (error) {
      const failure = messageOf(scope.signal.aborted ? scope.signal.reason : error)
      return { ...reply, status: 0, text: '', message: undefined, failure, ms: performance.now() - startedAt }
    } finally {
      scope.close()
    }
  }
  return { send, [Symbol.asyncDispose]: () => connection.close() }
}

/** With the status that the response would have over HTTP, so that the checks read it in the same way. */
function replyOf(response: RpcResponse): Pick<Reply, 'status' | 'text' | 'message'> {
  const text = JSON.stringify(response)
  return { status: 'error' in response ? 400 : 200, text, message: parseJsonObject(text) }
}
