import { legacy } from '@x/legacy'
import { tasks } from '@x/tasks/server'
import { type HttpServer, serveHttp } from '@x/transport-http/node'
import { createFixture } from './fixture.ts'

/** Serves the fixture at `/mcp` on 127.0.0.1. The port 0 selects any free port. */
export function serveFixture(port: number): Promise<HttpServer> {
  // The suite expects that the stream of a call closes before its end, and resumes it.
  const extensions = [tasks({ pollIntervalMs: 200 }), legacy({ closeAfterMs: 400 })]
  return serveHttp(createFixture(extensions), { port })
}
