import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gateway, proxy } from '@x/gateway'
import { legacy } from '@x/legacy'
import { type AnyConnection, connectAny, type ServerTarget } from '@x/legacy/client'
import { sealedState } from '@x/state-codec'
import { serveHttp } from '@x/transport-http/node'
import { createFeatures } from '../src/hop/features.ts'
import { keys } from './asking.ts'
import { bundleProgram } from './child-program.ts'
import { bridge, serveSocket } from './test-transports-stdio.ts'

export type HopKind = 'proxy' | 'gateway'
type Transport = 'http' | 'stdio'

/** A host or a server. */
export interface End {
  readonly revision: '2026-07-28' | 'older'
  readonly transport: Transport
}

/** The name of the upstream of each hop. */
export const upstreamName = 'features'

/** A proxy or gateway that serves hosts over HTTP, and over the pipes of a child process. */
export interface StartedHop {
  readonly targets: Readonly<Record<Transport, ServerTarget>>
  close(): Promise<void>
}

/** The hops of a test file. They share an upstream over HTTP, and the program of an upstream over stdio. */
export interface StartedHops extends AsyncDisposable {
  /** Returns a hop, which is started once for all its hosts. */
  get(kind: HopKind, upstream: End): Promise<StartedHop>
  /** Starts a hop to the server at a URL. */
  start(kind: HopKind, upstream: End, url: string): Promise<StartedHop>
}

export async function startHops(): Promise<StartedHops> {
  const features = await bundleProgram(new URL('programs/features.ts', import.meta.url))
  const upstreamHttp = await serveHttp(createFeatures())
  const folder = await mkdtemp(join(tmpdir(), 'e2e-hop-'))
  const hops = new Map<string, Promise<StartedHop>>()
  let startCount = 0
  const start: StartedHops['start'] = (kind, { revision, transport }, url) => {
    const target = transport === 'http' ? url : { command: process.execPath, args: [features.path] }
    startCount += 1
    return startHop(kind, () => connectAny(target, { revision }), join(folder, `${startCount}.sock`))
  }
  return {
    start,
    get(kind, upstream) {
      const key = JSON.stringify([kind, upstream])
      const hop = hops.get(key) ?? start(kind, upstream, upstreamHttp.url)
      hops.set(key, hop)
      return hop
    },
    async [Symbol.asyncDispose]() {
      for (const hop of hops.values()) await (await hop).close()
      await upstreamHttp.close()
      await features[Symbol.asyncDispose]()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function startHop(kind: HopKind, connect: () => AnyConnection, path: string): Promise<StartedHop> {
  const options = { version: '1.0.0', state: sealedState({ keys: [keys.first] }), extensions: [legacy()] }
  const server =
    kind === 'proxy'
      ? proxy({ connect }, { ...options, name: upstreamName })
      : gateway({ ...options, name: 'company', upstreams: { [upstreamName]: { connect } } })
  const http = await serveHttp(server)
  const socket = await serveSocket(server, path)
  return {
    targets: { http: http.url, stdio: { command: process.execPath, args: [bridge, path] } },
    async close() {
      await socket[Symbol.asyncDispose]()
      await http.close()
    },
  }
}
