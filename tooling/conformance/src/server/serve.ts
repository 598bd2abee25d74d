import { type HttpServer, serveHttp } from '@x/transport-http/node'
import { createFixture } from './fixture.ts'

/** Serves the fixture at `/mcp` on 127.0.0.1; 0 takes any port. */
export function serveFixture(port: number): Promise<HttpServer> {
  return serveHttp(createFixture(), { port })
}
