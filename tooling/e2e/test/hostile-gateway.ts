import { gateway, type GatewayUpstreamOptions } from '@x/gateway'
import { connectAny } from '@x/legacy/client'
import { sealedState } from '@x/state-codec'
import { connectHttp } from '@x/transport-http/client'
import { type HttpServer, serveHttp } from '@x/transport-http/node'
import { keys } from './asking.ts'
import { subjectHeader } from './gateway-user.ts'
import type { HostileUpstreams } from './hostile-upstream.ts'

/** The program of the hostile upstreams over stdio, whose names start with `old-`. */
export const hostileProgram = `${import.meta.dirname}/programs/hostile-upstream.mjs`
/** The time limit for upstreams that never answer a call, in milliseconds. */
const timeoutMs = 1000
const silent = ['hang', 'stream', 'old-ids']

/** The upstreams of a gateway. */
export interface GatewayTargets {
  readonly hostile: HostileUpstreams
  /** The URL and the program of the upstreams that follow the protocol. */
  readonly honest: { readonly url: string; readonly program: string }
}

/** Serves an instance of a gateway in front of two honest upstreams and the hostile ones with the given names. */
export function serveHostileGateway(
  names: readonly string[],
  { hostile, honest }: GatewayTargets,
): Promise<HttpServer> {
  const hostileUpstreams = names.map((name): [string, GatewayUpstreamOptions] => [
    name,
    {
      connect: name.startsWith('old-') ? overStdio(hostileProgram, name) : () => connectHttp(hostile.urlOf(name)),
      timeoutMs: silent.includes(name) ? timeoutMs : undefined,
    },
  ])
  const server = gateway({
    name: 'company',
    version: '1.0.0',
    state: sealedState({ keys: [keys.first] }),
    upstreams: {
      honest: { connect: () => connectAny(honest.url) },
      'old-honest': { connect: overStdio(honest.program) },
      ...Object.fromEntries(hostileUpstreams),
    },
    log: () => {},
  })
  return serveHttp(server, { auth: (view) => ({ subject: view.header(subjectHeader) ?? 'anonymous' }) })
}

function overStdio(...args: readonly string[]): GatewayUpstreamOptions['connect'] {
  return () => connectAny({ command: process.execPath, args }, { revision: 'older', log: () => {} })
}
