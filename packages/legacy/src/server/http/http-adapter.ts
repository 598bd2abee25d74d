import type { HttpProtocolAdapter } from '@x/schema'
import { revisionNamed } from '../../revisions.ts'
import type { Deps } from '../deps.ts'
import { createSessionStates } from '../session-state.ts'
import { createSessions } from '../session.ts'
import type { HttpDeps } from './peer.ts'
import { serveDelete, serveGet } from './serve-get.ts'
import { servePost, sessionHeader } from './serve-post.ts'

/** The adapter over HTTP, and how it ends. */
export interface HttpAdapter {
  readonly adapter: HttpProtocolAdapter
  /** Ends the streams that last. */
  drain(): void
  /** Ends everything. */
  close(): void
}

/** Makes the adapter that serves older clients over HTTP. */
export function createHttpAdapter(deps: Deps): HttpAdapter {
  const { settings } = deps
  const http: HttpDeps = {
    deps,
    sessions: createSessions(settings, deps.now),
    states: createSessionStates(settings),
    rounds: new Map(),
  }
  const endListening = (): void => {
    for (const { listening } of http.states.all()) listening?.end()
  }
  return {
    adapter: {
      methods: ['GET', 'DELETE'],
      exposedHeaders: [sessionHeader],
      matches({ method, header }) {
        if (method !== 'POST' && method !== 'GET' && method !== 'DELETE') return false
        const version = header('mcp-protocol-version')
        return version === undefined || revisionNamed(version, settings.revisions) !== undefined
      },
      handle(view) {
        if (view.method === 'POST') return servePost(view, http)
        return view.method === 'GET' ? serveGet(view, http) : serveDelete(view, http)
      },
    },
    drain: endListening,
    close() {
      endListening()
      for (const { streams } of http.states.all()) for (const stream of streams.values()) stream.abandon()
    },
  }
}
