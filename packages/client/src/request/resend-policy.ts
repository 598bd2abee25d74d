import { type Clock, platformRuntime } from '@x/core'
import { findMethodRow, type RpcResponse } from '@x/schema'
import type { CallOptions } from './call-options.ts'
import { type CallTarget, type ClientState, errorContextOf } from './client-state.ts'
import { clientDefaults, type CoreClientOptions } from './options.ts'
import { sendUntilAnswered } from './resend.ts'

/**
 * The multiple of `timeoutMs` after which a request ends even if it reports progress. With the default `timeoutMs` this
 * is ten minutes.
 */
export const maxProgressFactor = 10

/** Returns the time limit of a request without progress, in milliseconds. */
export function timeoutMsOf(options: CoreClientOptions, callOptions: CallOptions): number {
  return callOptions.timeoutMs ?? options.timeoutMs ?? clientDefaults.timeoutMs
}

/** Returns the clock of a client. */
export function clockOf({ runtime = platformRuntime }: CoreClientOptions): Clock {
  return runtime
}

interface ResendContext {
  readonly options: CoreClientOptions
  readonly callOptions: CallOptions
  readonly state: ClientState
  readonly closed: AbortSignal | undefined
}

/** Sends a request, and sends it again by the rules of its method and the options of its call. */
export function sendWithResends(
  send: () => Promise<RpcResponse>,
  call: CallTarget & { readonly isRepeatable?: (() => boolean | Promise<boolean>) | undefined },
  { options, callOptions, state, closed }: ResendContext,
): Promise<RpcResponse> {
  const row = findMethodRow(call.method)
  const isReadOnly = row !== undefined && row.hasEffects === undefined
  const maxResendMs = callOptions.maxResendMs ?? options.maxResendMs ?? clientDefaults.maxResendMs
  return sendUntilAnswered(send, {
    isRepeatable: isReadOnly ? () => true : call.isRepeatable,
    maxResendMs: Math.min(maxResendMs, timeoutMsOf(options, callOptions)),
    maxTotalMs: timeoutMsOf(options, callOptions) * maxProgressFactor,
    clock: clockOf(options),
    signal: callOptions.signal,
    closed,
    onResend: (resend) => {
      const { emit } = state.events
      if (emit === undefined) return
      const { method, target } = errorContextOf(call, state)
      emit({ type: 'resend', method, target, options: callOptions, ...resend })
    },
  })
}
