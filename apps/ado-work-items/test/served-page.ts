import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Exchange, type Server, serverOf } from '@x/exchange'
import { sealedState } from '@x/server'
import { serveHttp } from '@x/transport-http/node'
import { build } from 'vite'
import { servePageWithLogin } from '../src/authorization/serve-page-with-login.ts'
import { signResults } from '../src/fleet/instance-meta.ts'
import { createWorkItemsServer } from '../src/server/create-work-items-server.ts'
import { emulated } from '../src/testing/emulated.ts'

type PageHandler = ReturnType<typeof servePageWithLogin>

/** The page and its server, with work items of their own. */
export interface ServedPage {
  readonly url: string
  [Symbol.asyncDispose](): Promise<void>
}

/** The page as `dist-web` holds it. */
export interface BuiltPage {
  readonly root: string
  remove(): Promise<void>
}

/** Builds a page into a temporary folder. The default is the page of this program. */
export async function buildPage(config = '../web/vite.config.ts'): Promise<BuiltPage> {
  const root = await mkdtemp(join(tmpdir(), 'work-items-page-'))
  const configFile = fileURLToPath(new URL(config, import.meta.url))
  await build({ configFile, logLevel: 'silent', build: { outDir: root } })
  return { root, remove: () => rm(root, { recursive: true, force: true }) }
}

const info = { name: 'by-turns', version: '1.0.0' }

/** Serves a built page beside a server. */
export async function servePageWith(
  server: Server,
  root: string,
  onRequest: PageHandler = servePageWithLogin(root),
): Promise<ServedPage> {
  const http = await serveHttp(server, { onRequest })
  return { url: `http://127.0.0.1:${http.port}/`, [Symbol.asyncDispose]: () => http.close() }
}

/** Serves a built page with three instances that share nothing but a key; each request is answered by the next one. */
export async function serveWorkItems(root: string, onRequest?: PageHandler): Promise<ServedPage> {
  const azure = await emulated()
  const key = crypto.getRandomValues(new Uint8Array(32))
  const instances = [1, 2, 3].map((id) => {
    const use = [signResults({ id, pid: 1000 + id })]
    // On a busy machine, load shedding would add rounds that hand a call over.
    const shedding = { load: () => ({ eventLoopDelayMs: 0 }) }
    return createWorkItemsServer(azure.azureDevOps, { state: sealedState({ keys: [key] }), use, shedding })
  })
  const served = await servePageWith(
    serverOf(byTurns(instances.map(({ exchange }) => exchange)), { info, localOnly: undefined }),
    root,
    onRequest,
  )
  return {
    url: served.url,
    [Symbol.asyncDispose]: async () => {
      await served[Symbol.asyncDispose]()
      await azure[Symbol.asyncDispose]()
    },
  }
}

function byTurns(exchanges: readonly Exchange[]): Exchange {
  let turn = 0
  return (request, call) => {
    const exchange = exchanges[turn++ % exchanges.length]
    if (exchange === undefined) throw new Error('there is no instance to answer')
    return exchange(request, call)
  }
}
