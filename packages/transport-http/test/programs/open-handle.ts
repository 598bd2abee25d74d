import type { ServerExtension } from '@x/exchange'
import { createServer } from '@x/server'
import { serveHttp } from '@x/transport-http/node'

/** Holds a timer, as a pool holds a socket: only `close()` lets the process end. */
const engine: ServerExtension<'engine', undefined> = {
  extends: 'server',
  name: 'engine',
  identifier: 'com.example/engine',
  start: () => {
    const timer = setInterval(() => {}, 1_000_000)
    return {
      close: async () => {
        clearInterval(timer)
        process.stdout.write('closed\n')
      },
    }
  },
}

const server = createServer({ name: 'demo', version: '1.0.0', extensions: [engine] })
const { url } = await serveHttp(server, { stopOnSignals: true })
process.stdout.write(`${url}\n`)
