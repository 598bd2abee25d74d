import { legacy } from '@x/legacy'
import { createServer, sealedState } from '@x/server'
import { postgresBus } from '@x/server/postgres'
import { redisBus } from '@x/server/redis'
import { createStateTable, postgresStore } from '@x/state-codec/postgres'
import { redisStore } from '@x/state-codec/redis'
import { tasks } from '@x/tasks/server'
import { postgresEngine } from '@x/tasks/postgres'
import { redisEngine } from '@x/tasks/redis'
import { serveHttp } from '@x/transport-http/node'

// Everything that opens connections by itself, at one database, and the program closes none of it.
const [address = ''] = process.argv.slice(2)

async function openParts() {
  if (address.startsWith('unix:'))
    return { store: redisStore(address), bus: redisBus(address), engine: redisEngine(address) }
  await createStateTable(address)
  return { store: postgresStore(address), bus: postgresBus(address), engine: postgresEngine(address) }
}

async function start(): Promise<void> {
  const { store, bus, engine } = await openParts()
  const server = createServer({
    name: 'unclosed',
    version: '1.0.0',
    state: sealedState({ keys: ['6d1f3c0a9be84725d0a1c7f2385e6b94fa07d3c85b1e624979c2ad10e8f3465b'] }),
    subscriptions: { bus },
    extensions: [legacy({ store }), tasks({ store: engine })],
  })
  const { url } = await serveHttp(server, { stopOnSignals: true })
  await server.ready()
  await store.add('key', 'value', 60_000)
  await bus.publish({ topic: 'tools' })
  process.stdout.write(`${url}\n`)
}

void start()
