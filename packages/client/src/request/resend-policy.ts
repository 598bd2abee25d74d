import { createLog } from '@x/core'
import type { RpcResponse } from '@x/schema'
import type { CallOptions } from './call-options.ts'
import { type CallTarget, type ClientState, errorContextOf } from './client-state.ts'
import { hasEffects } from './may-have-run.ts'
import type { CoreClientSettings } from './options.ts'
import { type ResendPolicy, sendUntilAnswered } from './resend.ts'

/** Even with progress, a request ends after this multiple of `timeoutMs`. By default that is ten minutes. */
export const maxProgressFactor = 10

/** Time limit of a request without progress, in milliseconds. */
export function timeoutMsOf(options: CoreClientSettings, callOptions: CallOptions): number {
  return callOptions.timeoutMs ?? options.timeoutMs
}

/**
 * Says once that the client waits for a server that has never answered. Nothing at the address may be an outage, and is
 * as often a wrong port.
 */
function warnOfRefusal(state: ClientState, { log }: CoreClientSettings, maxResendMs: number): void {
  if (!state.noteRefusal()) return
  const waits = `what it has not received is sent again for up to ${maxResendMs / 1000} s`
  const message = `Nothing listens at ${state.url ?? 'the address'}: is the server running? ${waits}`
  createLog(log, '@x/client')({ level: 'warn', message, code: 'ECONNREFUSED' })
}

/** Sends a request, and again if its method and the call's options allow it. */
export function sendWithResends(
  send: () => Promise<RpcResponse>,
  call: CallTarget & Partial<Pick<ResendPolicy, 'isRepeatable'>>,
  {
    options,
    callOptions,
    state,
    closed,
    onEarlierRun,
  }: {
    readonly options: CoreClientSettings
    readonly callOptions: CallOptions
    readonly state: ClientState
    /** Called when a request that may have run is sent again. */
    readonly onEarlierRun: () => void
  } & Pick<ResendPolicy, 'closed'>,
): Promise<RpcResponse> {
  const maxResendMs = callOptions.maxResendMs ?? options.maxResendMs
  return sendUntilAnswered(send, {
    isRepeatable: hasEffects(call.method) ? call.isRepeatable : () => true,
    maxResendMs: Math.min(maxResendMs, timeoutMsOf(options, callOptions)),
    maxQuotaMs: timeoutMsOf(options, callOptions),
    maxTotalMs: timeoutMsOf(options, callOptions) * maxProgressFactor,
    clock: options.runtime,
    signal: callOptions.signal,
    closed,
    onResend: ({ isUnbegun, isRefused, ...resend }) => {
      if (!isUnbegun) onEarlierRun()
      if (isRefused) warnOfRefusal(state, options, maxResendMs)
      const { emit } = state.events
      if (emit === undefined) return
      const { method, target } = errorContextOf(call, state)
      emit({ type: 'resend', method, target, options: callOptions, ...resend })
    },
  })
}
