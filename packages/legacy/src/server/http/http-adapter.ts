import { isLimitError, isUnavailable } from '@x/core'
import type { HttpProtocolAdapter, HttpRequestView } from '@x/exchange'
import { findRevision } from '../../translate/revisions.ts'
import type { CallDeps } from '../call/call-deps.ts'
import { toLegacyErrorResponse } from '../session/to-error-response.ts'
import { createHttpDeps } from './create-http-deps.ts'
import { rejectWithError } from './errors.ts'
import type { HttpDeps } from './http-deps.ts'
import { serveDelete, serveGet } from './serve-get.ts'
import { servePost, sessionHeader } from './serve-post.ts'

/**
 * Serves older clients over HTTP. `drain` ends the GET streams, and hands calls that wait for answers over to other
 * instances, until the function that it returns is called. `close` ends all streams and calls, and stops listening to
 * the bus.
 */
export function createHttpAdapter(deps: CallDeps): {
  readonly adapter: HttpProtocolAdapter
  drain(): () => void
  close(): void
} {
  const { settings } = deps
  const httpDeps = createHttpDeps(deps)
  const { link } = httpDeps
  const endListening = (): void => {
    for (const { listeningStream } of httpDeps.sessionStates.list()) listeningStream?.end()
  }
  return {
    adapter: {
      revisions: settings.revisions,
      methods: ['GET', 'DELETE'],
      exposedHeaders: [sessionHeader],
      matches({ method, header }) {
        if (method !== 'POST' && method !== 'GET' && method !== 'DELETE') return false
        const version = header('mcp-protocol-version')
        return version === undefined || findRevision(version, settings.revisions) !== undefined
      },
      async handle(view) {
        try {
          await link?.listen()
          return await serveHttpMethod(view, httpDeps)
        } catch (error) {
          if (!isLimitError(error) && !isUnavailable(error)) throw error
          if (isUnavailable(error)) deps.reportError(error)
          return rejectWithError(view, toLegacyErrorResponse(undefined, error, deps).error)
        }
      },
    },
    drain() {
      endListening()
      return link?.rounds.drain() ?? (() => {})
    },
    close() {
      endListening()
      link?.close()
      for (const { streams } of httpDeps.sessionStates.list()) for (const stream of streams.values()) stream.abandon()
      httpDeps.finishedStreams.close()
    },
  }
}

function serveHttpMethod(view: HttpRequestView, http: HttpDeps): boolean | Promise<boolean> {
  if (view.method === 'POST') return servePost(view, http)
  return view.method === 'GET' ? serveGet(view, http) : serveDelete(view, http)
}
