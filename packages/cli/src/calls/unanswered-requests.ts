import { messageOf } from '@x/core'
import type { Middleware } from '@x/exchange'
import { isHttpError } from '@x/transport-http/client'
import { CliError } from '../cli-error.ts'
import type { CliIo } from '../cli-io.ts'
import { toDisplayLine } from '../terminal/display-text.ts'

/** After so much silence, a person sees what the command waits for. */
const quietMs = 1500

const pauseMs = 100

/**
 * Says once what the command waits for: a request that is sent again after failures, or one without an answer. While
 * `isQuiet` returns true, it says nothing: the page of a login is shown instead, or the command waits no more.
 */
export function sayWaiting(target: string, { errorOutput }: CliIo, isQuiet: () => boolean): Middleware {
  let isSaid = false
  let failure: { readonly since: number; readonly text: string } | undefined
  let repetition: NodeJS.Timeout | undefined
  const say = (reason: string): void => {
    if (isQuiet()) return
    if (!isSaid) errorOutput.write(`mcpx: waiting for ${target}: ${toDisplayLine(reason)}\n`)
    isSaid = true
  }
  const noteFailure = (text: string): void => {
    failure = { since: failure?.since ?? performance.now(), text }
    const leftMs = failure.since + quietMs - performance.now()
    clearTimeout(repetition)
    repetition = setTimeout(() => say(`${text}; trying again`), Math.max(pauseMs, leftMs)).unref()
  }
  return (next) => async (request, call) => {
    // The pause is over: a tool that works now may take its time.
    clearTimeout(repetition)
    // A tool may take its time, and shows progress.
    const isLong = request.method === 'tools/call' || request.method === 'subscriptions/listen'
    const timer = isLong ? undefined : setTimeout(() => say(`no answer to ${request.method} yet`), quietMs)
    try {
      const response = await next(request, call)
      if ('error' in response) noteFailure(response.error.message)
      else failure = undefined
      return response
    } catch (error) {
      if (!(error instanceof CliError)) noteFailure(messageOf(error))
      throw error
    } finally {
      clearTimeout(timer)
    }
  }
}

/**
 * Fails at once if nothing listens at the address and never did: a person has made a mistake, while a program would
 * wait for a server that restarts.
 */
export function failUnreachable(): Middleware {
  let hasAnswered = false
  return (next) => async (request, call) => {
    try {
      const response = await next(request, call)
      hasAnswered = true
      return response
    } catch (error) {
      if (hasAnswered || !isHttpError(error) || error.code !== 'refused') throw error
      throw new CliError('failure', error.message, { cause: error })
    }
  }
}
